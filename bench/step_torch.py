#!/usr/bin/env python3
"""Steps per second and peak memory of PyTorch on the probe: the peer of bench_step, with the same options and output.

The model is configs/base/probe.yaml's: one attention layer without a mask between an embedding and a linear map, f32,
trained with Adam to name each token's right neighbor (batch 256, length 20, width 128, 50 tokens).
"""
import argparse
import json
import resource
import sys

try:
    import torch
    import torch.nn.functional as F
    from torch import nn

    import torch_modes
except ImportError:
    sys.exit("step_torch.py: PyTorch is not installed (Debian: apt-get install python3-torch libopenblas0-openmp)")

VOCABULARY, WIDTH, BATCH, LENGTH, MAX_LENGTH = 50, 128, 256, 20, 40


def sinusoids(length, width):
    """Vaswani et al. 2017, section 3.5: [length, width]."""
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


class Probe(nn.Module):
    def __init__(self, position):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = position
        if position == "learned":
            self.table = nn.Parameter(torch.randn(MAX_LENGTH, WIDTH) * 0.02)
        elif position == "sin":
            self.register_buffer("table", sinusoids(MAX_LENGTH, WIDTH))
        else:
            self.bias = nn.Parameter(torch.zeros(2 * MAX_LENGTH - 1))
        self.query, self.key, self.value = (nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH**0.5) for _ in range(3))
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):  # [batch, length] -> [batch, length, vocabulary]
        length = tokens.size(1)
        x = self.token(tokens)
        if self.position != "rel":
            x = x + self.table[:length]
        query, key, value = x @ self.query, x @ self.key, x @ self.value
        scores = query @ key.transpose(-2, -1) / WIDTH**0.5
        if self.position == "rel":
            at = torch.arange(length, device=tokens.device)
            scores = scores + self.bias[at[None, :] - at[:, None] + MAX_LENGTH - 1]
        return self.out(torch.softmax(scores, -1) @ value)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--position", choices=["learned", "sin", "rel"], default="learned")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=20)
    torch_modes.add_arguments(parser)
    options = parser.parse_args()

    device = torch_modes.set_up(options)
    torch.manual_seed(42)
    model = Probe(options.position).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **torch_modes.optimizer_options(options))

    def loss_of(tokens):
        logits = model(tokens)[:, :-1]
        return F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))

    loss_of = torch_modes.compiled(loss_of, options)

    def step():
        tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device=device)
        loss = loss_of(tokens)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    seconds, loss = torch_modes.measure(step, options)
    print(
        json.dumps(
            {
                "program": f"torch {torch.__version__}",
                "position": options.position,
                "device": options.device,
                "mode": options.mode,
                "threads": options.threads,
                "steps": options.steps,
                "steps_per_second": options.steps / seconds,
                "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "peak_card_mib": torch_modes.peak_card_mib(options),
                "loss": loss,
            }
        )
    )


if __name__ == "__main__":
    main()
