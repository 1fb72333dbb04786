"""Pictures that Codex and Claude Code hand to their models: images, with every pixel that the display shows.

The programs are the real ones; their provider of models is one on the loopback that has them call `screen.capture`.
"""

import json
import subprocess
from pathlib import Path

from harness.display import Display, missing, pixels
from harness.models import KEY, LAST_WORDS, Models, codex_server, codex_settings
from harness.patience import PATIENCE
from harness.plan import Clients, client_home
from harness.report import Report

from .screen import BLACK, BLUE, RED, ScreenProduct

SERVER, TOOL = "bailiwick", "computer_operation"
CAPTURE = {"scope": "screen", "op": "screen.capture"}
WIDTH, HEIGHT = 320, 200


def expected() -> list:
    """Gives the rows of what the display shows, as the scope may see it."""
    def colour(x: int, y: int) -> tuple:
        if 40 <= x < 140 and 30 <= y < 100:
            return RED
        return BLACK if 180 <= x < 240 and 110 <= y < 150 else BLUE

    return [[colour(x, y) for x in range(WIDTH)] for y in range(HEIGHT)]


def judge(report: Report, name: str, done: subprocess.CompletedProcess, results: list) -> None:
    """Judges what the model of a client got."""
    said = done.stdout + done.stderr
    report.check(f"{name}: works to its end", done.returncode == 0 and LAST_WORDS in said, said[-3000:])
    parts = [part for result in results for part in result]
    images = [part[1:] for part in parts if part[0] == "image"]
    texts = [part[1] for part in parts if part[0] == "text"]
    if not report.check(f"{name}: its model gets one image", len(images) == 1, str(results)[:3000]):
        return
    kind, data = images[0]
    report.check(f"{name}: the image is a PNG", kind == "image/png", kind)
    try:
        rows = [[tuple(pixel) for pixel in row] for row in pixels(data)]
    except ValueError as why:
        rows = str(why)
    right = rows == expected()
    report.check(f"{name}: every pixel is that of the display, and a password manager is black", right, str(rows)[:300])
    told = [text for text in texts if "captureId: " in text and "scale: " in text]
    report.check(f"{name}: its model reads beside it what the picture shows", len(told) == 1, texts)


def codex(report: Report, installed: Clients, product: ScreenProduct, home: Path) -> None:
    """Codex, with Bailiwick over stdio."""
    program = installed.program("codex", "codex")
    if not program:
        report.skip("Codex: pictures", "is not installed; run tests/codex/install")
        return
    settings = home / ".codex"
    settings.mkdir()
    with Models(SERVER, (TOOL, CAPTURE)) as models:
        (settings / "config.toml").write_text(codex_settings(models) + codex_server(SERVER, product))
        environment = {"CODEX_HOME": str(settings), "FAKE_KEY": KEY}
        done = run_program([program, "exec", "--skip-git-repo-check", "Look."], installed, product, home, environment)
    judge(report, "Codex", done, models.results())


def claude_code(report: Report, installed: Clients, product: ScreenProduct, home: Path) -> None:
    """Claude Code, with Bailiwick over stdio."""
    program = installed.program("applications", "claude")
    if not program:
        report.skip("Claude Code: pictures", "is not installed; run tests/clients/install")
        return
    server = {"command": str(product.binary), "args": ["mcp"], "env": {"BAILIWICK_HOME": str(product.home)}}
    settings = home / "mcp.json"
    settings.write_text(json.dumps({"mcpServers": {SERVER: server}}))
    with Models(SERVER, (TOOL, CAPTURE)) as models:
        environment = {
            "ANTHROPIC_BASE_URL": models.url, "ANTHROPIC_API_KEY": KEY, "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        flags = ["--mcp-config", settings, "--strict-mcp-config", "--allowedTools", f"mcp__{SERVER}"]
        done = run_program([program, "-p", "Look.", *flags], installed, product, home, environment)
    judge(report, "Claude Code", done, models.results())


def run_program(
    command: list, installed: Clients, product: ScreenProduct, home: Path, environment: dict
) -> subprocess.CompletedProcess:
    """Runs a client with a home of its own, and without the display: the service has that."""
    path = f"{installed.node.parent}:{product.environment['PATH']}"
    around = {"PATH": path, "HOME": str(home), **environment}
    words = [str(word) for word in command]
    try:
        return subprocess.run(
            words, env=around, cwd=product.project, capture_output=True, text=True, timeout=3 * PATIENCE, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(words, -1, str(late.stdout or ""), f"no end after {3 * PATIENCE:.0f} s\n{late.stderr or ''}")


def run(report: Report, installed: Clients, folder: Path, binary: Path) -> None:
    """Runs both programs."""
    if missing():
        report.skip("pictures in Codex and Claude Code", missing())
        return
    with Display() as display:
        display.paint(0, 0, WIDTH, HEIGHT, 0x204060)
        display.paint(40, 30, 100, 70, 0xFA141E, b"painting")
        display.paint(180, 110, 60, 40, 0x14C83C, b"Passwords.kdbx - KeePassXC")
        with ScreenProduct(binary, folder / "pictures", display) as product:
            product.start()
            codex(report, installed, product, client_home(folder, "home-codex-pictures"))
            claude_code(report, installed, product, client_home(folder, "home-claude-pictures"))
