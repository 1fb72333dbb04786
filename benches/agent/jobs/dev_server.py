"""A dev server that is started, looked at and stopped."""

from play.job import Job, call, commit, operate, ran, started, step, write

FILES = {
    "README.md": "# Shop\n\nDev server: `python3 -m web.serve 8765`\n",
    "web/__init__.py": "",
    "web/prices.py": 'NET = {"pen": 10.5, "ink": 4.2}\n\n\ndef price(name):\n    return round(NET[name] * 1.19, 2)\n',
    "web/serve.py": '''"""The dev server."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from .prices import NET, price


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        rows = "".join(f"<li>{name}: {price(name):.2f} EUR</li>" for name in NET)
        body = f"<h1>Prices</h1><ul>{rows}</ul>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Page)
    print("ready", flush=True)
    server.serve_forever()
''',
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    path = folder / "PRICE.txt"
    return "" if path.exists() and path.read_text().strip() == "12.49" else "PRICE.txt does not have the price"


SERVE = "python3 -m web.serve 8765"
LOOK = "curl -s --retry 20 --retry-connrefused --retry-delay 1 http://localhost:8765/"
START_WHY = "Start it and look at the page as soon as it answers."
END_WHY = "It is 12.49. Write that and stop the server."

JOB = Job(
    task="Start the dev server of this project (`python3 -m web.serve 8765`), write the price that its page shows for the pen "
    "into PRICE.txt, and stop the server.",
    make=make,
    check=check,
    plans={
        "bailiwick": [
            operate(
                START_WHY, "process.start", command=SERVE, then=[step("command.run", command=LOOK)],
                shows="pen: 12.49", keep={"process": r"process (\w+)"},
            ),
            operate(
                END_WHY, "file.write", "PRICE.txt", content="12.49\n", then=[step("process.stop", "<process>")], shows="SIGTERM",
            ),
        ],
        "commander": [
            call("Start it.", "start_process", command=f"cd /home/ann/shop && {SERVE}", timeout_ms=5000, keep={"server": r"PID (\d+)"}),
            *started("Look at the page.", LOOK, shows="pen: 12.49"),
            call("It is 12.49.", "write_file", path="/home/ann/shop/PRICE.txt", content="12.49\n"),
            call("Stop the server.", "force_terminate", pid="<server>"),
        ],
        "shell": [
            ran(START_WHY, f"{SERVE} > /tmp/serve.log 2>&1 & echo $!; {LOOK}", shows="pen: 12.49", keep={"server": r"^(\d+)"}),
            ran(END_WHY, "echo 12.49 > PRICE.txt && kill <server>"),
        ],
    },
)
