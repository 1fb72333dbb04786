"""Pictures of a real display over real clients: each gets an image with the right colours, over HTTP and stdio."""

from pathlib import Path

from harness.display import Display, missing, pixels
from harness.plan import CLIENTS, Client, Clients, client_home
from harness.product import Product
from harness.report import Report

from .clients import envelope

WAYS = ("http", "stdio")
BLUE, RED, GREEN, BLACK = (32, 64, 96), (250, 20, 30), (20, 200, 60), (0, 0, 0)


class ScreenProduct(Product):
    """An installation with a scope `screen` for one display, beside `app`."""

    def __init__(self, binary: Path, folder: Path, display: Display) -> None:
        self.display = display
        super().__init__(binary, folder)
        self.cli("scope", "add", "screen", "--type", "computer", "--screen")

    @property
    def client_environment(self) -> dict:
        """The variables that a client has to give to a stdio server, with the display."""
        return {**super().client_environment, **self.display.environment}

    @property
    def environment(self) -> dict:
        """The environment of every process of this installation, with the display."""
        return {**super().environment, **self.display.environment}


def steps_of() -> list:
    """Gives the calls of one client."""
    capture = {"scope": "screen", "op": "screen.capture"}
    region = {**capture, "options": {"region": {"x": 35, "y": 25, "width": 10, "height": 10}}}
    kept = {**capture, "options": {"return": "fileRef"}}
    refused = {"scope": "app", "op": "screen.capture"}
    planned = [("capture", capture), ("region", region), ("kept", kept), ("refused", refused)]
    return [{"name": name, "tool": "computer_operation", "arguments": arguments} for name, arguments in planned]


def picture(result: dict) -> list:
    """Gives the pixels of the one image of a result; empty when there is none."""
    images = [block for block in result.get("content", []) if block.get("type") == "image"]
    if len(images) != 1 or images[0].get("mimeType") != "image/png":
        return []
    try:
        return pixels(images[0]["data"])
    except ValueError:
        return []


def judge(report: Report, name: str, seen: dict) -> None:
    """Judges what one client saw."""
    if not report.check(f"{name}: connects", "broken" not in seen, seen.get("broken")):
        return
    results = seen["results"]
    rows = picture(results["capture"])
    size = (len(rows[0]), len(rows)) if rows else None
    report.check(f"{name}: gets an image of the whole display", size == (320, 200), str(results["capture"])[:800])
    places = {(5, 5): BLUE, (40, 30): RED, (139, 99): RED, (140, 99): BLUE, (200, 120): BLACK}
    found = {place: rows[place[1]][place[0]] for place in places} if size == (320, 200) else None
    report.check(f"{name}: its colours are those of the display, and a password manager is black", found == places, found)
    told = envelope(results["capture"]).get("data", {})
    facts = (told.get("width"), told.get("scale"), told.get("blackedOut"))
    report.check(f"{name}: reads beside it what the picture shows", facts == (320, 1.0, 1), told)
    bare = "structuredContent" not in results["capture"] or results["capture"]["structuredContent"] is None
    report.check(f"{name}: nothing is in the image's way", bare, list(results["capture"]))
    part = picture(results["region"])
    right = len(part) == 10 and part[0][0] == BLUE and part[9][9] == RED
    report.check(f"{name}: gets a part of it", right, str(results["region"])[:800])
    file = envelope(results["kept"]).get("data", {}).get("file", {})
    named = file.get("uri", "").startswith("bailiwick://captures/screen/")
    report.check(f"{name}: has a picture kept", named, str(results["kept"])[:800])
    denied = envelope(results["refused"]).get("error", {}).get("details", {}).get("stage")
    report.check(f"{name}: a folder scope shows no screen", denied == "capability", str(results["refused"])[:800])


def judge_resources(report: Report, name: str, client: Client, clients: Clients, transport: dict, home: Path) -> None:
    """The Inspector lists the kept pictures as resources, and reads one."""
    listed = clients.inspect(client, transport, home, "--method", "resources/list")
    resources = listed.get("result", listed).get("resources", [])
    if not report.check(f"{name}: lists kept pictures as resources", bool(resources), str(listed)[:800]):
        return
    read = clients.inspect(client, transport, home, "--method", "resources/read", "--uri", resources[0]["uri"])
    contents = read.get("result", read).get("contents", [{}])
    rows = pixels(contents[0]["blob"]) if contents and contents[0].get("blob") else []
    right = len(rows) == 200 and rows[30][40] == RED and contents[0].get("mimeType") == "image/png"
    report.check(f"{name}: reads one", right, str(read)[:400])


def run(report: Report, clients: Clients, folder: Path, binary: Path) -> None:
    """Runs every client over HTTP, and over stdio into the running service."""
    if missing():
        report.skip("pictures of a display", missing())
        return
    with Display() as display:
        display.paint(0, 0, 320, 200, 0x204060)
        display.paint(40, 30, 100, 70, 0xFA141E, b"painting")
        display.paint(180, 110, 60, 40, 0x14C83C, b"Passwords.kdbx - KeePassXC")
        with ScreenProduct(binary, folder / "screen", display) as product:
            product.start()
            status = product.cli("screen", "status")
            report.check("`bailiwick screen status` shows the display and the scope", display.name in status and "displays, windows" in status, status)
            for client in CLIENTS:
                lacking = clients.missing(client)
                names = [f"{client.name} {client.mode} {way}" for way in WAYS]
                if lacking:
                    for name in names:
                        report.skip(name, lacking)
                    continue
                home = client_home(folder, "client-home")
                transports = [product.transport(way, f"screen-{client.name}-{client.mode}") for way in WAYS]
                seen = clients.converse(client, [(transport, steps_of()) for transport in transports], home)
                for name, transport, one in zip(names, transports, seen):
                    judge(report, name, one)
                    if client.name == "inspector":
                        judge_resources(report, name, client, clients, transport, home)
