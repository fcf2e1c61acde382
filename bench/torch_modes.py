"""How the PyTorch peers run a step: on which device, and how much of Python's and the launches' cost is taken out.

eager    as it is written
compile  forward and loss through torch.compile
graph    the whole step (forward, backward, optimizer) recorded as one CUDA graph and replayed
"""
import sys
import time

import torch

MODES = ("eager", "compile", "graph")
MISSING = "left out: "  # begins the last line on stderr where a mode can not be had; bench/gpu.py looks for it


def add_arguments(parser):
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--mode", choices=MODES, default="eager")
    parser.add_argument("--tf32", action="store_true", help="large products in tf32, on a card")


def leave_out(reason):
    sys.exit(MISSING + reason)


def set_up(options):
    """Threads, device and products; ends the program where the device or the mode is not there."""
    torch.set_num_threads(options.threads)
    if options.device == "cuda":
        if not torch.cuda.is_available():
            leave_out(f"PyTorch {torch.__version__} finds no card")
        torch.backends.cuda.matmul.allow_tf32 = options.tf32
        torch.backends.cudnn.allow_tf32 = options.tf32
    elif options.mode == "graph":
        leave_out("a CUDA graph needs a card")
    if options.mode == "compile" and not hasattr(torch, "compile"):
        leave_out(f"PyTorch {torch.__version__} has no torch.compile")
    return torch.device(options.device)


def optimizer_options(options):
    """On a card the optimizers that are one kernel; a recorded step needs its count of steps there too."""
    return {"fused": True, "capturable": options.mode == "graph"} if options.device == "cuda" else {}


def compiled(function, options):
    return torch.compile(function) if options.mode == "compile" else function


def wait(options):
    if options.device == "cuda":
        torch.cuda.synchronize()


def recorded(step):
    """As CUDA's own advice is: a few steps on another stream, then the recording; the tensors stay where they are."""
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(other)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def measure(step, options):
    """(seconds, last loss) of `options.steps` steps, after `options.warmup` that are not timed. Nothing waits between."""
    if options.mode == "graph":
        step = recorded(step)
    for _ in range(options.warmup):
        loss = step()
    wait(options)
    begin = time.perf_counter()
    for _ in range(options.steps):
        loss = step()
    wait(options)
    return time.perf_counter() - begin, float(loss)


def peak_card_mib(options):
    return torch.cuda.max_memory_allocated() / 2**20 if options.device == "cuda" else 0
