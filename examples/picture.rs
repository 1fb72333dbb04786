//! Draws what a terminal shows: bytes that programs printed come in, an SVG picture goes out. `scripts/pictures` uses it.
//!
//! `picture COLUMNS TITLE DESCRIPTION < PRINTED > PICTURE.svg`

#![expect(clippy::print_stdout, reason = "the picture is what it gives")]

use std::fmt::Write;
use std::io::Read;

use avt::{Cell, Color, Line, Pen, Rgb, Terminal};

/// More rows than any picture has; those below the last text are left out.
const ROWS: usize = 400;
const CELL_WIDTH: f64 = 8.4;
const ROW_HEIGHT: f64 = 19.0;
const MARGIN: f64 = 16.0;
const TITLE_HEIGHT: f64 = 34.0;
const BACKGROUND: &str = "#12161d";
const FOREGROUND: &str = "#d5dae2";
/// The sixteen colours that programs name by number.
const NAMED: [&str; 16] = [
    "#3b4252", "#f07178", "#8fd17d", "#e6c15c", "#6ea8fe", "#c792ea", "#5fc9d6", "#d5dae2", "#697386",
    "#ff8b92", "#a6e495", "#f4d579", "#8fbcff", "#d9a9f5", "#7fdde8", "#ffffff",
];

fn main() {
    let mut words = std::env::args().skip(1);
    let columns = words.next().and_then(|word| word.parse().ok()).unwrap_or(100);
    let title = words.next().unwrap_or_default();
    let description = words.next().unwrap_or_default();
    let mut printed = Vec::new();
    std::io::stdin().read_to_end(&mut printed).expect("standard input can be read");
    let mut terminal = Terminal::new(columns, ROWS).expect("a size that a terminal can have");
    terminal.feed(String::from_utf8_lossy(&printed).as_ref());
    let lines: Vec<&Line> = terminal.screen().visible_lines().collect();
    let used = lines.iter().rposition(|line| !line.text().trim().is_empty()).map_or(0, |last| last + 1);
    print!("{}", draw(&lines[..used], columns, &escaped(&title), &escaped(&description)));
}

fn draw(lines: &[&Line], columns: usize, title: &str, description: &str) -> String {
    let width = size(columns) * CELL_WIDTH + 2.0 * MARGIN;
    let height = size(lines.len()) * ROW_HEIGHT + TITLE_HEIGHT + MARGIN;
    let middle = width / 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title>{description}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"9\" fill=\"{BACKGROUND}\"/>\n\
         <g fill=\"#4a5261\"><circle cx=\"18\" cy=\"17\" r=\"5\"/><circle cx=\"36\" cy=\"17\" r=\"5\"/><circle cx=\"54\" cy=\"17\" r=\"5\"/></g>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" fill=\"{FOREGROUND}\" xml:space=\"preserve\">\n\
         <text x=\"{middle:.0}\" y=\"21\" font-size=\"12\" fill=\"#8a93a3\" text-anchor=\"middle\">{title}</text>\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let baseline = TITLE_HEIGHT + size(row) * ROW_HEIGHT + 14.0;
        let mut column = 0;
        for run in line.cells().chunk_by(|one, next| one.pen() == next.pen()) {
            let text: String = run.iter().filter(|cell| cell.width() > 0).map(Cell::char).collect();
            let shown = text.trim_end();
            let before = shown.chars().take_while(|it| *it == ' ').count();
            let shown = shown.trim_start();
            if !shown.is_empty() {
                let left = MARGIN + size(column + before) * CELL_WIDTH;
                let long = size(shown.chars().count()) * CELL_WIDTH;
                let look = look(run[0].pen());
                let shown = escaped(shown);
                writeln!(
                    svg,
                    "<text x=\"{left:.1}\" y=\"{baseline:.0}\" textLength=\"{long:.1}\"{look}>{shown}</text>"
                )
                .expect("a text grows");
            }
            column += run.len();
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Returns the attributes that a pen makes.
fn look(pen: &Pen) -> String {
    let mut look = String::new();
    if let Some(color) = pen.foreground() {
        look.push_str(&format!(" fill=\"{}\"", named(color)));
    }
    if pen.is_bold() {
        look.push_str(" font-weight=\"bold\"");
    }
    if pen.is_faint() {
        look.push_str(" opacity=\"0.6\"");
    }
    if pen.is_italic() {
        look.push_str(" font-style=\"italic\"");
    }
    if pen.is_underline() {
        look.push_str(" text-decoration=\"underline\"");
    }
    look
}

fn named(color: Color) -> String {
    let rgb = |Rgb { r, g, b }: Rgb| format!("#{r:02x}{g:02x}{b:02x}");
    match color {
        Color::RGB(color) => rgb(color),
        Color::Indexed(index @ 0..16) => NAMED[usize::from(index)].to_owned(),
        // A cube of six steps for each of red, green and blue, then greys.
        Color::Indexed(index @ 16..232) => {
            let step = |part: u8| if part == 0 { 0 } else { 55 + part * 40 };
            let at = index - 16;
            rgb(Rgb::new(step(at / 36), step(at / 6 % 6), step(at % 6)))
        }
        Color::Indexed(index) => {
            let grey = 8 + (index - 232) * 10;
            rgb(Rgb::new(grey, grey, grey))
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A number of cells as a length.
fn size(count: usize) -> f64 {
    f64::from(u16::try_from(count).unwrap_or(u16::MAX))
}
