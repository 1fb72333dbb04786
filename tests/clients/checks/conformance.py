"""The official conformance suite, for both protocol eras, through a proxy that adds the token.

Each file conformance/<revision>.yml lists the checks that a product without fixture tools cannot pass, with the reason.
An unlisted failure fails, and so does an entry that no longer fails.
"""

import re
import subprocess
from pathlib import Path

from harness.installed import is_installed
from harness.plan import Clients, client_home
from harness.product import Product
from harness.proxy import TokenProxy
from harness.report import Report

REVISIONS = ("2025-11-25", "2026-07-28")
LISTS = Path(__file__).parent.parent / "conformance"
# What a server without fixture tools has to pass; none of it may be listed as an expected failure.
REQUIRED = (
    "server-initialize", "ping", "tools-list", "dns-rebinding-protection", "http-header-validation",
    "server-session-lifecycle", "input-required-result-unsupported-methods", "input-required-result-validate-input",
)


def judge_list(report: Report, revision: str) -> None:
    """Every expected failure says why, and none is of what has to pass."""
    lines = [line.strip() for line in (LISTS / f"{revision}.yml").read_text().splitlines()]
    entries = [line for line in lines if line.startswith("- ")]
    silent = [entry for entry in entries if not entry.partition(" # ")[2]]
    report.check(f"conformance {revision}: each of the {len(entries)} expected failures says why", not silent, silent)
    excused = [entry for entry in entries if entry.removeprefix("- ").split(":")[0] in REQUIRED]
    report.check(f"conformance {revision}: what has to pass is not excused", not excused, excused)


def run(report: Report, clients: Clients, product: Product, folder: Path) -> None:
    """Runs the requirements of each revision."""
    for revision in REVISIONS:
        name = f"conformance {revision}"
        judge_list(report, revision)
        if not (is_installed("node") and is_installed("packages")):
            report.skip(name, "the suite is not installed; run tests/clients/install")
            continue
        with TokenProxy(product.port, product.token(f"conformance-{revision}")) as proxy:
            command = [
                str(clients.node), str(clients.conformance()), "server", "--url", f"http://localhost:{proxy.port}/mcp",
                "--requirements", revision, "--expected-failures", str(LISTS / f"{revision}.yml"),
                "-o", str(folder / f"conformance-{revision}"),
            ]
            home = client_home(folder, "client-home")
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=600, env=clients.environment(home), cwd=home
            )
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        (folder / f"conformance-{revision}.log").write_text(said)
        counts = re.findall(r"(\d+) passed, (\d+) failed", said)
        total = f"{counts[-1][0]} checks pass, {counts[-1][1]} are listed as out of reach" if counts else "no count"
        held = report.check(f"{name}: {total}", done.returncode == 0 and counts, said[-2500:])
        if held:
            report.check(f"{name}: the service lives", product.lives())
