#!/usr/bin/env python3
"""Skip-gram with negative sampling in plain PyTorch, with the settings of configs/word2vec_ko.yaml: pairs drawn at random,
uniform negatives, dense Adam over both tables. Prints one line of JSON, as bench_step does.

    bench/words_torch.py IDS.npy --vocabulary 10000 [--threads 1] [--steps 200] [--warmup 20]

IDS.npy: the corpus as int32 ids in order.
"""
import argparse
import json
import time

import numpy
import torch
import torch.nn.functional as functional


def peak_mib():
    """Of this process itself: getrusage would count what its parent had before it was started."""
    line = next(line for line in open("/proc/self/status", encoding="utf-8") if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids")
    parser.add_argument("--vocabulary", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--width", type=int, default=100)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(42)
    batch, window, count = 1024, 5, 8
    ids = torch.from_numpy(numpy.load(options.ids).astype(numpy.int64))
    given = torch.nn.Embedding(options.vocabulary, options.width)
    asked = torch.nn.Embedding(options.vocabulary, options.width)
    optimizer = torch.optim.Adam([given.weight, asked.weight], lr=2e-3)

    def step():
        places = torch.randint(window, len(ids) - window, (batch,))
        offsets = torch.randint(1, window + 1, (batch,)) * (2 * torch.randint(0, 2, (batch,)) - 1)
        negatives = torch.randint(0, options.vocabulary, (batch, count))
        vectors = given(ids[places])
        right = (vectors * asked(ids[places + offsets])).sum(-1)
        wrong = torch.bmm(asked(negatives), vectors.unsqueeze(-1)).squeeze(-1)
        loss = -functional.logsigmoid(right).mean() - functional.logsigmoid(-wrong).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(options.warmup):
        step()
    begin = time.perf_counter()
    for _ in range(options.steps):
        loss = step()
    seconds = time.perf_counter() - begin
    print(json.dumps({"program": f"PyTorch {torch.__version__}", "threads": options.threads, "steps": options.steps,
                      "steps_per_second": options.steps / seconds,
                      "peak_rss_mib": peak_mib(),
                      "loss": float(loss)}))


if __name__ == "__main__":
    main()
