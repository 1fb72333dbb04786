"""An environment variable that is not documented."""

from play.intents import Change, Run, plans
from play.job import Job, commit, write

DOCS = """# Configuration

All of it is read from the environment when the service starts.

| variable | default | meaning |
| --- | --- | --- |
| `SHOP_PORT` | 8080 | the port of the service |
| `SHOP_LOG` | info | the least level that is logged |

Changes need a restart.
"""
FILES = {
    "README.md": "# Shop\n\nSee docs/configuration.md.\n",
    "package.json": '{\n  "name": "shop",\n  "version": "1.4.0",\n  "type": "module"\n}\n',
    "docs/configuration.md": DOCS,
    "src/server.js": 'import http from "node:http";\n\nconst port = Number(process.env.SHOP_PORT ?? 8080);\n\nhttp.createServer((_, answer) => answer.end("shop")).listen(port);\n',
    "src/log.js": 'const level = process.env.SHOP_LOG ?? "info";\n\nexport function log(text) {\n  if (level !== "none") console.log(text);\n}\n',
    "src/stock.js": '''import { log } from "./log.js";

// How long the warehouse may take to answer, in milliseconds.
const patience = Number(process.env.SHOP_STOCK_TIMEOUT ?? 2500);

export async function stock(name) {
  log(`asking for ${name}`);
  const answer = await fetch(`http://stock.local/${name}`, { signal: AbortSignal.timeout(patience) });
  return answer.json();
}
''',
    "deploy/compose.yaml": "services:\n  shop:\n    image: shop:1.4.0\n    environment:\n      SHOP_PORT: 80\n      SHOP_STOCK_TIMEOUT: 1000\n",
}
OLD = "| `SHOP_LOG` | info | the least level that is logged |\n"
NEW = OLD + "| `SHOP_STOCK_TIMEOUT` | 2500 | how long the warehouse may take to answer, in milliseconds |\n"


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    return "" if (folder / "docs/configuration.md").read_text() == DOCS.replace(OLD, NEW) else "the row is not there"


JOB = Job(
    task="Find out what the environment variable SHOP_STOCK_TIMEOUT does and document it in docs/configuration.md.",
    make=make,
    check=check,
    plans=plans(
        Run(
            "What is it, and what does the page look like?",
            "grep -rn -B1 SHOP_STOCK_TIMEOUT . --exclude-dir=.git; cat docs/configuration.md", shows="need a restart",
        ),
        Change("2500 milliseconds for the warehouse's answer.", [("docs/configuration.md", OLD, NEW)]),
    ),
)
