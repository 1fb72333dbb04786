//! The examples in the help of commands. A test runs each of them.
//!
//! Words in capitals stand for ids that a command before prints.

/// Blocks that an empty line ends: the name of a command without the program, and its examples.
const EXAMPLES: &str = include_str!("examples.txt");

/// Returns the examples of a command, which is named without the program.
pub fn examples(command: &str) -> Option<Vec<&'static str>> {
    let name = format!("[{command}]");
    EXAMPLES.trim_end().split("\n\n").find_map(|block| {
        let mut lines = block.lines();
        (lines.next()? == name).then(|| lines.collect())
    })
}
