"""A project without a README."""

from play.intents import Change, Run, plans
from play.job import Job, commit, write

FILES = {
    "package.json": '{\n  "name": "label-printer",\n  "type": "module",\n  "bin": { "labels": "src/cli.js" },\n  "scripts": { "test": "node --test", "start": "node src/cli.js" }\n}\n',
    "src/cli.js": '''#!/usr/bin/env node
// Prints a label for each name: labels [--upper] NAME…
import { label } from "./label.js";

const words = process.argv.slice(2);
const upper = words[0] === "--upper";
for (const name of upper ? words.slice(1) : words) console.log(label(name, upper));
''',
    "src/label.js": 'export const label = (name, upper) => `[ ${upper ? name.toUpperCase() : name} ]`;\n',
}
TEXT = """# label-printer

Prints a label for each name.

```sh
npm start -- [--upper] NAME…
```

`--upper` prints capitals. Tests: `npm test`.
"""


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    path = folder / "README.md"
    text = path.read_text() if path.exists() else ""
    return next((word for word in ("label-printer", "--upper", "npm test") if word not in text), "")


JOB = Job(
    task="Write a short README.md: what the program does, how to use it, how to test it.",
    make=make,
    check=check,
    plans=plans(
        Run("What is it?", "git ls-files; cat package.json; head -20 src/*", shows="--upper"),
        Change("Write it.", files={"README.md": TEXT}),
    ),
)
