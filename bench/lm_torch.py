#!/usr/bin/env python3
"""The reference language model in PyTorch, for bench/lm.py: the usual small GPT (one product for query, key and value, one
for all heads' scores, a fused cross entropy, AdamW over few large tensors) in the form that is fastest on the CPU, and on a card with PyTorch's own fused attention.

    bench/lm_torch.py [--threads N] [--steps N] [--warmup N] [--batch 32] [--bf16] [--ids FILE.npy --train]
                      [--device cuda --mode eager|compile|graph --tf32]

Prints one line of JSON. With --train it trains on the ids (the last 5 % held out) as configs/reference_lm_ko.yaml does,
and tells the losses.
"""
import argparse
import json
import math
import resource
import time

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--warmup", type=int, default=3)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--vocabulary", type=int, default=2585)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--blocks", type=int, default=4)
parser.add_argument("--heads", type=int, default=4)
parser.add_argument("--bf16", action="store_true", help="autocast to bfloat16")
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--ids", help="token ids, .npy")
parser.add_argument("--train", action="store_true")
parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
parser.add_argument("--mode", choices=["eager", "compile", "graph"], default="eager", help="torch_modes.py says what they are")
parser.add_argument("--tf32", action="store_true", help="large products in tf32, on a card")
options = parser.parse_args()

import numpy  # noqa: E402  (after the arguments, so that --help needs nothing)
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import torch_modes  # noqa: E402

device = torch_modes.set_up(options)
fused_attention = options.device == "cuda" and hasattr(F, "scaled_dot_product_attention")
torch.manual_seed(options.seed)


class Block(nn.Module):
    def __init__(self, width, heads, blocks, length):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        for linear in (self.attention, self.output, self.inner, self.outer):
            nn.init.normal_(linear.weight, std=0.02)
            nn.init.zeros_(linear.bias)
        for linear in (self.output, self.outer):
            nn.init.normal_(linear.weight, std=0.02 / math.sqrt(2 * blocks))
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in self.attention(self.attention_norm(x)).split(width, 2))
        if fused_attention:
            seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            scores = query @ key.transpose(2, 3) * (1 / math.sqrt(width // self.heads)) + self.mask
            seen = F.softmax(scores, -1) @ value
        x = x + self.output(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.outer(F.gelu(self.inner(self.mlp_norm(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(options.vocabulary, options.width)
        self.position = nn.Parameter(torch.empty(options.length, options.width))
        nn.init.normal_(self.token.weight, std=0.02)
        nn.init.normal_(self.position, std=0.02)
        self.blocks = nn.Sequential(*(Block(options.width, options.heads, options.blocks, options.length)
                                      for _ in range(options.blocks)))
        self.norm = nn.LayerNorm(options.width)

    def forward(self, tokens):
        x = self.token(tokens) + self.position[:tokens.shape[1]]
        return F.linear(self.norm(self.blocks(x)), self.token.weight)


model = Gpt().to(device)
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0}], lr=1e-3,
                              betas=(0.9, 0.99), **torch_modes.optimizer_options(options))
if options.ids:
    ids = torch.from_numpy(numpy.load(options.ids).astype(numpy.int64))
else:
    ids = torch.randint(0, options.vocabulary, (100_000,))
ids = ids.to(device)
held_out = ids[len(ids) - int(0.05 * len(ids)):] if options.train else ids
ids = ids[:len(ids) - int(0.05 * len(ids))] if options.train else ids


def loss_of(tokens, targets):
    with torch.autocast(options.device, dtype=torch.bfloat16, enabled=options.bf16):
        logits = model(tokens)
    return F.cross_entropy(logits.float().view(-1, options.vocabulary), targets.reshape(-1))


train_loss_of = torch_modes.compiled(loss_of, options)


def step():
    begins = torch.randint(0, len(ids) - options.length - 1, (options.batch,), device=device)
    windows = ids[begins[:, None] + torch.arange(options.length + 1, device=device)]
    loss = train_loss_of(windows[:, :-1], windows[:, 1:])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def evaluate():
    count = (len(held_out) - 1) // options.length
    windows = torch.stack([held_out[i * options.length:(i + 1) * options.length + 1] for i in range(count)])
    total = 0.0
    with torch.no_grad():
        for part in windows.split(32):
            total += loss_of(part[:, :-1], part[:, 1:]).item() * len(part)
    return total / count


result = {"program": f"PyTorch {torch.__version__}", "threads": options.threads, "bf16": options.bf16,
          "device": options.device, "mode": options.mode, "parameters": sum(p.numel() for p in model.parameters())}
if options.train:
    total, warm_up = options.steps, 100
    losses, begin = [], time.perf_counter()
    for i in range(total):
        factor = min(1, (i + 1) / warm_up) if i < warm_up else 0.5 * (1 + math.cos(math.pi * (i - warm_up) / (total - warm_up)))
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * factor
        losses.append(step().item())
        if (i + 1) % 500 == 0 or i + 1 == total:
            result.setdefault("held_out_loss", {})[i + 1] = evaluate()
    result["seconds"] = time.perf_counter() - begin
    result["train_loss"] = {i + 1: losses[i] for i in range(49, total, 50)}
else:
    seconds, loss = torch_modes.measure(step, options)
    result |= {"steps": options.steps, "steps_per_second": options.steps / seconds,
               "tokens_per_second": options.steps * options.batch * options.length / seconds, "loss": loss}
result["peak_card_mib"] = torch_modes.peak_card_mib(options)
result["peak_rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(result))
