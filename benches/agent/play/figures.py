"""The tables: what each job cost, and the figures that have a goal."""

import statistics
import subprocess
from pathlib import Path

from .conversation import texts_of
from .job import commit, venv, write
from .tokens import Tokens, compact

# The jobs of the first table of this comparison.
FOUR = ("python_test", "rename", "dev_server", "variable")
LINE = "    total += price(line.name, line.count)  # what a thing costs, number {:03}\n"


def table(jobs: list, costs: dict, servers: dict) -> str:
    """Returns the table of jobs: calls and tokens, and ours against the best of the others."""
    keys = list(servers)
    head = [servers[key].name for key in keys] + ["calls", "tokens", "tokens with tool texts"]
    lines = ["| job (calls / tokens) | " + " | ".join(head) + " |", "| --- " * (len(head) + 1) + "|"]
    for job in jobs:
        cells = []
        for key in keys:
            cost = costs.get((job.name, key))
            vain = f" ({cost.vain} in vain)" if cost and cost.vain else ""
            cells.append(f"{cost.calls} / {cost.tokens:,}{vain}" if cost else "–")
        lines.append(f"| {job.name} | " + " | ".join(cells + [f"{one:.2f}×" for one in ratios(job.name, costs)]) + " |")
    return "\n".join(lines)


def ratios(name: str, costs: dict) -> list:
    """Compares a job with the best of the others: calls, tokens, tokens with the texts of the tools."""
    ours = costs.get((name, "bailiwick"))
    others = [cost for (job, key), cost in costs.items() if job == name and key != "bailiwick" and cost]
    if not ours or not others:
        return []
    return [
        ours.calls / min(cost.calls for cost in others),
        ours.tokens / min(cost.tokens for cost in others),
        (ours.tokens + ours.texts) / min(cost.tokens + cost.texts for cost in others),
    ]


def figures(server, costs: dict, folder: Path, tokens: Tokens) -> bool:
    """Measures and prints the figures; returns whether all goals are met."""
    rows = []
    four = [costs.get((name, "bailiwick")) for name in FOUR]
    project = folder / "figures" / "shop"
    opened = server.open(made(project))
    try:
        texts = texts_of(opened, tokens)
        listed = tokens.count(compact(opened.listed[0]))
        discovery, _ = opened.call("get_computer_info", {"include": ["operations"]})
        if all(four):
            calls = sum(cost.calls + cost.discovery_calls for cost in four)
            rows.append(("the four jobs, calls (discovery included)", calls, "", 12))
            spent = sum(cost.tokens + cost.discovery_tokens for cost in four) + texts
            rows.append(("the four jobs, tokens with all tool texts", spent, "", 3500))
        all_ratios = [one for name in {job for job, _ in costs} if (one := ratios(name, costs))]
        if all_ratios:
            # Arguments and answers alone are printed, but have no goal: the texts of the tools are what a client pays, too.
            for at, (what, goal) in enumerate((("calls", 0.8), ("tokens", None), ("tokens with tool texts", 0.8))):
                median = statistics.median(one[at] for one in all_ratios)
                rows.append((f"all {len(all_ratios)} jobs: {what} against the best other, median", median, "×", goal))
        rows += [
            ("file.read of 4 KB against the file", *against(opened, tokens, "file.read", project / "four.py"), 1.03),
            ("file.list of 100 names", answer(opened, tokens, {"op": "file.list", "target": "hundred"}), "", 650),
            ("file.search with 20 hits against `grep -rn`", *searched(opened, tokens, project), 1.15),
            ("a failing pytest against what it prints", *tested(opened, tokens, project), 1.15),
            ("discovery: instructions, all operations and limits", tokens.count(opened.instructions) + tokens.count(discovery), "", 1200),
            ("tools/list, whole", listed, "", 650),
        ]
    finally:
        opened.close()
    print("\n| figure | measured | goal | met |\n| --- | --- | --- | --- |")
    for what, value, unit, goal in rows:
        shown = f"{value:.2f}{unit}" if unit else f"{value:,}"
        end = f"≤ {goal:,}{unit} | {'yes' if value <= goal else 'NO'}" if goal else "– | –"
        print(f"| {what} | {shown} | {end} |")
    return all(value <= goal for _, value, _, goal in rows if goal)


def made(project: Path) -> Path:
    """Makes the project of the figures."""
    project.mkdir(parents=True)
    lines = "".join(LINE.format(number) for number in range(80))
    write(project, {"four.py": lines[:4095] + "\n", "test_four.py": "def test_total():\n    total = 3 * 5\n    assert total == 16\n"})
    write(project, {f"hundred/entry-{number:03}.txt": "x\n" for number in range(100)})
    write(project, {f"src/part_{number}.py": f"import os\n\n\ndef read_{number}():\n    return os.environ['SHOP_{number}']\n" for number in range(20)})
    commit(project)
    venv(project)
    return project


def answer(opened, tokens: Tokens, arguments: dict, tool: str = "computer_query") -> int:
    """Counts the tokens of an answer that has to be a success."""
    text, is_error = opened.call(tool, arguments)
    if is_error:
        raise RuntimeError(f"{arguments}: {text}")
    return tokens.count(text)


def against(opened, tokens: Tokens, op: str, path: Path) -> tuple:
    """Compares an answer with a file's content."""
    return answer(opened, tokens, {"op": op, "target": path.name}) / tokens.count(path.read_text()), "×"


def searched(opened, tokens: Tokens, project: Path) -> tuple:
    """Compares a search with what grep prints."""
    printed = subprocess.run(["grep", "-rn", "os.environ", "src"], cwd=project, capture_output=True, text=True, check=True).stdout
    return answer(opened, tokens, {"op": "file.search", "target": "src", "input": {"query": "os.environ"}}) / tokens.count(printed), "×"


def tested(opened, tokens: Tokens, project: Path) -> tuple:
    """Compares a test run with what it prints at a terminal."""
    command = ".venv/bin/python -m pytest"
    printed = subprocess.run(command.split(), cwd=project, capture_output=True, text=True).stdout
    run = {"op": "command.run", "input": {"command": command}}
    return answer(opened, tokens, run, "computer_operation") / tokens.count(printed), "×"
