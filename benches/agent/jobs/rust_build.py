"""A Rust program that does not build."""

from play.intents import Change, Read, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    ".gitignore": "target/\n",
    "src/main.rs": '''mod stock;

fn main() {
    let mut stock = stock::Stock::default();
    stock.add("pen", 3);
    println!("{}", stock.report());
}
''',
    "src/stock.rs": '''use std::collections::BTreeMap;

/// What is in the warehouse.
#[derive(Default)]
pub struct Stock {
    counts: BTreeMap<String, u32>,
}

impl Stock {
    /// Adds some of a thing.
    pub fn add(&self, name: &str, count: u32) {
        *self.counts.entry(name.to_owned()).or_default() += count;
    }

    /// A line for each thing.
    pub fn report(&self) -> String {
        self.counts.iter().map(|(name, count)| format!("{name}: {count}\\n")).collect()
    }
}

#[test]
fn what_is_added_is_reported() {
    let mut stock = Stock::default();
    stock.add("pen", 2);
    stock.add("pen", 1);
    assert_eq!(stock.report(), "pen: 3\\n");
}
''',
}
OLD = "    pub fn add(&self, name: &str, count: u32) {\n"
NEW = "    pub fn add(&mut self, name: &str, count: u32) {\n"


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    return runs(folder, "cargo", "test", "--quiet", "--offline")


JOB = Job(
    task="`cargo test` does not build. Fix it.",
    make=make,
    check=check,
    plans=plans(
        Run("See what the compiler says.", "cargo test 2>&1 | tail -40", shows="src/stock.rs"),
        Read("How is the function declared?", ["src/stock.rs"], shows="&self, name"),
        Change("It changes the counts, so it needs &mut self.", [("src/stock.rs", OLD.strip(), NEW.strip())],
               check="cargo test 2>&1 | tail -12", shows="1 passed"),
    ),
)
