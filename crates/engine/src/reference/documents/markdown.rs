//! Small pieces of Markdown.

/// Creates a table; no text at all where there are no rows.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = row(head.iter().copied());
    text.push_str(&row(head.iter().map(|_| "---")));
    for cells in rows {
        text.push_str(&row(cells.iter().map(String::as_str)));
    }
    text
}

fn row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(|cell| one_line(cell).replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Puts a description on one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Sets a text as code.
pub fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Joins texts as code, with commas.
pub fn codes<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(", ")
}
