"""The tables of bench/gpu.py, from its JSON.

floor    = max(FLOP / rate of products, bytes / rate of a copy) + kernels x gap in a graph, all rates as measured on the card
own      FLOP of this graph's products; bytes: each result of an op written once and read once, state read and written once;
         kernels as planned. What is left to gain in the kernels alone. (Of word2vec FLOP and bytes are those of LEAST: its
         products are inside of one op, and it touches rows of the state alone.)
least    LEAST: the model as it is written, in as few passes over memory and kernels as are known to do
"""
import statistics

# FLOP, bytes, kernels of a step of one trial, by the first part of a workload's name. Counted by hand: the probe with one
# kernel each for embedding, projections, attention, loss, and their gradients, activations in f32; word2vec as one kernel that
# reads and writes rows without reuse; the language model with 60 kernels, activations in f32.
LEAST = {"probe": (2.17e9, 95e6, 6), "words": (0.015e9, 23e6, 1), "lm": (32e9, 983e6, 60)}
PRODUCTS = "4096x1"  # of bench_card: its rate of large products


def is_there(runs):
    return bool(runs) and "left_out" not in runs[-1]


def rates(runs, trials=1):
    return [trials * run["steps_per_second"] for run in runs]


def number(value):
    """Three digits that count."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def spread(values):
    middle = statistics.median(values)
    return number(middle) if len(values) == 1 else f"{number(middle)} ({number(min(values))} to {number(max(values))})"


def ratios(upper, lower):
    return spread([a / b for a, b in zip(upper, lower)])


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def own_cost(workload, run):
    if workload == "words":  # its products are inside of one op, and it touches rows of the state alone
        return *LEAST["words"][:2], run["kernels"]
    return run["product_flops"], 2 * run["value_bytes"] + 2 * run["state_bytes"], run["kernels"]


def floor_seconds(cost, trials, precision, ceilings):
    flops, moved, kernels = cost
    work = max(trials * flops / ceilings["product_flops_per_second"][precision][PRODUCTS],
               trials * moved / ceilings["copy_bytes_per_second"])
    return work + kernels * ceilings["gap_in_graph"]


def ceilings_text(ceilings):
    if "left_out" in ceilings:
        return f"Ceilings: left out ({ceilings['left_out']}), so no floors are given.\n"
    rows = [["from kernel to kernel, stream", f"{ceilings['gap_in_stream'] * 1e6:.2f} us"],
            ["from kernel to kernel, graph", f"{ceilings['gap_in_graph'] * 1e6:.2f} us"],
            ["copy within the card, bytes read and written", f"{ceilings['copy_bytes_per_second'] / 1e12:.2f} TB/s"]]
    for precision, by_shape in ceilings["product_flops_per_second"].items():
        shown = ", ".join(f"{shape} {rate / 1e12:.3g}" for shape, rate in by_shape.items())
        rows.append([f"products, {precision}, TFLOP/s (size x number)", shown])
    return f"Ceilings of {ceilings['card']}:\n\n" + table(["what", "measured"], rows)


def achieved(workload, run, trials, precision, ceilings):
    """Cells: TFLOP/s, TB/s, times the own floor, times the least."""
    seconds = 1 / run["steps_per_second"]
    own = own_cost(workload, run)
    cells = [number(trials * own[0] / seconds / 1e12), number(trials * own[1] / seconds / 1e12)]
    if "left_out" in ceilings:
        return cells + ["", ""]
    least = LEAST[workload.split("_")[0]]
    return cells + [number(seconds / floor_seconds(cost, trials, precision, ceilings)) for cost in (own, least)]


ACHIEVED = ["TFLOP/s", "TB/s", "times own floor", "times least floor"]


def median_run(runs):
    middle = statistics.median(run["steps_per_second"] for run in runs)
    return min(runs, key=lambda run: abs(run["steps_per_second"] - middle)) | {"steps_per_second": middle}


def against(jari, runs):
    return ratios(jari, rates(runs)) if is_there(runs) else f"left out: {runs[-1]['left_out'] if runs else 'not run'}"


def steps_table(steps, ceilings):
    rows = []
    for each in steps:
        results = each["results"]
        if not is_there(results["jari"]):
            rows.append([each["title"], each["precision"], f"left out: {results['jari'][-1]['left_out']}"] + [""] * 8)
            continue
        jari = rates(results["jari"])
        run = median_run(results["jari"])
        rows.append([each["title"], each["precision"], f"{1e6 / run['steps_per_second']:,.0f}", run["kernels"]] +
                    [against(jari, results[mode]) for mode in ("eager", "compile", "graph")] +
                    achieved(each["workload"], run, 1, each["precision"], ceilings))
    head = ["one trial", "precision", "us a step", "kernels", "times PyTorch eager", "times torch.compile", "times CUDA graph"]
    return table(head + ACHIEVED, rows)


def fused_table(each, ceilings):
    results, rows = each["results"], []
    for trials in each["trials"]:
        runs = results[str(trials)]
        if not is_there(runs):
            rows.append([trials, f"left out: {runs[-1]['left_out']}"] + [""] * 6)
            continue
        jari = rates(runs, trials)
        rows.append([trials, spread(jari), against(jari, results["eager"]), against(jari, results["graph"])] +
                    achieved(each["workload"], median_run(runs), trials, each["precision"], ceilings))
    head = ["trials", "trials x steps/s", "times PyTorch eager, one after another", "times CUDA graph, one after another"]
    return f"{each['title']}, {each['precision']}:\n\n" + table(head + ACHIEVED, rows)


def bits_table(bits):
    rows = []
    for each in bits:
        if "left_out" in each:
            rows.append([each["workload"], f"left out: {each['left_out']}", ""])
            continue
        different = [trial for trial, equal in each["equal"].items() if not equal]
        equal = "yes" if not different else f"NO: trial {', '.join(different)} of {each['trials']}"
        rows.append([each["workload"], equal, "yes" if each["repeats"] else "NO"])
    return table(["trials of a group, after some steps", "equal the trials alone, to the bit", "two runs are equal"], rows)


def tables(result):
    parts = [f"jari on device {result['device']}; peer: {result['torch']}.\n", ceilings_text(result["ceilings"])]
    if result["steps"]:
        parts.append(steps_table(result["steps"], result["ceilings"]))
    parts += [fused_table(each, result["ceilings"]) for each in result["fused"]]
    if result["bits"]:
        parts.append(bits_table(result["bits"]))
    parts.append("Floors: max(FLOP / products' rate, bytes / copy's rate) + kernels x gap in a graph. Own: of the graph that ran,\n"
                 "each result written and read once. Least: counted by hand for the model as written (bench/gpu_tables.py);\n"
                 "a graph that jari has rewritten may be below it.\n")
    return "\n".join(parts)


def failures(result):
    """What of jari went wrong: programs that failed, bits that differ."""
    found = [f"{each['workload']}: {name}" for each in result["steps"] + result["fused"]
             for name, runs in each["results"].items() if (name == "jari" or name.isdigit()) and not is_there(runs)]
    for each in result["bits"]:
        if "left_out" in each or not all(each["equal"].values()) or not each["repeats"]:
            found.append(f"{each['workload']}: bits")
    return found


def made_up():
    """Round numbers that no machine gave, for the self-test."""
    def runs(*speeds):
        return [{"steps_per_second": speed, "kernels": 20, "product_flops": 1e9, "value_bytes": 40e6, "state_bytes": 10e6}
                for speed in speeds]

    left_out = [{"left_out": "PyTorch 1.13 has no torch.compile"}]
    ceilings = {"card": "made up", "gap_in_stream": 4e-6, "gap_in_graph": 1e-6, "copy_bytes_per_second": 1e12,
                "product_flops_per_second": {"f32": {PRODUCTS: 1e13}}}
    one = {"workload": "probe_rel", "title": "probe", "precision": "f32"}
    return {"device": "cuda", "torch": "PyTorch 2", "ceilings": ceilings,
            "steps": [one | {"results": {"jari": runs(1000, 3000, 2000), "eager": runs(500, 1000, 400), "compile": left_out,
                                         "graph": runs(1000, 1000, 1000)}}],
            "fused": [one | {"trials": [1, 4], "results": {"1": runs(2000), "4": runs(1000), "eager": runs(500), "graph": runs(800)}}],
            "bits": [{"workload": "probe_rel", "trials": 4, "equal": {"0": True, "3": False}, "repeats": True}]}


def self_test():
    result = made_up()
    text = tables(result)
    # Floor of one trial: max(1e9 / 1e13, (2 x 40e6 + 2 x 10e6) / 1e12) + 20 us = 120 us of 500; least: 217 us + 6 us.
    expected = [
        "| from kernel to kernel, graph | 1.00 us |",
        "| probe | f32 | 500 | 20 | 3 (2 to 5) | left out: PyTorch 1.13 has no torch.compile | 2 (1 to 3) | 2 | 0.2 | 4.17 | 2.24 |",
        "| 1 | 2,000 | 4 | 2.5 | 2 | 0.2 | 4.17 | 2.24 |",
        "| 4 | 4,000 | 8 | 5 | 4 | 0.4 | 2.38 | 1.14 |",
        "| probe_rel | NO: trial 3 of 4 | yes |",
    ]
    missing = [line for line in expected if line not in text.splitlines()]
    if failures(result) != ["probe_rel: bits"]:
        missing.append(f"failures: {failures(result)}")
    broken = made_up() | {"ceilings": {"left_out": "of a card alone"}, "bits": []}
    broken["steps"][0]["results"]["jari"] = [{"left_out": "failed: no memory"}]
    if failures(broken) != ["probe_rel: jari"] or "left out: failed: no memory" not in tables(broken):
        missing.append("a failed jari")
    if missing:
        print(text + "\nself-test: not found: " + "\n  ".join(missing))
        return 1
    print("self-test: passed")
    return 0
