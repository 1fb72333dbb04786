"""The plans of benches/agent on this program alone: each still plays as it is written, and ends as its job asks."""

import sys
from pathlib import Path

from harness.report import Report

AGENT = Path(__file__).resolve().parents[3] / "benches" / "agent"
# Those that use most of what plans rest on, and need no package.
JOBS = ["dev_server", "git_merge", "python_flag", "extract_constant", "variable"]


class Uncounted:
    """Stands in for the tokenizer, which is not installed here."""

    @staticmethod
    def count(_: str) -> int:
        """Returns nothing: what a call costs is not judged here."""
        return 0


def run(report: Report, binary: Path, folder: Path) -> None:
    """Plays the jobs."""
    sys.path.append(str(AGENT))
    from play.conversation import PlanError, play
    from play.job import load
    from play.servers import Bailiwick

    product = Bailiwick(binary, folder / "homes")
    for job in load(JOBS):
        project = folder / job.name / "shop"
        project.mkdir(parents=True)
        job.make(project)
        opened = product.open(project)
        try:
            play(job, job.plans["bailiwick"], opened, project, Uncounted)
            problem = ""
        except PlanError as why:
            problem = str(why)
        finally:
            opened.close()
        report.check(f"plans: {job.name} plays and ends as it should", not problem, problem)
