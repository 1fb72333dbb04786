"""go test, go build and go vet."""

import json
import re

from .case import DEBIAN, TOOLS_HOME, marks, record

GO_ROOT = f"{DEBIAN}/usr/lib/go-1.19"
GO = f"{GO_ROOT}/bin/go"
ENV = {"GOROOT": GO_ROOT, "GOFLAGS": "-mod=mod", "GOPATH": f"{TOOLS_HOME}/go",
       "GOCACHE": f"{TOOLS_HOME}/gocache", "CGO_ENABLED": "0", "GOPROXY": "off"}
MODULE = "module example.com/shop\n\ngo 1.19\n"
TOTAL = "package {p}\n\n// Total adds prices.\nfunc Total(prices ...int) int {{\n\tsum := 0\n\tfor _, price := range prices {{\n\t\tsum += price\n\t}}\n\treturn sum\n}}\n"


def package(name, passing, failing, prefix="", extra=""):
    text = f'package {name}\n\nimport "testing"\n\n'
    for n in range(passing):
        text += f"func Test{prefix}Adds{n}(t *testing.T) {{\n\tif got := Total({n}, 1); got != {n + 1} {{\n\t\tt.Errorf(\"got %d\", got)\n\t}}\n}}\n\n"
    kinds = [
        "\tif got := Total({n}, 1); got != {n} {{\n\t\tt.Errorf(\"Total({n}, 1) = %d, want {n}\", got) // FAILS({t})\n\t}}\n",
        "\tt.Log(\"looking at order {n}\") // FAILS({t})\n\tt.Fatal(\"order {n} is not there\")\n",
        "\tt.Errorf(\"first\\nsecond line of {n}\") // FAILS({t})\n\tt.Errorf(\"another\")\n",
    ]
    for n in range(failing):
        text += f"func Test{prefix}Refuses{n}(t *testing.T) {{\n" + kinds[n % len(kinds)].format(n=n, t=f"Test{prefix}Refuses{n}") + "}\n\n"
    return {f"{name}/total.go": TOTAL.format(p=name), f"{name}/total_test.go": text + extra}


PARTS = """
func TestParts(t *testing.T) {
\tfor _, text := range []string{"apples", "größe", "a b", "x/y", "猫", "", "#1"} {
\t\tt.Run(text, func(t *testing.T) {
\t\t\tt.Run("deeper", func(t *testing.T) {
\t\t\t\tif len(text) < 100 {
\t\t\t\t\tt.Errorf("%q is short", text) // FAILS(parts)
\t\t\t\t}
\t\t\t})
\t\t\tt.Run("fine", func(t *testing.T) {})
\t\t})
\t}
}
"""
PARALLEL = """
func TestParallel(t *testing.T) {
\tfor n := 0; n < 12; n++ {
\t\tn := n
\t\tt.Run("part", func(t *testing.T) {
\t\t\tt.Parallel()
\t\t\tif n%3 == 0 {
\t\t\t\tt.Errorf("part %d is refused", n) // FAILS(parts)
\t\t\t}
\t\t})
\t}
}
"""


def known(files, argv, parts=False):
    """The failing tests as `go test -json` names them; their lines as the source marks them."""
    lines = marks(files)
    def expect(run, _folder):
        printed = run([GO, "test", "-json", *argv]).stdout.decode(errors="replace")
        failures, counts, packages = [], {"passed": 0, "failed": 0}, set()
        for line in printed.splitlines():
            if not line.startswith("{"):
                continue
            event = json.loads(line)
            if event.get("Action") == "fail":
                if "Test" in event:
                    failure = {"name": event["Test"]}
                    tag = event["Test"].split("/")[0]
                    tag = tag if tag in lines else "parts" if "/" in event["Test"] and "parts" in lines else None
                    if tag:
                        failure["file"], failure["line"] = lines[tag][0].split("/")[-1], lines[tag][1]
                    failures.append(failure)
                    counts["failed"] += 1
                else:
                    packages.add(event["Package"])
            if event.get("Action") == "pass" and "Test" in event:
                counts["passed"] += 1
        # A parent has the places of its parts.
        names = {failure["name"] for failure in failures}
        for failure in failures:
            if any(name.startswith(failure["name"] + "/") for name in names):
                failure.pop("file", None)
                failure.pop("line", None)
        return failures, {"failed": counts["failed"]}
    return expect


def go(name, files, argv, expect=None, how="go test -json of the same tests; lines by marks in the source", **more):
    files = {"go.mod": MODULE, **files}
    words = [word for word in argv if word not in ("-v",)]
    record("go", name, files, [GO, *argv], expect or known(files, words[1:]), env=ENV, version="go 1.19", how=how, **more)


def build_known(files):
    found = marks(files)
    failures = [{"file": file, "line": line} for file, line in found.values()]
    return lambda run, folder: (failures, {"errors": len(failures)})


def main():
    go("test-passing-verbose", package("prices", 90, 0), ["test", "-v", "./..."])
    go("test-failing", {**package("prices", 60, 9), **package("stock", 10, 0), "plain/plain.go": TOTAL.format(p="plain")}, ["test", "-v", "./..."])
    go("test-many-failures", package("prices", 20, 90), ["test", "./..."])
    go("test-parts", package("prices", 60, 2, extra=PARTS), ["test", "-v", "./..."])
    go("test-parts-quiet", package("prices", 0, 20, extra=PARTS + PARALLEL.replace("parts", "more")), ["test", "./..."])
    go("test-parallel", package("prices", 50, 0, extra=PARALLEL), ["test", "-v", "./..."])
    several = {}
    for n in range(12):
        several.update(package(f"part{n}", 8, n % 4, prefix=f"P{n}"))
    go("test-several-packages", several, ["test", "-v", "./..."])
    panics = package("prices", 40, 1, extra="\nfunc deeper(prices []int) int { return prices[7] }\n\nfunc TestPanics(t *testing.T) {\n\tt.Log(deeper([]int{1})) // FAILS(TestPanics)\n}\n\nfunc TestNeverRuns(t *testing.T) {}\n")
    panics["prices/total_test.go"] = panics["prices/total_test.go"].replace("return prices[7] }", "return prices[7] } // FAILS(TestPanics)", 1).replace("// FAILS(TestPanics)\n}", "\n}")
    go("test-panic", {**panics, **package("stock", 20, 3)}, ["test", "-v", "./..."])
    slow = package("prices", 60, 0, extra="\nfunc TestHangs(t *testing.T) {\n\tselect {} // FAILS(TestHangs)\n}\n")
    slow["prices/total_test.go"] = slow["prices/total_test.go"].replace('import "testing"', 'import (\n\t"testing"\n\t"time"\n)').replace("select {}", "time.Sleep(time.Hour)")
    hangs = lambda run, folder: ([{"name": "TestHangs", "file": "total_test.go", "line": marks(slow)["TestHangs"][1]}], {})
    go("test-timeout", slow, ["test", "-v", "-timeout", "1s", "./..."], hangs, "marks in the source")
    broken = {}
    for p in range(4):
        text = f"package part{p}\n\n"
        for n in range(9):
            text += [f"func F{n}() int {{ return missing{n} }} // FAILS({p}.{n})\n", f"var V{n} int = \"text\" // FAILS({p}.{n})\n",
                     f"func G{n}() {{ F0(1, 2) }} // FAILS({p}.{n})\n"][n % 3]
        broken[f"part{p}/broken.go"] = text
    go("build-errors", broken, ["build", "./..."], build_known(broken), "marks in the source")
    mixed = {**package("fine", 30, 4), **broken}
    tested = {**mixed, **{f"part{p}/broken_test.go": f"package part{p}\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {{}}\n" for p in range(4)}}
    def both(run, folder):
        failures, counts = known(tested, ["./..."])(run, folder)
        return failures + [{"file": file, "line": line} for tag, (file, line) in marks(broken).items()], counts
    go("test-build-failed", tested, ["test", "-v", "./..."], both)
    vet = {f"part{p}/vet.go": f"package part{p}\n\nimport \"fmt\"\n\n" + "".join(
        f"func F{n}() {{\n\tfmt.Printf(\"%d and %s\\n\", \"order {n}\") // FAILS({p}.{n})\n}}\n\n" for n in range(12)) for p in range(5)}
    go("vet", vet, ["vet", "./..."], build_known(vet), "marks in the source")
