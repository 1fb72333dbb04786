"""mypy, Ruff, PHPUnit, RSpec, Maven, javac, and the templates of gcc and clang.

PHPUnit, RSpec, Maven with Surefire and javac are those of Debian: phpunit, ruby-rspec, maven,
libmaven-compiler-plugin-java, libmaven-resources-plugin-java, libsurefire-java, junit4, default-jdk-headless.
"""

import json
import re

from .c import CLANG, ENV
from .case import TOOLS, marks, record

PYTHON = TOOLS / "pycheck" / "bin"

TYPES = [
    "def price_{n}(amount: int) -> str:\n    return amount  # FAILS({n})\n\n\n",
    "total_{n}: int = 'many'  # FAILS({n})\n\n\n",
    "def order_{n}() -> None:\n    name: str = missing_{n}  # FAILS({n})\n\n\n",
    "price_0({n}, {n})  # FAILS({n})\n\n\n",
]
UNCLEAN = [
    "import unused_{n}  # FAILS({n})\n",
    "def rate_{n}():\n    value = {n}  # FAILS({n})\n\n\n",
    "text_{n} = f'no place {n}'  # FAILS({n})\n",
    "print(nowhere_{n})  # FAILS({n})\n",
]
PHP = """<?php
use PHPUnit\\Framework\\TestCase;

final class {name}Test extends TestCase
{{
{tests}}}
"""
PHP_TESTS = [
    "    public function testSum{n}(): void\n    {{\n        $this->assertSame(range(0, {n}), range(0, 14)); // FAILS(testSum{n})\n    }}\n\n",
    "    public function testText{n}(): void\n    {{\n        $this->assertSame(str_repeat(\"line of {n}\\n\", 12), str_repeat(\"line of none\\n\", 12), 'the texts differ'); // FAILS(testText{n})\n    }}\n\n",
    "    public function testThrows{n}(): void\n    {{\n        throw new RuntimeException('order {n} is gone'); // FAILS(testThrows{n})\n    }}\n\n",
    "    public function testGood{n}(): void\n    {{\n        $this->assertTrue(true);\n    }}\n\n",
    "    public function testLater{n}(): void\n    {{\n        $this->markTestSkipped('not yet {n}');\n    }}\n\n",
]
RUBY_TESTS = [
    "  it 'sums {n}' do\n    expect({n} + 1).to eq({n}) # FAILS(Shop sums {n})\n  end\n\n",
    "  it 'has {n}' do\n    raise ArgumentError, 'order {n} is gone' # FAILS(Shop has {n})\n  end\n\n",
    "  it 'is good {n}' do\n    expect(true).to be(true)\n  end\n\n",
    "  xit 'waits {n}' do\n  end\n\n",
]
JAVA_TESTS = [
    "    @Test public void sums{n}() {{\n        assertEquals({n}, Price.of({n}) + 1); // FAILS(sums{n})\n    }}\n",
    "    @Test public void has{n}() {{\n        throw new IllegalStateException(\"order {n} is gone\"); // FAILS(has{n})\n    }}\n",
    "    @Test public void good{n}() {{\n    }}\n",
    "    @Ignore @Test public void later{n}() {{\n    }}\n",
]
JAVA_ERRORS = [
    "    int missing{n}() {{\n        return nowhere{n}; // FAILS({n})\n    }}\n",
    "    String wrong{n}() {{\n        return {n}; // FAILS({n})\n    }}\n",
    "    Unknown{n} field{n}; // FAILS({n})\n",
]
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.x</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
"""
MAVEN = ["mvn", "-o", "-B", "-Dmaven.repo.local=/usr/share/maven-repo"]
TEMPLATE = """#include <algorithm>
#include <vector>

struct Order { int amount; };

template <typename T>
int worth(const T& value) {
    return value.price(); // FAILS(inside)
}
"""
USES = [
    "\nvoid sort_{n}(std::vector<Order>& orders) {{\n    std::sort(orders.begin(), orders.end()); // USES(sort{n})\n}}\n",
    "\nstruct Item{n} {{ int amount; }};\nint of_{n}(const Item{n}& item) {{\n    return worth(item); // USES(worth{n})\n}}\n",
]


def text(kinds, many):
    return "".join(kinds[n % len(kinds)].format(n=n) for n in range(many))


def placed(files):
    """What marks in the sources say: places."""
    return [{"file": one["file"], "line": one["line"]} for one in named(files)]


def named(files):
    """The same with names; one name may be in several files."""
    found = [(path, marks({path: source})) for path, source in files.items()]
    return [{"name": tag, "file": path, "line": line} for path, tags in found for tag, (_, line) in tags.items()]


def from_marks(tool, name, files, argv, failures, counts, version, more=None, **how):
    record(tool, name, dict(files, **(more or {})), argv, lambda run, folder: (failures, counts), version=version,
           how="marks in the sources", **how)


def mypy(name, files, argv):
    version = "mypy 2.4"
    failures = placed(files)
    from_marks("mypy", name, files, [str(PYTHON / "mypy"), "--no-incremental", *argv, *files], failures,
               {"errors": len(failures)}, version)


def ruff(name, files, argv):
    """Ruff's own JSON of the same files."""
    words = [str(PYTHON / "ruff"), "check", "--no-cache", "--isolated"]

    def expect(run, _folder):
        found = json.loads(run([*words, "--output-format", "json", "."]).stdout)
        failures = [{"file": re.sub(r"^.*/project/", "", one["filename"]), "line": one["location"]["row"]} for one in found]
        return failures, {"errors": len(failures)}

    record("ruff", name, files, [*words, *argv, "."], expect, version="ruff 0.17", how="ruff --output-format json of the same files")


def templates(tool, name, argv, env=None, version=""):
    source = TEMPLATE + text(USES, 6)
    files = {"orders.cc": source}
    # What was compiled once is not compiled again.
    uses = [{"requiredFrom": f"{file}:{line}"} for tag, (file, line) in marks(files, "USES").items() if tag == "sort0" or "worth" in tag]
    record(tool, name, files, [*argv, "-c", "orders.cc"], lambda run, folder: (uses + placed(files), {}), env=env,
           version=version, how="marks in the source")


def main():
    prices = {f"price{n}.py": text(TYPES, 12) for n in range(4)}
    mypy("errors", prices, [])
    mypy("errors-pretty", prices, ["--pretty", "--show-column-numbers"])
    unclean = {f"rate{n}.py": text(UNCLEAN, 24) for n in range(3)} | {"broken.py": "def rate(:\n    pass\n"}
    ruff("errors", unclean, [])
    ruff("errors-concise", unclean, ["--output-format", "concise"])

    php = {f"tests/{name}Test.php": PHP.format(name=name, tests=text(PHP_TESTS, 10) + text(PHP_TESTS[3:4], 150).replace("Good", name)) for name in ("Cart", "Stock")}
    failures = [dict(one, name=f"{one['file'][6:-4]}::{one['name']}") for one in named(php)]
    from_marks("phpunit", "failing", php, ["phpunit", "tests"], failures,
               {"failed": 8, "errors": 4, "skipped": 4, "passed": 304}, "phpunit 9.6")
    good = {"tests/GoodTest.php": PHP.format(name="Good", tests=text([PHP_TESTS[3]], 320))}
    from_marks("phpunit", "passing", good, ["phpunit", "--testdox", "tests"], [], {"passed": 320}, "phpunit 9.6")

    ruby = {"spec/shop_spec.rb": f"RSpec.describe 'Shop' do\n{text(RUBY_TESTS, 60)}end\n"}
    from_marks("rspec", "failing", ruby, ["rspec"], named(ruby), {"failed": 30, "skipped": 15, "passed": 15}, "rspec 3.12")
    from_marks("rspec", "failing-documentation", ruby, ["rspec", "--format", "documentation"], named(ruby),
               {"failed": 30, "skipped": 15, "passed": 15}, "rspec 3.12")
    broken = {f"spec/broken{n}_spec.rb": f"\nnowhere_{n}_{'and_on' * 30} # FAILS({n})\n" for n in range(16)}
    from_marks("rspec", "not-loaded", broken, ["rspec"], placed(broken), {"errors": 16}, "rspec 3.12")

    main_class = {"src/main/java/shop/Price.java": "package shop;\npublic class Price {\n    public static int of(int a) { return a; }\n}\n"}
    tests = {f"src/test/java/shop/{name}Test.java": "package shop;\nimport org.junit.Ignore;\nimport org.junit.Test;\nimport static org.junit.Assert.*;\n"
             f"public class {name}Test {{\n{text(JAVA_TESTS, 24)}}}\n" for name in ("Cart", "Stock")}
    failures = [dict(one, file=one["file"].rsplit("/", 1)[1]) for one in named(tests)]
    failures = [dict(one, name=f"{one['name']}(shop.{one['file'][:-5]})") for one in failures]
    from_marks("maven", "tests-failing", tests, [*MAVEN, "test"], failures, {"failed": 24, "skipped": 12, "passed": 12, "errors": 1},
               "maven 3.8, surefire 2.22", more={"pom.xml": POM, **main_class})
    wrong = {"src/main/java/shop/Order.java": f"package shop;\npublic class Order {{\n{text(JAVA_ERRORS, 40)}}}\n"}
    from_marks("maven", "not-compiled", wrong, [*MAVEN, "compile"], placed(wrong), {"errors": 41}, "maven 3.8, compiler plugin 3.10",
               more={"pom.xml": POM})
    java = {"Order.java": f"public class Order {{\n{text(JAVA_ERRORS, 40)}}}\n"}
    from_marks("javac", "errors", java, ["javac", "-d", "out", "Order.java"], placed(java), {"errors": 40}, "javac 17")
    many = {"Order.java": f"public class Order {{\n{text(JAVA_ERRORS, 130)}}}\n"}
    first = placed(many)[:20]
    from_marks("javac", "too-many-errors", many, ["javac", "-Xmaxerrs", "100", "-d", "out", "Order.java"], first, {"errors": 130}, "javac 17")

    templates("gcc", "templates-required", ["g++"], version="gcc 12")
    if (TOOLS / "debian").exists():
        templates("clang", "templates-required", [CLANG + "++", "-ferror-limit=0"], env=ENV, version="clang 14")
