"""Outputs of tools that are not to be had here, in the form that their documents and sources give: Gradle, the compiler of
Kotlin, .NET, Swift. The words are made up; what is known of them is what they were made of.
"""

import json
import os

from .case import LOGS


def log(tool, name, argv, lines, failures, counts, exit_code=1, stream="out", how="made up of these"):
    only = os.environ.get("ONLY")
    if only and only not in f"{tool}/{name}":
        return
    place = LOGS / tool
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.{stream}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = {"tool": tool, "argv": argv, "version": "", "exitCode": exit_code, "knownBy": how, "counts": counts, "failures": failures}
    (place / f"{name}.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def gradle_end(tasks):
    lines = []
    if len(tasks) == 1:
        lines += ["", "FAILURE: Build failed with an exception.", ""]
    else:
        lines += ["", f"FAILURE: Build completed with {len(tasks)} failures.", ""]
    for number, (task, why) in enumerate(tasks, 1):
        if len(tasks) > 1:
            lines += [f"{number}: Task failed with an exception.", "-----------"]
        lines += ["* What went wrong:", f"Execution failed for task '{task}'.", f"> {why}", "",
                  "* Try:", "> Run with --stacktrace option to get the stack trace.", "> Run with --info or --debug option to get more log output.",
                  "> Get more help at https://help.gradle.org.", ""]
        if len(tasks) > 1:
            lines += ["=" * 78, ""]
    return [*lines, "BUILD FAILED in 14s", "7 actionable tasks: 4 executed, 3 up-to-date"]


def gradle():
    before = ["> Task :compileJava", "> Task :processResources NO-SOURCE", "> Task :classes", "> Task :compileTestJava", "> Task :testClasses", "", "> Task :test FAILED", ""]
    lines, failures = list(before), []
    for n in range(30):
        name = f"StockTest > Nested > takes{n}(int)" if n % 3 else f"CartTest > sums{n}()"
        file = "StockTest.java" if n % 3 else "CartTest.java"
        if n % 2:
            lines += [f"{name} FAILED", f"    java.lang.IllegalStateException: order {n} is gone",
                      "        at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:39)",
                      f"        at shop.{file[:-5]}.check({file}:{n + 10})",
                      "        at java.base/java.lang.reflect.Method.invoke(Method.java:568)", ""]
        else:
            lines += [f"{name} FAILED", f"    org.opentest4j.AssertionFailedError at {file}:{n + 10}", ""]
        failures.append({"name": name, "file": file, "line": n + 10})
    lines += ["44 tests completed, 30 failed, 2 skipped"]
    lines += gradle_end([(":test", "There were failing tests. See the report at: file:///project/build/reports/tests/test/index.html")])
    log("gradle", "tests-failing", ["./gradlew", "test"], lines, [*failures, {"name": ":test"}],
        {"passed": 12, "failed": 30, "skipped": 2, "errors": 1})

    lines, failures = ["> Task :app:compileJava FAILED", "> Task :lib:compileKotlin FAILED"], []
    for n in range(25):
        file = f"/project/app/src/main/java/shop/Order{n % 4}.java"
        lines += [f"{file}:{n + 3}: error: cannot find symbol", f"        return nowhere{n};", "               ^",
                  f"  symbol:   variable nowhere{n}", f"  location: class Order{n % 4}"]
        failures.append({"file": file, "line": n + 3})
    lines += ["25 errors"]
    for n in range(12):
        file = f"/project/lib/src/main/kotlin/Price{n % 3}.kt"
        lines += [f"e: file://{file}:{n + 5}:9 Unresolved reference: missing{n}", f"w: file://{file}:{n + 50}:5 Variable 'unused{n}' is never used"]
        failures.append({"file": file, "line": n + 5})
    lines += gradle_end([(":app:compileJava", "Compilation failed; see the compiler error output for details."),
                         (":lib:compileKotlin", "Compilation error. See log for more details")])
    log("gradle", "not-compiled", ["gradle", "build", "--continue"], lines,
        [*failures, {"name": ":app:compileJava"}, {"name": ":lib:compileKotlin"}], {"errors": 39, "warnings": 12})

    wide = [f"> Task :part{n}:compileJava UP-TO-DATE" for n in range(140)]
    log("gradle", "script-fails", ["gradle", "build"],
        [*wide, "", "FAILURE: Build failed with an exception.", "", "* Where:", "Build file '/project/build.gradle' line: 12", "",
         "* What went wrong:", "A problem occurred evaluating root project 'shop'.", "> Could not find method implementatoin() for arguments [x]",
         "", "* Try:", "> Run with --stacktrace option to get the stack trace.", "", "BUILD FAILED in 1s"],
        [{"file": "/project/build.gradle", "line": 12}], {"errors": 1})
    log("gradle", "passing", ["gradle", "build"], [*wide, "", "BUILD SUCCESSFUL in 3s", "140 actionable tasks: 140 up-to-date"], [], {}, exit_code=0)


    # Streams that are apart, and what compilers print shown again, as since Gradle 8.11.
    errors, again, failures = [], [], []
    for n in range(20):
        file = f"/project/src/main/java/shop/Order{n % 4}.java"
        error = [f"{file}:{n + 3}: error: cannot find symbol", f"        return nowhere{n};", "               ^",
                 f"  symbol:   variable nowhere{n}", f"  location: class Order{n % 4}"]
        errors += error
        again += [f"  {line}" for line in error]
        failures.append({"file": file, "line": n + 3})
    log("gradle", "not-compiled-again", ["./gradlew", "build"],
        ["> Task :compileJava FAILED", "", "[Incubating] Problems report is available at: file:///project/build/reports/problems/problems-report.html",
         "1 actionable task: 1 executed"], [*failures, {"name": ":compileJava"}], {"errors": 21})
    log("gradle", "not-compiled-again", ["./gradlew", "build"],
        [*errors, "20 errors", "", "FAILURE: Build failed with an exception.", "", "* What went wrong:",
         "Execution failed for task ':compileJava' (registered by plugin 'org.gradle.java').", "> Compilation failed; see the compiler output below.", *again, "  20 errors", "",
         "* Try:", "> Check your code and dependencies to fix the compilation error(s)", "> Run with --scan to get full insights.", "", "BUILD FAILED in 4s"],
        [*failures, {"name": ":compileJava"}], {"errors": 21}, stream="err")

    lines, failures = list(before), []
    for n in range(24):
        lines += [f"CartTest > sums{n}() FAILED", f"    org.opentest4j.AssertionFailedError: expected: <{n}> but was: <{n + 1}>",
                  "        at app//org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)",
                  f"        at app//shop.CartTest.sums{n}(CartTest.java:{n + 10})", ""]
        failures.append({"name": f"CartTest > sums{n}()", "file": "CartTest.java", "line": n + 10})
    known = [*failures, {"name": ":test"}], {"passed": 6, "failed": 24, "errors": 1}
    log("gradle", "tests-failing-apart", ["./gradlew", "test"], [*lines, "4 actionable tasks: 1 executed, 3 up-to-date"], *known)
    end = gradle_end([(":test", "There were failing tests. See the report at: file:///project/build/reports/tests/test/index.html")])
    log("gradle", "tests-failing-apart", ["./gradlew", "test"], ["30 tests completed, 24 failed", *end[:-1]], *known, stream="err")


def kotlin():
    lines, failures = [], []
    for n in range(40):
        file = f"/project/src/Price{n % 5}.kt"
        lines += [f"{file}:{n + 5}:9: error: unresolved reference: missing{n}", f"    val price = missing{n} + 1", "                ^"]
        failures.append({"file": file, "line": n + 5})
    log("kotlinc", "errors", ["kotlinc", "src"], lines, failures, {"errors": 40}, stream="err")


def dotnet():
    restored = ["  Determining projects to restore...", "  All projects are up-to-date for restore."]
    errors, failures = [], []
    for n in range(24):
        file = f"/project/Shop/Order{n % 4}.cs"
        errors.append(f"{file}({n + 3},13): error CS0103: The name 'nowhere{n}' does not exist in the current context [/project/Shop/Shop.csproj]")
        failures.append({"file": file, "line": n + 3})
    errors.append("/project/Api/Api.csproj : error NU1101: Unable to find package Missing.Thing. No packages exist with this id in source(s): local")
    failures.append({"file": "/project/Api/Api.csproj"})
    warnings = [f"/project/Shop/Stock.cs({n + 3},9): warning CS0219: The variable 'unused{n}' is assigned but its value is never used [/project/Shop/Shop.csproj]" for n in range(6)]
    lines = [*restored, *warnings, *errors, "", "Build FAILED.", "", *warnings, *errors, "    6 Warning(s)", "    25 Error(s)", "", "Time Elapsed 00:00:03.41"]
    log("dotnet", "not-built", ["dotnet", "build"], lines, failures, {"errors": 25, "warnings": 6})

    lines, failures = [*restored, "  Shop.Tests -> /project/Shop.Tests/bin/Debug/net8.0/Shop.Tests.dll",
                       "Test run for /project/Shop.Tests/bin/Debug/net8.0/Shop.Tests.dll (.NETCoreApp,Version=v8.0)",
                       "Starting test execution, please wait...", "A total of 1 test files matched the specified pattern."], []
    for n in range(28):
        name, file = f"Shop.Tests.PriceTests.Sums{n}(amount: {n})", f"/project/Shop.Tests/PriceTests{n % 3}.cs"
        lines += [f"  Failed {name} [{n + 1} ms]", "  Error Message:", "   Assert.Equal() Failure: Values differ", f"Expected: {n}", f"Actual:   {n + 1}",
                  "  Stack Trace:", f"     at Shop.Tests.Helpers.Check(Int32 a) in /project/Shop.Tests/Helpers.cs:line {n + 70}",
                  f"   at Shop.Tests.PriceTests.Sums{n}(Int32 amount) in {file}:line {n + 12}",
                  "   at System.RuntimeMethodHandle.InvokeMethod(Object target, Void** arguments, Signature sig, Boolean isConstructor)"]
        if n % 5 == 0:
            lines += ["  Standard Output Messages:", f" looking at order {n}", ""]
        failures.append({"name": name, "file": file, "line": n + 12})
    lines += ["", "Failed!  - Failed:    28, Passed:    40, Skipped:     3, Total:    71, Duration: 128 ms - Shop.Tests.dll (net8.0)"]
    log("dotnet", "tests-failing", ["dotnet", "test"], lines, failures, {"failed": 28, "passed": 40, "skipped": 3})


    # What a more detailed logger prints, with the lines of xUnit between it.
    lines, failures = ["Test run for /project/Shop.Tests/bin/Debug/net8.0/Shop.Tests.dll (.NETCoreApp,Version=v8.0)", "Starting test execution, please wait...",
                       "A total of 1 test files matched the specified pattern.", "[xUnit.net 00:00:00.00] xUnit.net VSTest Adapter v2.5.3.1+6b60a9e56a (64-bit .NET 8.0.1)",
                       "[xUnit.net 00:00:00.22]   Starting:    Shop.Tests"], []
    for n in range(24):
        name, file = f"Shop.Tests.StockTests.Has{n}", f"/project/Shop.Tests/StockTests{n % 3}.cs"
        if n % 3 == 0:
            lines += [f"  Passed Shop.Tests.StockTests.Is{n} [< 1 ms]"]
        said = ["Assert.True() Failure", "Expected: True", "Actual:   False"]
        lines += [f"[xUnit.net 00:00:00.{n + 30}]     {name} [FAIL]", *[f"[xUnit.net 00:00:00.{n + 30}]       {line}" for line in said],
                  f"  Failed {name} [{n + 1} ms]", "  Error Message:", f"   {said[0]}", *said[1:], "  Stack Trace:",
                  f"     at {name}() in {file}:line {n + 12}", "   at System.Reflection.MethodBaseInvoker.InvokeWithNoArgs(Object obj, BindingFlags invokeAttr)"]
        failures.append({"name": name, "file": file, "line": n + 12})
    lines += ["[xUnit.net 00:00:00.60]   Finished:    Shop.Tests", "", "Test Run Failed.", "Total tests: 33", "     Passed: 8", "     Failed: 24", "    Skipped: 1", " Total time: 1.0662 Seconds"]
    log("dotnet", "tests-failing-normal", ["dotnet", "test", "--logger", "console;verbosity=normal"], lines, failures, {"failed": 24, "passed": 8, "skipped": 1})


def swift():
    lines, failures = ["Building for debugging...", "[1/9] Compiling Shop Price.swift"], []
    for n in range(30):
        file = f"/project/Sources/Shop/Price{n % 4}.swift"
        lines += [f"{file}:{n + 4}:16: error: cannot find 'missing{n}' in scope", f"        return missing{n}", "               ^~~~~~~~"]
        failures.append({"file": file, "line": n + 4})
    lines += ["error: fatalError"]
    log("swift", "not-built", ["swift", "build"], lines, failures, {"errors": 30})

    lines, failures = ["Test Suite 'All tests' started at 2024-05-01 10:00:00.000", "Test Suite 'debug.xctest' started at 2024-05-01 10:00:00.001",
                       "Test Suite 'PriceTests' started at 2024-05-01 10:00:00.001"], []
    for n in range(40):
        lines += [f"Test Case 'PriceTests.testSum{n}' started at 2024-05-01 10:00:00.{n:03}"]
        if n % 2:
            file = f"/project/Tests/ShopTests/PriceTests{n % 3}.swift"
            lines += [f'{file}:{n + 8}: error: PriceTests.testSum{n} : XCTAssertEqual failed: ("{n}") is not equal to ("{n + 1}") - ']
            failures.append({"name": f"PriceTests.testSum{n}", "file": file, "line": n + 8})
        lines += [f"Test Case 'PriceTests.testSum{n}' {'failed' if n % 2 else 'passed'} (0.001 seconds)"]
    for suite in ("PriceTests", "debug.xctest", "All tests"):
        lines += [f"Test Suite '{suite}' failed at 2024-05-01 10:00:01.000",
                  "\t Executed 40 tests, with 20 failures (0 unexpected) in 0.04 (0.04) seconds"]
    log("swift", "xctest-failing", ["swift", "test"], lines, failures, {"failed": 20})

    lines, failures = ["◇ Test run started.", "↳ Testing Library Version: 6.0.3", '◇ Suite "Prices" started.'], []
    for n in range(40):
        lines += [f"◇ Test sums{n}() started."]
        if n % 2:
            lines += [f"✘ Test sums{n}() recorded an issue at PriceTests.swift:{n + 9}:5: Expectation failed: (price({n}) → {n}) == {n + 1}",
                      f"✘ Test sums{n}() failed after 0.001 seconds with 1 issue."]
            failures.append({"name": f"sums{n}()", "file": "PriceTests.swift", "line": n + 9})
        else:
            lines += [f"✔ Test sums{n}() passed after 0.001 seconds."]
    lines += ['✘ Suite "Prices" failed after 0.05 seconds with 20 issues.', "✘ Test run with 40 tests failed after 0.051 seconds with 20 issues."]
    log("swift", "testing-failing", ["swift", "test"], lines, failures, {"failed": 20})


    # With arguments, with words below an issue, and one that has no place.
    lines, failures = ["◇ Test run started.", "↳ Testing Library Version: 6.1", "↳ Target Platform: x86_64-unknown-linux-gnu", "◇ Suite PriceTests started."], []
    for n in range(30):
        lines += [f"◇ Test case passing 1 argument amount → {n} to price(amount:) started.",
                  f'✘ Test price(amount:) recorded an issue with 1 argument amount → {n} at PriceTests.swift:{n + 9}:7: Expectation failed: (price({n}) → {n}) == {n + 1}',
                  f"↳ order {n} costs more"]
        failures.append({"name": "price(amount:)", "file": "PriceTests.swift", "line": n + 9})
    lines += ['✘ Test "An order is kept" recorded an issue: Caught error: OrderError.gone']
    failures.append({"name": '"An order is kept"'})
    lines += ['✘ Test "An order is kept" failed after 0.001 seconds with 1 issue.', "✘ Test price(amount:) with 30 test cases failed after 0.01 seconds with 30 issues.",
              "✘ Suite PriceTests failed after 0.05 seconds with 31 issues.", "✘ Test run with 2 tests in 1 suite failed after 0.051 seconds with 31 issues."]
    log("swift", "testing-arguments", ["swift", "test"], lines, failures, {"failed": 31})


def main():
    gradle()
    kotlin()
    dotnet()
    swift()
