"""Plays one plan: makes the calls, checks what plan and answers say of each other, counts, and writes the transcript."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from .job import ROOT, Call, Job
from .servers import Server
from .tokens import Tokens, compact

# What any model may guess to be in a project.
KNOWN_NAMES = {"README.md", "package.json", "Cargo.toml", "pyproject.toml", "Makefile", "CHANGELOG.md", ".gitignore", ".venv"}


class PlanError(Exception):
    """A plan and the answers do not agree: the plan has to be written again."""


@dataclass
class Cost:
    """What a job cost on one server."""

    calls: int = 0
    vain: int = 0
    tokens: int = 0
    discovery_calls: int = 0
    discovery_tokens: int = 0
    texts: int = 0
    transcript: list = field(default_factory=list)


def texts_of(server: Server, tokens: Tokens) -> int:
    """Counts the instructions, and the tools as a model gets them: name, description, schema."""
    shown = [{key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in server.tools]
    return tokens.count(server.instructions) + sum(tokens.count(compact(tool)) for tool in shown)


def play(job: Job, plan: list, server: Server, folder: Path, tokens: Tokens) -> Cost:
    """Makes the calls of a plan."""
    cost = Cost(texts=texts_of(server, tokens))
    names = {path.name for path in folder.rglob("*") if path.is_file() and not {".git", ".venv"} & set(path.parts)}
    seen = f"{job.task}\n{server.instructions}\n" + compact(server.tools)
    kept: dict = {}
    answer, number = "", 0
    for call in plan:
        if call.unless and call.unless in answer:
            continue
        number += 1
        where = f"{job.name}, call {number} ({call.tool})"
        arguments = filled(call.arguments, kept)
        written = compact(arguments)
        check_honesty(where, arguments, written, seen, names)
        answer, is_error = server.call(call.tool, json.loads(written.replace(ROOT, str(folder))))
        answer = answer.replace(str(folder), ROOT)
        spent = tokens.count(written) + tokens.count(answer)
        cost.transcript.append(entry(number, call, arguments, answer, spent))
        if is_error != call.fails and call.tool != "run_command":
            raise PlanError(f"{where}: {'an error' if is_error else 'no error'}\n{answer}")
        for text in call.shows:
            if text not in answer:
                raise PlanError(f"{where}: the answer lacks {text!r}\n{answer}")
        for name, pattern in call.keep.items():
            found = re.search(pattern, answer)
            if not found:
                raise PlanError(f"{where}: nothing in the answer matches {pattern}\n{answer}")
            kept[name] = found[1]
        seen += f"\n{strings(arguments)}\n{answer}"
        if call.discovery:
            cost.discovery_calls += 1
            cost.discovery_tokens += spent
        else:
            cost.calls += 1
            cost.tokens += spent
        cost.vain += call.fails
    problem = job.check(folder)
    if problem:
        raise PlanError(f"{job.name}: the end state is wrong: {problem}")
    return cost


def filled(value, kept: dict):
    """Puts kept values in the place of their names."""
    if isinstance(value, str):
        for name, text in kept.items():
            # A number that stands alone is a number.
            if value == f"<{name}>" and text.isdigit():
                return int(text)
            value = value.replace(f"<{name}>", text)
        return value
    if isinstance(value, list):
        return [filled(one, kept) for one in value]
    if isinstance(value, dict):
        return {key: filled(one, kept) for key, one in value.items()}
    return value


def strings(value) -> str:
    """Returns all texts of arguments."""
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(strings(one) for one in parts)


def old_texts(value):
    """Yields the texts that an edit says are there."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key in ("old", "oldText", "old_string") and isinstance(one, str):
                yield one
            yield from old_texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from old_texts(one)


def check_honesty(where: str, arguments: dict, written: str, seen: str, names: set) -> None:
    """A model quotes only lines that it has read, and names only files that it has heard of."""
    for old in old_texts(arguments):
        for line in old.splitlines():
            if line.strip() and line.strip() not in seen:
                raise PlanError(f"{where}: replaces {line.strip()!r}, which no answer showed")
    for name in names - KNOWN_NAMES:
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", written) and name not in seen:
            raise PlanError(f"{where}: names {name}, which no answer showed")


def entry(number: int, call: Call, arguments: dict, answer: str, spent: int) -> str:
    """Writes one call for the transcript."""
    return (
        f"## {number}. {call.why}\n\n{call.tool} · {spent} tokens\n\n```json\n{compact(arguments)}\n```\n\n"
        f"```text\n{answer.rstrip()}\n```\n"
    )
