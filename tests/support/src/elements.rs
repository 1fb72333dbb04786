//! The elements of windows as answers list them.

use serde_json::Value;

/// The role that the letter of an id means where none is written, and the roles of that letter that are always written.
const ROLES: [(char, &str, &[&str]); 9] = [
    ('B', "button", &["toggle button", "combo box"]),
    ('C', "check box", &["switch"]),
    ('I', "image", &[]),
    ('L', "link", &[]),
    ('M', "menu item", &["menu"]),
    ('N', "tab", &[]),
    ('R', "radio button", &[]),
    ('T', "text field", &["password field", "document"]),
    ('X', "label", &["heading", "terminal", "other"]),
];

/// Returns the lines of an answer, with the role in each.
pub fn lines(seen: &Value) -> Vec<String> {
    let all = seen["elements"].as_array().expect("elements").iter();
    all.filter_map(Value::as_str).map(with_role).collect()
}

/// Returns the id of the one element whose line contains a text, with its snapshot.
pub fn element(seen: &Value, text: &str) -> String {
    let found: Vec<String> = lines(seen).into_iter().filter(|line| line.contains(text)).collect();
    assert_eq!(found.len(), 1, "{text}: {seen:#}");
    let id = found[0].split(' ').next().expect("an id");
    format!("{id}@{}", seen["snapshot"].as_str().expect("a snapshot"))
}

/// Returns what lines cost a client, by the 3.4 characters of such text that a token has, as the agent benchmark counts them.
pub fn tokens(seen: &Value) -> usize {
    let all = seen["elements"].as_array().expect("elements").iter();
    let lines: Vec<&str> = all.filter_map(Value::as_str).collect();
    lines.join("\n").len() * 10 / 34
}

/// Writes the role into a line that leaves it to the letter of its id.
pub fn with_role(line: &str) -> String {
    let (id, rest) = line.split_once(' ').unwrap_or((line, ""));
    let of_letter = ROLES.iter().find(|(letter, ..)| id.starts_with(*letter));
    match of_letter {
        Some((_, usual, written)) if !written.iter().any(|role| rest.starts_with(role)) => {
            format!("{id} {usual} {rest}").trim_end().to_owned()
        }
        _ => line.to_owned(),
    }
}
