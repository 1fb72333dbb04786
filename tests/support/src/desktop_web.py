"""The form of `desktop.py` as a page in Chromium: it prints what the page receives, a line each."""

import ctypes
import http.server
import os
import signal
import subprocess
import sys
import tempfile
import threading

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>%s</title>
<h1>Order</h1>
<p><label>Name <input id="name"></label>
<p><label>Password <input id="secret" type="password" value="hunter2-secret"></label>
<p><label>Fixed <input readonly value="cannot change"></label>
<p><label><input id="agree" type="checkbox"> Agree</label>
<p><label>Level <input id="level" type="range" min="0" max="100" value="0"></label>
<p><label>Layout <select id="layout"><option>Portrait<option>Landscape</select></label>
<p><button id="save">Save</button> <button disabled>Off</button>
<p id="status">Not saved
<div id="more"></div>
<script>
let last = Promise.resolve();
const say = words => last = last.then(() => fetch("/said", {method: "POST", body: words}));
const on = (id, kind, words) => document.getElementById(id).addEventListener(kind, event => say(words(event.target)));
on("name", "input", it => "name " + it.value);
on("secret", "input", () => "secret changed");
on("agree", "change", it => "agree " + (it.checked ? "True" : "False"));
on("level", "input", it => "level " + it.value + ".0");
on("layout", "change", it => "layout " + it.value);
on("save", "click", () => { document.getElementById("status").textContent = "Saved"; return "pressed save"; });
for (let at = 0; at < %d; at++) {
  const made = document.createElement("button");
  made.textContent = "Button " + at;
  document.getElementById("more").append(made);
}
addEventListener("load", () => say("ready"));
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer((PAGE % (sys.argv[2], 1_900 if sys.argv[1] == "large" else 0)).encode())

    def do_POST(self):
        print(self.rfile.read(int(self.headers["Content-Length"])).decode(), flush=True)
        self.answer(b"")

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ends_with_this_program():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
scale = os.environ.get("GDK_SCALE", "1")
browser = subprocess.Popen(
    [
        "chromium", "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-component-update",
        "--force-renderer-accessibility", f"--force-device-scale-factor={scale}",
        f"--user-data-dir={tempfile.mkdtemp(dir=os.environ['HOME'])}",
        # It refuses its own sandbox to root.
        *(["--no-sandbox"] if os.getuid() == 0 else []),
        f"--app=http://127.0.0.1:{server.server_port}/",
    ],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=ends_with_this_program,
)
for _ in sys.stdin:
    print("done", flush=True)
browser.kill()
