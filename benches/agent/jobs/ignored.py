"""Built files that were committed by mistake."""

from play.intents import Run, plans
from play.job import Job, commit, git, write

FILES = {
    ".gitignore": "node_modules/\n",
    "src/main.js": 'console.log("shop");\n',
    "dist/main.js": 'console.log("shop");\n',
    "dist/main.js.map": "{}\n",
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    listed = git(folder, "ls-files").split()
    good = listed == [".gitignore", "src/main.js"] and (folder / "dist/main.js").exists()
    return "" if good and "dist/" in (folder / ".gitignore").read_text() and not git(folder, "status", "--porcelain") else str(listed)


JOB = Job(
    task="dist/ is built and should not be in Git. Take it out of the repository but not off the disk, ignore it, and commit.",
    make=make,
    check=check,
    plans=plans(
        Run("What is in it?", "git status --short; git ls-files; cat .gitignore", shows="dist/main.js.map"),
        Run("Out of the index, into .gitignore, and commit.", "git rm -rq --cached dist && echo dist/ >> .gitignore && git add .gitignore && "
            "git commit -qm 'Do not keep what is built' && git status --short && git ls-files", shows="src/main.js"),
    ),
)
