#!/usr/bin/env python3
"""Skip-gram with negative sampling in plain PyTorch, by default with the settings of configs/word2vec_ko.yaml: pairs drawn at
random, uniform negatives, dense Adam over both tables. Prints one line of JSON, as bench_step does.

    bench/words_torch.py [IDS.npy] --vocabulary 10000 [--threads 1] [--steps 200] [--warmup 20] [--batch 1024] [--negatives 8]
                         [--device cuda --mode eager|compile|graph]

IDS.npy: the corpus as int32 ids in order; without it, 400,000 random ones.
"""
import argparse
import json

import numpy
import torch
import torch.nn.functional as functional

import torch_modes


def peak_mib():
    """Of this process itself: getrusage would count what its parent had before it was started."""
    line = next(line for line in open("/proc/self/status", encoding="utf-8") if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="?")
    parser.add_argument("--vocabulary", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--batch", type=int, default=1024, help="pairs a step")
    parser.add_argument("--negatives", type=int, default=8, help="to each pair")
    torch_modes.add_arguments(parser)
    options = parser.parse_args()
    device = torch_modes.set_up(options)
    torch.manual_seed(42)
    batch, window, count = options.batch, 5, options.negatives
    if options.ids:
        ids = torch.from_numpy(numpy.load(options.ids).astype(numpy.int64)).to(device)
    else:
        ids = torch.randint(0, options.vocabulary, (400_000,), device=device)
    given = torch.nn.Embedding(options.vocabulary, options.width).to(device)
    asked = torch.nn.Embedding(options.vocabulary, options.width).to(device)
    optimizer = torch.optim.Adam([given.weight, asked.weight], lr=2e-3, **torch_modes.optimizer_options(options))

    def loss_of(centers, contexts, negatives):
        vectors = given(centers)
        right = (vectors * asked(contexts)).sum(-1)
        wrong = torch.bmm(asked(negatives), vectors.unsqueeze(-1)).squeeze(-1)
        return -functional.logsigmoid(right).mean() - functional.logsigmoid(-wrong).mean()

    loss_of = torch_modes.compiled(loss_of, options)

    def step():
        places = torch.randint(window, len(ids) - window, (batch,), device=device)
        reach = torch.randint(1, window + 1, (batch,), device=device)
        offsets = reach * (2 * torch.randint(0, 2, (batch,), device=device) - 1)
        negatives = torch.randint(0, options.vocabulary, (batch, count), device=device)
        loss = loss_of(ids[places], ids[places + offsets], negatives)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    seconds, loss = torch_modes.measure(step, options)
    print(json.dumps({"program": f"PyTorch {torch.__version__}", "device": options.device, "mode": options.mode,
                      "threads": options.threads, "steps": options.steps,
                      "steps_per_second": options.steps / seconds,
                      "peak_rss_mib": peak_mib(),
                      "peak_card_mib": torch_modes.peak_card_mib(options),
                      "loss": loss}))


if __name__ == "__main__":
    main()
