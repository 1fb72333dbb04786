"""Puts the tools below one folder, from the registries of their languages."""

import subprocess

from .case import DEBIAN, TOOLS

NODE = {
    "node-a": ["jest@29", "vitest@2", "mocha@10", "typescript@5", "eslint@8"],
    "node-b": ["jest@30", "vitest@3", "mocha@11", "typescript@latest", "eslint@9"],
}
PYTHON = {
    "py7": ["pytest<8", "pytest-timeout"],
    "py8": ["pytest>=8,<9", "pytest-xdist", "pytest-timeout"],
    "py9": ["pytest>=9"],
    "pycheck": ["mypy", "ruff"],
}
DEBIAN = ["libobjc-12-dev", "libobjc4", "libgc1", "libclang-common-14-dev", "libclang1-14", "libclang-cpp14",
          "clang-14", "libllvm14", "golang-1.19-src", "golang-1.19-go"]


def run(*words, folder=TOOLS):
    subprocess.run(words, cwd=folder, check=True)


def main():
    TOOLS.mkdir(parents=True, exist_ok=True)
    for name, packages in NODE.items():
        (TOOLS / name).mkdir(exist_ok=True)
        run("npm", "init", "-y", folder=TOOLS / name)
        run("npm", "install", "--no-audit", "--no-fund", *packages, folder=TOOLS / name)
    for name, packages in PYTHON.items():
        run("python3", "-m", "venv", str(TOOLS / name))
        run(str(TOOLS / name / "bin/pip"), "install", "-q", *packages)
    debs = TOOLS / "debs"
    debs.mkdir(exist_ok=True)
    run("apt-get", "download", *DEBIAN, folder=debs)
    for deb in debs.glob("*.deb"):
        run("dpkg", "-x", str(deb), str(DEBIAN))
