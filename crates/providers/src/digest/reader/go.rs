//! What `go test`, `go build` and `go vet` print.

use std::collections::HashMap;

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How many tests are followed at once, and how many failing ones of a package are kept.
const KEPT: usize = 5_000;

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Below `# PACKAGE`.
    Build,
    /// In the output of a package's tests.
    Tests,
    /// In a panic within it.
    Panic,
}

/// The reader.
#[derive(Debug)]
pub struct Go {
    facts: Facts,
    state: State,
    /// The test that the next line belongs to, with `-v`.
    current: Option<String>,
    /// The first line with a place of each test that has not ended.
    logs: HashMap<String, DigestItem>,
    /// The failing tests of this package.
    failed: Vec<DigestItem>,
    /// Which of them the lines below its name belong to.
    open: Option<usize>,
    panic: Option<DigestItem>,
    build_errors: u64,
    build_failed: u64,
    ok_packages: u64,
    failed_packages: Vec<String>,
    ran: bool,
}

impl Go {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Go),
            state: State::Outside,
            current: None,
            logs: HashMap::new(),
            failed: Vec::new(),
            open: None,
            panic: None,
            build_errors: 0,
            build_failed: 0,
            ok_packages: 0,
            failed_packages: Vec::new(),
            ran: false,
        }
    }

    /// A line of a package's tests.
    fn of_tests(&mut self, line: &str) -> Option<LineOwner> {
        let text = line.trim_start_matches(' ');
        if let Some(rest) = text.strip_prefix("--- ") {
            let (verdict, rest) = rest.split_once(": ")?;
            let name = rest.rsplit_once(" (")?.0;
            self.end_panic();
            match verdict {
                "FAIL" => {
                    let found = self.logs.remove(name).unwrap_or_else(|| DigestItem::named(name));
                    Counts::more(&mut self.facts.counts.failed, 1);
                    if self.failed.len() < KEPT {
                        self.failed.push(found);
                        self.open = Some(self.failed.len() - 1);
                    }
                }
                "PASS" => {
                    Counts::more(&mut self.facts.counts.passed, 1);
                    self.logs.remove(name);
                    self.open = None;
                }
                "SKIP" => {
                    Counts::more(&mut self.facts.counts.skipped, 1);
                    self.logs.remove(name);
                    self.open = None;
                }
                _ => return None,
            }
            self.current = None;
            self.state = State::Tests;
            return Some(LineOwner::Inside);
        }
        if let Some(rest) = line.strip_prefix("=== ") {
            let (verb, name) = rest.split_once(' ')?;
            if matches!(verb, "RUN" | "PAUSE" | "CONT" | "NAME") {
                self.end_panic();
                self.current = (verb != "PAUSE").then(|| name.trim_start().to_owned());
                self.open = None;
                self.state = State::Tests;
                return Some(LineOwner::Inside);
            }
        }
        None
    }

    /// The last line of a package.
    fn of_package(&mut self, line: &str) -> Option<LineOwner> {
        if let Some(rest) = line.strip_prefix("ok  \t") {
            self.ok_packages += 1;
            self.end_package(rest.split('\t').next().unwrap_or(rest), false);
            return Some(LineOwner::Line);
        }
        if let Some(rest) = line.strip_prefix("FAIL\t") {
            let name = rest.split(['\t', ' ']).next().unwrap_or(rest);
            let unbuilt = rest.ends_with("[build failed]") || rest.ends_with("[setup failed]");
            if unbuilt {
                self.build_failed += 1;
            }
            self.end_package(name, !unbuilt);
            return Some(LineOwner::Line);
        }
        if line.starts_with("?   \t") || (line.starts_with('\t') && line.contains("\tcoverage: ")) {
            self.facts.seen = true;
            return Some(LineOwner::Line);
        }
        None
    }

    fn end_package(&mut self, name: &str, failed: bool) {
        self.end_panic();
        self.facts.seen = true;
        self.facts.ended = true;
        self.ran = true;
        self.state = State::Outside;
        (self.current, self.open) = (None, None);
        self.logs.clear();
        let found = std::mem::take(&mut self.failed);
        if failed {
            if found.is_empty() {
                let mut package = DigestItem::named(name);
                package.say("FAIL");
                self.facts.failures.push(package);
            }
            if self.failed_packages.len() < 20 {
                self.failed_packages.push(name.to_owned());
            }
        }
        // A test that failed by its parts is told by them.
        for (at, one) in found.iter().enumerate() {
            let name = one.name.as_deref().unwrap_or_default();
            let is_part = |other: &DigestItem| {
                other
                    .name
                    .as_deref()
                    .is_some_and(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
            };
            // Parts are after their whole, or before it while they still run.
            let near = found.get(at + 1).is_some_and(is_part) || (at > 0 && is_part(&found[at - 1]));
            if !(near && one.line.is_none()) {
                self.facts.failures.push(one.clone());
            }
        }
    }

    fn log(&mut self, line: &str) {
        let text = line.trim_start();
        if text.len() == line.len() {
            return;
        }
        let Some(at) = place::leading(text).filter(|at| at.file.ends_with(".go") && !at.file.contains(' '))
        else {
            return;
        };
        if let Some(name) = &self.current {
            if self.logs.len() < KEPT && !self.logs.contains_key(name) {
                let mut found = DigestItem::named(name).at(at.file, at.line, None);
                found.say(at.rest);
                self.logs.insert(name.clone(), found);
            }
        } else if let Some(found) = self.open.and_then(|open| self.failed.get_mut(open))
            && found.line.is_none()
        {
            found.set_place(at.file, at.line, None);
            found.say(at.rest);
        }
    }

    fn begin_panic(&mut self, message: &str) {
        self.end_panic();
        self.panic = Some(DigestItem::saying(message));
        self.state = State::Panic;
    }

    fn in_panic(&mut self, line: &str) {
        let Some(panic) = &mut self.panic else { return };
        let Some(frame) = line.strip_prefix('\t') else { return };
        if let Some((name, _)) =
            frame.rsplit_once(" (").filter(|(name, _)| name.starts_with("Test") && !name.contains(' '))
        {
            // The list of what was running at the time limit.
            panic.name.get_or_insert_with(|| name.to_owned());
            return;
        }
        let frame = frame.split(" +0x").next().unwrap_or(frame);
        if panic.line.is_none()
            && let Some(at) = place::whole(frame)
            && at.file.ends_with(".go")
            && !is_of_go(at.file)
        {
            panic.set_place(at.file, at.line, None);
        }
    }

    fn end_panic(&mut self) {
        let Some(mut panic) = self.panic.take() else { return };
        self.state = State::Tests;
        // The test that panics is named just before; one that hangs was named when it began.
        if let Some(found) = self.open.and_then(|open| self.failed.get_mut(open)) {
            (found.file, found.line, found.column) = (panic.file, panic.line, panic.column);
            found.message = panic.message;
            return;
        }
        if panic.name.is_none() {
            panic.name = self.current.take();
        }
        if self.failed.len() < KEPT {
            self.failed.push(panic);
        }
    }

    fn in_build(&mut self, line: &str) -> Option<LineOwner> {
        let text = line.strip_prefix("vet: ").unwrap_or(line);
        if line.starts_with('\t') || text.starts_with("too many errors") || line.starts_with("# ") {
            return Some(LineOwner::Inside);
        }
        let at = place::leading(text)?;
        if !at.file.ends_with(".go") && !at.file.ends_with(".s") && !at.file.ends_with("go.mod") {
            return None;
        }
        let mut found = DigestItem::saying(at.rest);
        found.set_place(at.file.strip_prefix("./").unwrap_or(at.file), at.line, at.column);
        if at.rest.starts_with("too many errors") {
            return Some(LineOwner::Inside);
        }
        self.build_errors += 1;
        self.facts.seen = true;
        self.facts.failures.push(found);
        Some(LineOwner::Inside)
    }
}

impl Reader for Go {
    fn line(&mut self, line: &str) -> LineOwner {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        if matches!(first, b'o' | b'F' | b'?' | b'\t')
            && let Some(take) = self.of_package(line)
        {
            return take;
        }
        match self.state {
            State::Outside => {
                if first == b'#'
                    && line.len() > 2
                    && line.starts_with("# ")
                    && !line[2..].starts_with(['#', ' '])
                {
                    self.state = State::Build;
                    return LineOwner::Inside;
                }
                if matches!(first, b'=' | b'-')
                    && let Some(take) = self.of_tests(line)
                {
                    return take;
                }
                if line == "FAIL" && self.ran { LineOwner::Line } else { LineOwner::Pass }
            }
            State::Build => match self.in_build(line) {
                Some(take) => take,
                None => {
                    self.state = State::Outside;
                    if matches!(first, b'=' | b'-') {
                        self.of_tests(line).unwrap_or(LineOwner::Pass)
                    } else {
                        LineOwner::Pass
                    }
                }
            },
            State::Tests | State::Panic => {
                if matches!(first, b'=' | b'-' | b' ')
                    && let Some(take) = self.of_tests(line)
                {
                    return take;
                }
                if let Some(message) = line.strip_prefix("panic: ")
                    && self.state == State::Tests
                {
                    self.begin_panic(message);
                } else if self.state == State::Panic {
                    self.in_panic(line);
                } else if first == b' ' {
                    self.log(line);
                }
                LineOwner::Inside
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Facts {
        if matches!(self.state, State::Tests | State::Panic) {
            self.facts.doubt("the output breaks off");
        }
        let facts = &mut self.facts;
        if self.build_errors > 0 {
            facts.ended = true;
            Counts::more(&mut facts.counts.errors, self.build_errors);
        }
        if self.build_failed > 0 {
            facts.summarize(&format!("{} packages were not built", self.build_failed));
        }
        if !self.failed_packages.is_empty() {
            facts.summarize(&format!("FAIL {}", self.failed_packages.join(", ")));
        }
        if self.ok_packages > 0 {
            facts.summarize(&format!("{} packages ok", self.ok_packages));
        }
        self.facts
    }
}

/// Returns whether a file belongs to Go itself.
fn is_of_go(file: &str) -> bool {
    let own =
        ["/src/testing/", "/src/runtime/", "/src/time/", "/src/sync/", "/src/internal/", "_testmain.go"];
    own.iter().any(|own| file.contains(own)) || (file.contains("/go-1.") && file.contains("/src/"))
}
