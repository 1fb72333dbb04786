"""A function of a Rust library that is still to be written."""

from play.intents import Change, Read, plans
from play.job import Job, commit, runs, write

LIB = '''//! Numbers of articles.

/// Returns the check digit of a number: the digits times 3 and 1 in turns, summed up, and what is missing to a multiple of ten.
pub fn check_digit(number: &str) -> u32 {
    todo!()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits() {
        assert_eq!(check_digit("123"), 6);
        assert_eq!(check_digit("0"), 0);
        assert_eq!(check_digit("99"), 4);
    }
}
'''
NEW = '''    let weights = [3, 1].into_iter().cycle();
    let sum: u32 = number.chars().filter_map(|it| it.to_digit(10)).zip(weights).map(|(digit, weight)| digit * weight).sum();
    (10 - sum % 10) % 10
'''


def make(folder):
    write(folder, {"Cargo.toml": '[package]\nname = "article"\nversion = "0.1.0"\nedition = "2021"\n', ".gitignore": "target/\n", "src/lib.rs": LIB})
    commit(folder)


def check(folder):
    return runs(folder, "cargo", "test", "--quiet", "--offline", "--lib")


JOB = Job(
    task="Write the function check_digit in src/lib.rs, so that its test passes.",
    make=make,
    check=check,
    plans=plans(
        Read("What does it have to do?", ["src/lib.rs"], shows="todo!()"),
        Change("Sum up with weights.", [("src/lib.rs", "    todo!()\n", NEW)], check="cargo test --lib 2>&1 | tail -12", shows="1 passed"),
    ),
)
