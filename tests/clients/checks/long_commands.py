"""A command that takes longer than clients wait: each is answered in time with a process, and waits for its end.

In the gate for the frameworks, of which openai-agents gives up after 5 seconds; with a command of 90 seconds, longer than any
program of the group `agents` waits, at night. No client is configured.
"""

import re

from harness.models import LAST_WORDS, Models
from harness.report import Report

# openai-agents waits for 5 seconds; a few calls are enough to be through.
IN_THE_GATE = 9
AT_NIGHT = 90
# A client that waits for 4 seconds at a time needs 23 calls for 90 seconds.
MOST_CALLS = 40
CAPABILITIES = ("command:run", "process:manage")
STILL_RUNNING = re.compile(r"still running as process (\w+)")


def models(server: str, seconds: int) -> Models:
    """Returns models that run a command and wait until it has ended."""
    run = {"op": "command.run", "input": {"command": f"sleep {seconds}"}, "options": {"timeoutSeconds": 600}}

    def follow(results: list) -> tuple | None:
        process = STILL_RUNNING.search(text(results[0]))
        if not process or "exit 0" in text(results[-1]) or len(results) > MOST_CALLS:
            return None
        return "computer_query", {"op": "process.wait", "target": process[1], "options": {"timeoutSeconds": 300}}

    return Models(server, ("computer_operation", run), follow=follow)


def text(result: list) -> str:
    """Returns the text of what a model was shown of one call."""
    return "\n".join(part[1] for part in result if part[0] == "text")


def judge(report: Report, name: str, said: dict, answered: Models) -> None:
    """Judges one conversation: no answer came too late, and the last has the command's end.

    A client that waits for longer than the command takes gets it in one call.
    """
    results = [text(result) for result in answered.results()]
    done = said.get("said") is not None and LAST_WORDS in said["said"] and results
    in_time = done and "exit 0" in results[-1] and all(STILL_RUNNING.search(one) or "not yet" in one for one in results[:-1])
    report.check(f"{name}: a long command is answered in time, and its end is waited for", in_time, f"{said}\n{results}")
