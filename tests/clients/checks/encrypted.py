"""TLS with real clients: curl and Python, which trust the certificate that Bailiwick has made, and OpenSSL's view of it."""

import json
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

from harness.patience import PATIENCE
from harness.product import Product
from harness.report import Report
from harness.wire import plain_environment, tool_call

from .consent import start

READ = tool_call(1, "computer_query", {"op": "file.read", "target": "README.md"})


def run(report: Report, product: Product) -> None:
    """Calls the service over TLS."""
    token = product.token("encrypted")
    start(product)
    certificate = next(product.home.rglob("tls/certificate.pem"))
    url = f"https://localhost:{product.port}/mcp"
    headers = {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "computer_query",
    }

    def ask(context) -> str:
        request = urllib.request.Request(url, json.dumps(READ).encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE, context=context) as answer:
            return answer.read().decode()

    strict = ssl.create_default_context(cafile=certificate)
    strict.verify_flags |= ssl.VERIFY_X509_STRICT
    report.check("Python: reads over TLS, as strict as it can be", "cobalt" in ask(strict))
    try:
        ask(ssl.create_default_context())
        report.check("Python: does not trust the certificate on its own", False)
    except urllib.error.URLError as error:
        report.check("Python: does not trust the certificate on its own", "CERTIFICATE_VERIFY_FAILED" in str(error), error)
    status = json.loads(product.cli("status", "--json"))["service"]
    with socket.create_connection(("127.0.0.1", product.port)) as raw, strict.wrap_socket(raw, server_hostname="localhost") as made:
        report.check("Python: speaks TLS 1.3", made.version() == "TLSv1.3", made.version())
    if shutil.which("openssl"):
        command = ["openssl", "x509", "-in", str(certificate), "-noout", "-fingerprint", "-sha256"]
        said = subprocess.run(command, capture_output=True, text=True, env=plain_environment()).stdout
        report.check("OpenSSL: the fingerprint is the one that is shown", said.strip().endswith(status["certificateSha256"]), said)
    else:
        report.skip("OpenSSL: the fingerprint", "is not installed")
    if not shutil.which("curl"):
        report.skip("curl: reads over TLS", "is not installed")
        return
    words = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]

    def curl(*more: str) -> subprocess.CompletedProcess:
        command = ["curl", "-sS", "--max-time", str(int(PATIENCE)), *words, "-d", json.dumps(READ), *more]
        return subprocess.run(command, capture_output=True, text=True, env=plain_environment())

    trusted = curl("--cacert", str(certificate), url)
    report.check("curl: reads over TLS", "cobalt" in trusted.stdout, trusted)
    unknown = curl(url)
    report.check("curl: does not trust the certificate on its own", unknown.returncode == 60 and not unknown.stdout, unknown)
    plain = curl(url.replace("https:", "http:"))
    report.check("curl: plain HTTP is answered with what to do", "use https instead" in plain.stdout, plain)
    old = curl("--cacert", str(certificate), "--tls-max", "1.1", url)
    report.check("curl: TLS 1.1 is refused", old.returncode != 0 and not old.stdout, old)
