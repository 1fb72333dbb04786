"""A server that answers with an error."""

from play.intents import Change, Run, plans
from play.job import Job, commit, write

SERVE = '''"""The dev server."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from .orders import total


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/total":
            self.send_error(404)
            return
        body = json.dumps({"total": total()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
'''
ORDERS = '''"""Orders of today."""

from decimal import Decimal

ORDERS = [("pen", Decimal("12.49")), ("ink", Decimal("5.00"))]


def total():
    """Returns what all orders cost."""
    return sum(price for _, price in ORDERS)
'''
OLD = 'json.dumps({"total": total()})'


def make(folder):
    write(folder, {"web/__init__.py": "", "web/serve.py": SERVE, "web/orders.py": ORDERS})
    commit(folder)


def check(folder):
    text = (folder / "web/serve.py").read_text() + (folder / "web/orders.py").read_text()
    return "" if "str(total())" in text and OLD not in text else text


LOOK = (
    "python3 -m web.serve 8765 2>/tmp/serve.log & "
    "curl -sS --retry 20 --retry-connrefused --retry-delay 1 http://localhost:8765/total; kill $!; tail -5 /tmp/serve.log"
)

JOB = Job(
    task="The dev server (`python3 -m web.serve 8765`) gives no answer at /total. It should give the sum as a text: "
    '{"total": "17.49"}. Fix web/serve.py and try it.',
    make=make,
    check=check,
    plans=plans(
        Run("Start it, ask, stop it, and see what it says.", LOOK + "; grep -n total web/*.py", shows='json.dumps({"total": total()})'),
        Change("Sums are decimals, so they are texts in JSON.", [("web/serve.py", OLD, 'json.dumps({"total": str(total())})')],
               check=LOOK, shows='{"total": "17.49"}'),
    ),
)
