//! Tables for people: columns two blanks apart, no wider than the terminal as far as their cells may be cut.
//!
//! Where text goes to a file or a pipe nothing is cut. Must not write anything itself.

use std::env;

use bailiwick_platform::tty;

use super::columns::{columns, cut};

/// How narrow a column becomes before others go.
const MIN_CUT: usize = 8;
/// The blanks between two columns.
const GAP: usize = 2;

/// What may become of a column where there is too little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Its cells stay whole: ids, numbers, times.
    Whole,
    /// Its cells are cut, and end in `…`.
    Cut,
    /// Its cells are cut, and it goes where that is not enough.
    Spare,
    /// Its cells stay whole, and it is the first to go.
    WholeOrGone,
}

/// A column: its heading, and what may become of it.
pub type Column = (&'static str, Fit);

/// A table with headings.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Begins a table.
    pub fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: a cell for each column, on one line each.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.cells(cells.to_vec());
    }

    /// As [`Table::row`], where the number of columns depends on what there is.
    pub fn cells(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Lays it out for where standard output goes.
    pub fn text(&self) -> String {
        self.laid_out(width())
    }

    /// Lays it out for lines of so many columns; `None` for lines of any length.
    fn laid_out(&self, room: Option<usize>) -> String {
        let mut shown: Vec<(usize, usize)> =
            (0..self.columns.len()).map(|at| (at, self.widest(at))).collect();
        if let Some(room) = room {
            self.squeeze(&mut shown, room);
        }
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut text = String::new();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let cells: Vec<(String, usize)> =
                shown.iter().map(|(at, width)| (cut(&row[*at], *width), *width)).collect();
            text.push_str(&line(&cells));
        }
        text
    }

    fn widest(&self, at: usize) -> usize {
        let cells = self.rows.iter().map(|row| columns(&row[at]));
        cells.max().unwrap_or(0).max(columns(self.columns[at].0))
    }

    /// Lets those go that are not cut, cuts the widest columns until all fit, and then lets spare ones go; the last
    /// first.
    fn squeeze(&self, shown: &mut Vec<(usize, usize)>, room: usize) {
        let fit = |at: usize| self.columns[at].1;
        loop {
            let needed: usize = shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
            let Some(too_much) = needed.checked_sub(room).filter(|it| *it > 0) else { return };
            if let Some(first) = shown.iter().rposition(|(at, _)| fit(*at) == Fit::WholeOrGone) {
                shown.remove(first);
                continue;
            }
            let mut widths: Vec<usize> = shown
                .iter()
                .filter(|(at, width)| fit(*at) != Fit::Whole && *width > MIN_CUT)
                .map(|(_, width)| *width)
                .collect();
            widths.sort_unstable();
            if let Some(widest) = widths.pop() {
                // All that are as wide as the widest give, down to the next one.
                let next = widths.iter().rev().find(|it| **it < widest).copied().unwrap_or(MIN_CUT);
                let same = 1 + widths.iter().filter(|it| **it == widest).count();
                let to = next.max(MIN_CUT).max(widest.saturating_sub(too_much.div_ceil(same)));
                for (at, width) in shown.iter_mut() {
                    if fit(*at) != Fit::Whole && *width == widest {
                        *width = to;
                    }
                }
            } else if let Some(spare) = shown.iter().rposition(|(at, _)| fit(*at) == Fit::Spare) {
                shown.remove(spare);
                shown.iter_mut().for_each(|(at, width)| *width = self.widest(*at));
            } else {
                return;
            }
        }
    }
}

/// Returns the width of the lines that a person sees; `None` where standard output is no terminal.
///
/// `COLUMNS` beats what the terminal says, as for other programs.
pub fn width() -> Option<usize> {
    let named = env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0);
    named.or_else(|| tty::output_columns().map(usize::from))
}

/// Lays out rows without headings, in columns as wide as they are.
pub fn table(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|it| columns(it)).max();
    let widths: Vec<usize> = (0..count).map(|at| width(at).unwrap_or(0)).collect();
    let lines = rows.iter().map(|row| {
        let cells: Vec<(String, usize)> = row.iter().cloned().zip(widths.iter().copied()).collect();
        line(&cells)
    });
    lines.collect()
}

/// Creates a line of cells and the widths of their columns, without blanks at its end.
pub fn line(cells: &[(String, usize)]) -> String {
    let mut line = String::new();
    for (cell, width) in cells {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', (width + GAP).saturating_sub(columns(cell))));
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_align_and_leave_no_trailing_blanks() {
        let rows = [vec!["a".to_owned(), "bb".to_owned()], vec!["ccc".to_owned(), String::new()]];
        assert_eq!(table(&rows), "a    bb\nccc\n");
    }

    #[test]
    fn rows_align_by_what_a_terminal_shows() {
        let rows = [vec!["日本".to_owned(), "bb".to_owned()], vec!["ccc".to_owned(), "d".to_owned()]];
        assert_eq!(table(&rows), "日本  bb\nccc   d\n");
    }

    #[test]
    fn what_is_not_cut_goes_before_anything_is() {
        let mut table = Table::new(&[("NAME", Fit::Cut), ("ID", Fit::WholeOrGone)]);
        table.row(["a name of many".into(), "0123456789".into()]);
        assert_eq!(table.laid_out(Some(26)), "NAME            ID\na name of many  0123456789\n");
        assert_eq!(table.laid_out(Some(20)), "NAME\na name of many\n");
    }

    #[test]
    fn a_table_fits_its_room_and_keeps_whole_what_has_to_stay_whole() {
        let mut table = Table::new(&[("ID", Fit::Whole), ("WORDS", Fit::Cut), ("BY", Fit::Spare)]);
        table.row(["0123456789".into(), "a".repeat(30), "somebody else".into()]);
        let wide = format!("ID          WORDS{:27}BY\n0123456789  {}  somebody else\n", "", "a".repeat(30));
        assert_eq!(table.laid_out(None), wide);
        assert_eq!(table.laid_out(Some(100)), wide);
        for room in 20..60 {
            let text = table.laid_out(Some(room));
            assert!(text.lines().all(|line| line.chars().count() <= room), "{room}: {text}");
            assert!(text.contains("0123456789"), "{room}: {text}");
        }
        assert_eq!(
            table.laid_out(Some(40)),
            "ID          WORDS          BY\n0123456789  aaaaaaaaaaaa…  somebody else\n"
        );
        assert_eq!(table.laid_out(Some(22)), "ID          WORDS\n0123456789  aaaaaaaaa…\n");
    }
}
