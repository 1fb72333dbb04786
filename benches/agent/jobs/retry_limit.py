"""A number in code and documents."""

from play.intents import Run, plans
from play.job import Job, commit, write

FILES = {
    "src/http.py": "RETRIES = 3\nPAGES = 3\n\n\ndef fetch(url):\n    for _ in range(RETRIES):\n        pass\n",
    "docs/http.md": "# Requests\n\nA request is tried 3 times. A list has 3 pages.\n",
    "config/defaults.toml": "[http]\nretries = 3\npages = 3\n",
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    texts = [(folder / name).read_text() for name in FILES]
    good = ["RETRIES = 5\nPAGES = 3", "tried 5 times. A list has 3 pages", "retries = 5\npages = 3"]
    return next((text for text, part in zip(texts, good) if part not in text), "")


JOB = Job(
    task="Requests are to be tried 5 times, not 3. Change it wherever it is said.",
    make=make,
    check=check,
    plans=plans(
        Run("Where is it said?", "grep -rniE 'retr|tried|attempt' --exclude-dir=.git .", shows="retries = 3"),
        Run("Three places.", "sed -i 's/^RETRIES = 3/RETRIES = 5/' src/http.py && sed -i 's/tried 3 times/tried 5 times/' docs/http.md && "
            "sed -i 's/^retries = 3/retries = 5/' config/defaults.toml && git diff -U0", shows="+retries = 5"),
    ),
)
