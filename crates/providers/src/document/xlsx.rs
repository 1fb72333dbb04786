//! XLSX: each sheet as rows, cells with tabs between them, as they were last computed.

use std::collections::HashMap;

use super::ConvertError;
use super::convert::Text;
use super::markup::Node;
use super::package::Package;

/// How much text the strings of all sheets may have together.
const MAX_STRING_BYTES: usize = 64 << 20;
/// How many columns a row can have.
const MAX_COLUMNS: usize = 16_384;
/// The days from 1899-12-30, the day 0 of dates, to 1970-01-01.
const EPOCH_DAYS: i64 = 25_569;
/// The last day that a date can be, 9999-12-31.
const LAST_DAY: f64 = 2_958_465.0;

pub(super) fn convert(content: &[u8], text: &mut Text) -> Result<(), ConvertError> {
    let package = Package::open(content)?;
    let sheets = sheets(&package)?;
    let strings = strings(&package, text)?;
    let dates = dates(&package)?;
    for (name, path) in sheets {
        if text.is_full() {
            break;
        }
        text.end_line();
        text.push(&format!("[sheet {name}]\n"));
        sheet(&package, &path, &strings, &dates, text)?;
    }
    Ok(())
}

/// Returns names and entries of the sheets, in their order.
fn sheets(package: &Package<'_>) -> Result<Vec<(String, String)>, ConvertError> {
    let mut targets = HashMap::new();
    if let Some(mut markup) = package.entry("xl/_rels/workbook.xml.rels")? {
        while let Some(node) = markup.next()? {
            if let (Some(id), Some(target)) = (node.attribute("Id"), node.attribute("Target")) {
                let path = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
                targets.insert(id.to_owned(), path);
            }
        }
    }
    let mut markup = package.entry("xl/workbook.xml")?.ok_or(ConvertError::Damaged)?;
    let mut sheets = Vec::new();
    while let Some(node) = markup.next()? {
        if matches!(&node, Node::Start(element, _) if element == "sheet")
            && let (Some(name), Some(id)) = (node.attribute("name"), node.attribute("id"))
            && let Some(path) = targets.get(id)
        {
            sheets.push((name.to_owned(), path.clone()));
        }
    }
    Ok(sheets)
}

/// Returns the strings that cells refer to by number.
fn strings(package: &Package<'_>, text: &mut Text) -> Result<Vec<String>, ConvertError> {
    let mut strings = Vec::new();
    let Some(mut markup) = package.entry("xl/sharedStrings.xml")? else { return Ok(strings) };
    let (mut current, mut is_text, mut phonetic, mut bytes) = (String::new(), false, false, 0);
    while let Some(node) = markup.next()? {
        match node {
            Node::Start(name, _) if name == "rPh" => phonetic = true,
            Node::End(name) if name == "rPh" => phonetic = false,
            Node::Start(name, _) if name == "t" => is_text = !phonetic,
            Node::End(name) if name == "t" => is_text = false,
            Node::Text(piece) if is_text => current.push_str(&piece),
            Node::End(name) if name == "si" => {
                bytes += current.len();
                strings.push(std::mem::take(&mut current));
                if bytes > MAX_STRING_BYTES || text.is_full() {
                    break;
                }
            }
            _ => {}
        }
    }
    Ok(strings)
}

/// Returns which styles of cells show dates and times.
fn dates(package: &Package<'_>) -> Result<Vec<bool>, ConvertError> {
    let (mut formats, mut styles, mut is_cell) = (HashMap::new(), Vec::new(), false);
    let Some(mut markup) = package.entry("xl/styles.xml")? else { return Ok(styles) };
    while let Some(node) = markup.next()? {
        let number = |name: &str| node.attribute(name).and_then(|id| id.parse::<u32>().ok());
        match &node {
            Node::Start(name, _) if name == "numFmt" => {
                let code = node.attribute("formatCode").unwrap_or_default();
                formats.extend(number("numFmtId").map(|id| (id, is_date_format(code))));
            }
            Node::Start(name, _) if name == "cellXfs" => is_cell = true,
            Node::End(name) if name == "cellXfs" => is_cell = false,
            Node::Start(name, _) if name == "xf" && is_cell => {
                let id = number("numFmtId").unwrap_or(0);
                let built_in = matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58);
                styles.push(formats.get(&id).copied().unwrap_or(built_in));
            }
            _ => {}
        }
    }
    Ok(styles)
}

/// Returns whether a format shows a date or a time, by its letters outside of quotes and brackets.
fn is_date_format(code: &str) -> bool {
    let mut outside = None;
    let mut letters = code.chars();
    while let Some(c) = letters.next() {
        match (c, outside) {
            ('"', Some('"')) | (']', Some(']')) => outside = None,
            ('"', None) => outside = Some('"'),
            ('[', None) => outside = Some(']'),
            ('\\' | '_', None) => drop(letters.next()),
            ('y' | 'd' | 'h' | 's' | 'Y' | 'D' | 'H' | 'S', None) => return true,
            _ => {}
        }
    }
    false
}

/// A cell, as far as it is read.
#[derive(Default)]
struct Cell {
    kind: String,
    is_date: bool,
    value: String,
    formula: String,
    inline: String,
}

fn sheet(
    package: &Package<'_>,
    path: &str,
    strings: &[String],
    dates: &[bool],
    text: &mut Text,
) -> Result<(), ConvertError> {
    let Some(mut markup) = package.entry(path)? else { return Ok(()) };
    let (mut cell, mut inside, mut column) = (Cell::default(), String::new(), 0_usize);
    while let Some(node) = markup.next()? {
        match &node {
            Node::Start(name, _) => match name.as_str() {
                "row" => column = 0,
                "c" => {
                    let style = node.attribute("s").and_then(|style| style.parse::<usize>().ok());
                    cell = Cell {
                        kind: node.attribute("t").unwrap_or_default().to_owned(),
                        is_date: dates.get(style.unwrap_or(0)).copied().unwrap_or(false),
                        ..Cell::default()
                    };
                    // Cells that are empty are left out.
                    let at = node.attribute("r").and_then(column_of).unwrap_or(column);
                    for _ in column..at {
                        text.push("\t");
                    }
                    column = column.max(at);
                }
                "v" | "f" | "t" => inside.clone_from(name),
                _ => {}
            },
            Node::Text(piece) => match inside.as_str() {
                "v" => cell.value.push_str(piece),
                "f" => cell.formula.push_str(piece),
                "t" => cell.inline.push_str(piece),
                _ => {}
            },
            Node::End(name) => match name.as_str() {
                "v" | "f" | "t" => inside.clear(),
                // One line for each row.
                "c" => text.push(&cell.show(strings).replace(['\n', '\t'], " ")),
                "row" => {
                    if text.is_full() {
                        return Ok(());
                    }
                    text.end_line();
                }
                _ => {}
            },
        }
    }
    Ok(())
}

impl Cell {
    fn show(&self, strings: &[String]) -> String {
        match self.kind.as_str() {
            "s" => self
                .value
                .trim()
                .parse()
                .ok()
                .and_then(|at: usize| strings.get(at))
                .cloned()
                .unwrap_or_default(),
            "inlineStr" => self.inline.clone(),
            "b" => if self.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" if self.is_date => {
                self.value.trim().parse().ok().and_then(date).unwrap_or_else(|| self.value.clone())
            }
            _ if self.value.is_empty() && !self.formula.is_empty() => format!("={}", self.formula),
            _ => self.value.clone(),
        }
    }
}

/// Returns the column of a cell's name, counted from 0: 27 for `AB3`.
fn column_of(name: &str) -> Option<usize> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).take(4);
    let number =
        letters.fold(0_usize, |sum, letter| sum * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1).filter(|column| *column < MAX_COLUMNS)
}

/// Writes a number of days as a date, with the time where there is one.
fn date(days: f64) -> Option<String> {
    if !(0.0..=LAST_DAY).contains(&days) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within the range")]
    let seconds = (days * 86_400.0).round() as i64;
    let (day, second) = (seconds / 86_400 - EPOCH_DAYS, seconds % 86_400);
    let time = format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    if days < 1.0 {
        return Some(time);
    }
    let date = bailiwick_contract::time::rfc3339(day * 86_400_000);
    let date = date.split('T').next()?;
    Some(if second == 0 { date.to_owned() } else { format!("{date} {time}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dates_where_their_format_says_so() {
        assert_eq!(date(45_000.0).as_deref(), Some("2023-03-15"));
        assert_eq!(date(45_000.75).as_deref(), Some("2023-03-15 18:00:00"));
        assert_eq!(date(0.5).as_deref(), Some("12:00:00"));
        assert_eq!(date(-1.0), None);
        assert_eq!(date(1e300), None);
        for (code, is) in
            [("yyyy-mm-dd", true), ("0.00", false), ("[Red]0", false), ("\"days\" 0", false), ("h:mm", true)]
        {
            assert_eq!(is_date_format(code), is, "{code}");
        }
    }

    #[test]
    fn cells_are_in_the_columns_of_their_names() {
        assert_eq!([column_of("A1"), column_of("AB3"), column_of("XFD9")], [Some(0), Some(27), Some(16_383)]);
        assert_eq!([column_of("XFE1"), column_of("ZZZZZZ1"), column_of("1")], [None; 3]);
    }
}
