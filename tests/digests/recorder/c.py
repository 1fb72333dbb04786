"""gcc, g++, clang and make."""

import json
import re

from .case import DEBIAN, marks, record

CLANG_ROOT = f"{DEBIAN}/usr/lib"
CLANG = f"{CLANG_ROOT}/llvm-14/bin/clang"
ENV = {"LD_LIBRARY_PATH": f"{CLANG_ROOT}/x86_64-linux-gnu:{CLANG_ROOT}/llvm-14/lib"}

ERRORS = [
    "int f{n}(void) {{\n    return missing_{n} + 1; // FAILS({n})\n}}\n",
    "int g{n}(int a) {{\n    a = a + 1\n    ;\n    int b = {n} a; // FAILS(b{n})\n    return b;\n}}\n",
    "struct order{n} {{ int amount; }};\nint h{n}(struct order{n} *order) {{\n    return order->price; // FAILS({n})\n}}\n",
    "int k{n}(int a, int b);\nint l{n}(void) {{\n    return k{n}(1); // FAILS({n})\n}}\n",
]
WARNINGS = [
    "int w{n}(void) {{\n    int unused_{n} = {n}; // WARNS({n})\n    return 0;\n}}\n",
    "#include <stdio.h>\nvoid p{n}(long a) {{\n    printf(\"%d\\n\", a); // WARNS({n})\n}}\n",
    "int c{n}(unsigned a, int b) {{\n    return a < b; // WARNS({n})\n}}\n",
]
TEMPLATE = """#include <algorithm>
#include <map>
#include <string>
#include <vector>

struct Order { int amount; };

void sort_orders(std::vector<Order>& orders) {
    std::sort(orders.begin(), orders.end());
}

int lookup(const std::map<std::string, int>& prices) {
    return prices["apples"]; // FAILS(map)
}

std::string name() {
    std::vector<std::string> names{"a"};
    return names.front() + 1 + Order{2}; // FAILS(plus)
}

int main() {
    const std::string text = 5; // FAILS(text)
    undeclared(text); // FAILS(undeclared)
}
"""


def text(kinds, many, start=0):
    return "\n".join(kinds[n % len(kinds)].format(n=n) for n in range(start, start + many))


def sarif(compiler, argv):
    """gcc's own JSON of the same build."""
    def expect(run, _folder):
        printed = run([compiler, *argv, "-fdiagnostics-format=json"]).stderr.decode()
        failures, warnings = [], 0
        for line in printed.splitlines():
            if not line.startswith("["):
                continue
            for found in json.loads(line):
                if found["kind"] in ("error", "fatal error"):
                    caret = found["locations"][0]["caret"] if found["locations"] else None
                    failures.append({"file": caret["file"], "line": caret["line"]} if caret else {})
                elif found["kind"] == "warning":
                    warnings += 1
        return failures, {"errors": len(failures), "warnings": warnings}
    return expect


def plain(run_argv):
    """clang's diagnostics in the form that it has for programs."""
    def expect(run, _folder):
        printed = run([*run_argv, "-fdiagnostics-parseable-fixits", "-fno-caret-diagnostics", "-fdiagnostics-format=msvc"]).stderr.decode()
        failures, warnings = [], 0
        for line in printed.splitlines():
            found = re.match(r"^(.*)\((\d+),?\d*\)\s*: (?:fatal )?(error|warning)", line)
            if found and found[3] == "error":
                failures.append({"file": found[1], "line": int(found[2])})
            elif found:
                warnings += 1
        # Clang counts its own giving up as an error.
        gave_up = "fatal error: too many errors emitted" in printed
        return failures, {"errors": len(failures) + gave_up, "warnings": warnings}
    return expect


def gcc(name, files, argv, compiler="gcc", expect=None, how="gcc -fdiagnostics-format=json of the same sources", **more):
    record("gcc", name, files, [compiler, *argv], expect or sarif(compiler, argv), version="gcc 12", how=how, **more)


def clang(name, files, argv, cplusplus=False, shown=(), **more):
    words = [CLANG + ("++" if cplusplus else ""), *argv]
    record("clang", name, files, [*words, *shown], plain(words), env=ENV, version="clang 14",
           how="clang -fdiagnostics-format=msvc of the same sources", **more)


def make(name, files, argv, failures, counts=None, how="the makefile and marks in the sources", **more):
    record("make", name, files, ["make", *argv], lambda run, folder: (failures, counts or {}), version="make 4.3", how=how, **more)


def main():
    gcc("errors", {"orders.c": text(ERRORS, 28)}, ["-c", "orders.c"])
    gcc("errors-coloured", {"orders.c": text(ERRORS, 20)}, ["-c", "orders.c", "-fdiagnostics-color=always"])
    gcc("warnings", {"orders.c": text(WARNINGS, 45)}, ["-Wall", "-Wextra", "-c", "orders.c"])
    gcc("both", {"orders.c": text(WARNINGS, 30) + text(ERRORS, 4, 100), "a b/größe.c": text(ERRORS, 6)},
        ["-Wall", "-Wextra", "-c", "orders.c", "a b/größe.c"])
    gcc("templates", {"orders.cc": TEMPLATE}, ["-c", "orders.cc"], compiler="g++")
    header = {"prices.h": "static inline int price(void) {\n    return missing_price; // FAILS(h)\n}\n"}
    for n in range(12):
        header[f"part{n}.c"] = f'#include "prices.h"\n\nint part{n}(void) {{\n    return price() + other{n}; // FAILS({n})\n}}\n'
    gcc("header-in-many-units", header, ["-c", *[f"part{n}.c" for n in range(12)]])
    links = {"main.c": "".join(f"int missing_function_{n}(int);\n" for n in range(20)) + "int main(void) {\n    return 0" + "".join(f"\n        + missing_function_{n}({n})" for n in range(20)) + ";\n}\n"}
    names = [{"name": f"missing_function_{n}"} for n in range(20)]
    gcc("not-linked", links, ["main.c", "-g", "-o", "shop"], expect=lambda run, folder: (names, {}), how="what the source declares and nothing defines")

    clang("errors", {"orders.c": text(ERRORS, 28)}, ["-c", "orders.c", "-ferror-limit=0"])
    clang("errors-coloured", {"orders.c": text(ERRORS, 20)}, ["-c", "orders.c", "-ferror-limit=0"], shown=["-fcolor-diagnostics"])
    clang("warnings", {"orders.c": text(WARNINGS, 45)}, ["-Wall", "-Wextra", "-c", "orders.c"])
    clang("templates", {"orders.cc": TEMPLATE}, ["-c", "orders.cc"], cplusplus=True)
    clang("too-many-errors", {"orders.c": text(ERRORS, 40)}, ["-c", "orders.c"])
    clang("several-files", {**{f"part{n}.c": text(WARNINGS, 5, n) + text(ERRORS, 3, 50 + n) for n in range(6)}},
          ["-Wall", "-c", *[f"part{n}.c" for n in range(6)]])

    objects = " ".join(f"part{n}.o" for n in range(40))
    good = {f"part{n}.c": f"int part{n}(void) {{\n    return {n};\n}}\n" for n in range(40)}
    rules = f"CFLAGS = -Wall -Wextra -O2 -g -DNAME=shop -Iinclude -Isrc/include -std=c11 -fPIC\n\nshop: {objects}\n\tcc -o shop {objects}\n\n%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n"
    bad = dict(good, Makefile=rules)
    bad["part30.c"] = text(ERRORS, 5)
    make("c-errors", bad, [], [{"file": file, "line": line} for tag, (file, line) in marks({"part30.c": bad["part30.c"]}).items()] + [{"name": "part30.o"}])
    failing = dict(good, Makefile=rules)
    for n in (3, 11, 25):
        failing[f"part{n}.c"] = f"int part{n}(void) {{\n    return missing{n}; // FAILS({n})\n}}\n"
    make("keeps-going-parallel", failing, ["-k", "-j4"], [{"file": f"part{n}.c", "line": 2} for n in (3, 11, 25)] + [{"name": f"part{n}.o"} for n in (3, 11, 25)])
    steps = "all: first second check\n\nfirst second:\n\t@for i in $$(seq 60); do echo \"step $$i of $@: all is well with this one\"; done\n\ncheck:\n\t@echo 'checking the prices'; for i in $$(seq 20); do echo \"price $$i is fine\"; done\n\t@echo 'the price of pears is missing' >&2; exit 3\n"
    make("script-fails", {"Makefile": steps}, [], [{"name": "check", "file": "Makefile", "line": 8}])
    make("script-fails-merged", {"Makefile": steps}, [], [{"name": "check", "file": "Makefile", "line": 8}], merged=True)
    deep = {"Makefile": "SUBS = alpha beta gamma\n\nall: $(SUBS)\n\n$(SUBS):\n\t$(MAKE) -C $@\n\n.PHONY: all $(SUBS)\n"}
    for n, sub in enumerate(("alpha", "beta", "gamma")):
        lines = "all:" + "".join(f" step{m}" for m in range(30)) + "\n" + "".join(
            f"\nstep{m}:\n\techo building step {m} of {sub} with a long line of options -a -b -c -d -e\n" for m in range(30))
        deep[f"{sub}/Makefile"] = lines if sub != "beta" else lines.replace("\techo building step 20", "\tfalse step 20")
    line = 1 + deep["beta/Makefile"].split("\n").index([one for one in deep["beta/Makefile"].split("\n") if "false step" in one][0])
    make("recursive", deep, [], [{"name": "step20", "file": "Makefile", "line": line}, {"name": "beta", "file": "Makefile", "line": 6}])
    make("recursive-keeps-going", deep, ["-k"], [{"name": "step20", "file": "Makefile", "line": line}, {"name": "beta", "file": "Makefile", "line": 6}])
    rule = {"Makefile": "all: " + " ".join(f"t{n}" for n in range(90)) + " last\n\n" + "".join(f"t{n}:\n\t@echo made t{n}, which takes a while and says so at length\n" for n in range(90)) + "last: not-there.c\n\tcc $<\n"}
    make("no-rule", rule, [], [{"name": "not-there.c"}])
