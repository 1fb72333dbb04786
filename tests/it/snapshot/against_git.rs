//! The same changes, told by Git.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use super::scope::{SnapshotScope, soon};
use crate::git::person_git;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

#[test]
fn lines_are_counted_as_git_counts_them_over_many_edits() {
    let world = SnapshotScope::new(json!({}));
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for file in 0..60 {
        let length = 1 + numbers.below(300);
        let text = (0..length).map(|_| format!("line {}\n", numbers.below(80))).collect::<Vec<String>>();
        world.write(format!("d{}/f{file}.txt", file % 5), text.concat());
        texts.push(text);
    }
    let git = |words: &[&str]| {
        let output = person_git(&world.beside("canary-home"), &world.path("."), words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "before"]);
    let before = world.take();
    for (file, text) in texts.iter_mut().enumerate() {
        let path = format!("d{}/f{file}.txt", file % 5);
        match numbers.below(6) {
            0 => fs::remove_file(world.path(&path)).expect("it is there"),
            1 => {}
            _ => {
                for _ in 0..=numbers.below(40) {
                    let at = usize::try_from(numbers.below(text.len() as u64 + 1)).expect("it is small");
                    match numbers.below(3) {
                        0 if at < text.len() => drop(text.remove(at)),
                        _ => text.insert(at, format!("line {}\n", numbers.below(90))),
                    }
                }
                world.write(&path, text.concat());
            }
        }
    }
    world.write("new/file.txt", "x\ny\n");
    git(&["add", "-A"]);
    let printed = git(&["diff", "--cached", "--numstat", "--minimal", "--no-renames"]);
    let theirs: BTreeMap<String, (u64, u64)> = String::from_utf8_lossy(&printed)
        .lines()
        .map(|line| {
            let mut parts = line.split('\t');
            let mut number = || parts.next().and_then(|part| part.parse().ok()).expect("a number");
            let counts = (number(), number());
            (parts.next().expect("a path").to_owned(), counts)
        })
        .collect();
    let changes = before.compare(&soon()).expect("they are compared");
    let ours: BTreeMap<String, (u64, u64)> = changes
        .files
        .iter()
        .map(|file| {
            let counts = (file.insertions.expect("text"), file.deletions.expect("text"));
            (file.path.clone(), counts)
        })
        .collect();
    assert!(ours.len() > 30, "{} files changed", ours.len());
    assert_eq!(ours, theirs);
}
