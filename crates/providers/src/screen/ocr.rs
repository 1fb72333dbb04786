//! Reads text in pictures by tesseract, in the strongest sandbox there is, without a network and without files of a scope.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_contract::{Cancel, ErrorCode, FOR_USER, Failure, Network};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::create_private_dir;
use bailiwick_platform::launch::{FolderChanges, InnerSandboxes, Launcher, SandboxRequest, SetGroupId};
use bailiwick_platform::programs::{bare_environment, usual_folders};
use bailiwick_platform::screen::Rect;
use bailiwick_policy::{AllRoots, Scope};

use super::scale::double;
use super::{Picture, Screenshot};
use crate::command::{
    Capture, ReadyCommand, RunOptions, SearchPath, Tool, closed_folders, granted, process_limits, run,
    tool_level, unique,
};

/// The program.
const PROGRAM: &str = "tesseract";
/// The Debian package that has it.
pub const OCR_PACKAGE: &str = "tesseract-ocr";
/// How much of what it prints is read.
const MAX_BYTES: usize = 16 << 20;
const MAX_MESSAGE_BYTES: usize = 16_384;
/// The longest name of languages.
const MAX_LANGUAGE: usize = 60;
/// A picture of more pixels is read in its own size: text on it is large, or there is too much of it.
const MAX_DOUBLED_PIXELS: u32 = 5_000_000;

/// The service around the reading.
#[derive(Debug, Clone)]
pub struct OcrContext {
    /// What starts programs.
    pub launcher: Arc<Launcher>,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// The scope.
    pub scope: Arc<Scope>,
    /// Where the roots of all scopes are: the program is taken out of none of them.
    pub roots: AllRoots,
    /// When to stop.
    pub cancel: Cancel,
}

/// A word that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrWord {
    /// The text.
    pub text: String,
    /// Where it is, in pixels of the display.
    pub place: Rect,
    /// How sure tesseract is, from 0 to 100.
    pub confidence: f64,
}

/// A line of words.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrLine {
    /// Its words, from the left.
    pub words: Vec<OcrWord>,
}

impl OcrLine {
    /// Returns its text.
    pub fn text(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns where it is, in pixels of the display.
    pub fn place(&self) -> Rect {
        self.words.iter().map(|word| word.place).reduce(around).unwrap_or(Rect::new(0, 0, 0, 0))
    }

    /// Returns how sure tesseract is of the word that it is least sure of.
    pub fn confidence(&self) -> f64 {
        self.words.iter().map(|word| word.confidence).fold(100.0, f64::min)
    }
}

fn around(one: Rect, other: Rect) -> Rect {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    let end = |at: i32, length: u32| i64::from(at) + i64::from(length);
    let right = end(one.x, one.width).max(end(other.x, other.width)) - i64::from(x);
    let bottom = end(one.y, one.height).max(end(other.y, other.height)) - i64::from(y);
    Rect::new(x, y, u32::try_from(right).unwrap_or(0), u32::try_from(bottom).unwrap_or(0))
}

/// Returns whether tesseract is on a search path; an empty one stands for the usual folders.
pub fn has_ocr(folders: &[PathBuf]) -> bool {
    let usual = usual_folders();
    SearchPath::new(if folders.is_empty() { &usual } else { folders }, &[]).find(PROGRAM).is_ok()
}

/// Reads the lines of a picture as a scope sees it.
///
/// # Errors
/// `provider_unavailable` where tesseract is missing or cannot be sandboxed as the scope wants; `invalid_request` for a language that is
/// not installed; `timeout`, `cancelled`, `execution_failed`.
pub async fn read_text(
    around: &OcrContext,
    shot: Screenshot,
    language: &str,
) -> Result<Vec<OcrLine>, Failure> {
    check_language(language)?;
    let (context, words) = (around.clone(), words(language));
    let area = shot.area;
    let ready = tokio::task::spawn_blocking(move || {
        let prepared = prepare(&context, words)?;
        let pixels = shot.picture.width().saturating_mul(shot.picture.height());
        // Text on screens is smaller than what it was trained with.
        let picture = if pixels <= MAX_DOUBLED_PIXELS { double(shot.picture) } else { shot.picture };
        Ok::<_, Failure>((prepared, picture.width(), pnm(&picture)))
    });
    let (prepared, width, picture) = ready.await.map_err(|error| failed(&error.to_string()))??;
    let running = RunOptions {
        stdin: Some(picture),
        deadline: around.cancel.deadline(),
        stdout: Capture::new(MAX_BYTES, 0),
        stderr: Capture::new(MAX_MESSAGE_BYTES, 0),
        listener: None,
    };
    let ran = run(&around.launcher, prepared, running).await?;
    if ran.timed_out {
        return Err(around.cancel.timed_out());
    }
    if ran.ended.and_then(|ended| ended.exit_code) != Some(0) {
        return Err(refusal(&String::from_utf8_lossy(&ran.stderr.head), language));
    }
    Ok(lines(&String::from_utf8_lossy(&ran.stdout.head), area, width))
}

/// # Errors
/// `invalid_request`.
fn check_language(language: &str) -> Result<(), Failure> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if language.len() <= MAX_LANGUAGE && language.split('+').all(is_name) {
        return Ok(());
    }
    Err(Failure::invalid("options.language", "a language is named as tesseract does: `eng`, or `deu+eng`"))
}

fn words(language: &str) -> Vec<OsString> {
    // 11: text anywhere, as on screens.
    [PROGRAM, "stdin", "stdout", "-l", language, "--psm", "11", "tsv"].map(OsString::from).to_vec()
}

fn prepare(around: &OcrContext, argv: Vec<OsString>) -> Result<ReadyCommand, Failure> {
    let policy = around.scope.commands().hold();
    let closed = closed_folders(&around.roots, &around.dirs);
    let search = SearchPath::new(&policy.search_path, &closed);
    let program = search.get(PROGRAM).ok_or_else(missing)?;
    let home = around.dirs.state.join("homes").join("ocr");
    create_private_dir(&home).map_err(|error| failed(&error.to_string()))?;
    #[expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]
    let cwd = std::fs::File::open(&home).map_err(|error| failed(&error.to_string()))?;
    let trusted = search.trusted();
    let own =
        [("HOME", home.as_os_str()), ("LC_ALL", "C.UTF-8".as_ref()), ("OMP_THREAD_LIMIT", "1".as_ref())];
    let bare = bare_environment(&home).into_iter().map(|(name, value)| (name.into(), value));
    let environment = bare.chain(own.map(|(name, value)| (name.into(), value.to_owned()))).collect();
    Ok(ReadyCommand::of_tool(Tool {
        step: program.step(argv),
        environment,
        cwd: cwd.into(),
        cwd_path: home.clone(),
        hold: SandboxRequest {
            level: tool_level(policy.sandbox)?,
            network: Network::None,
            network_group: None,
            read_only: unique(trusted.into_iter().chain([program.real_folder])),
            read_write: Vec::new(),
            protected: Vec::new(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: granted(&home)?,
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        },
        limits: process_limits(policy.limits),
        review: None,
    }))
}

/// Returns the file of a picture in the simplest format.
fn pnm(picture: &Picture) -> Vec<u8> {
    let mut file = format!("P6\n{} {}\n255\n", picture.width(), picture.height()).into_bytes();
    file.extend_from_slice(picture.rgb());
    file
}

/// Reads the table that tesseract prints: a word a row, with the numbers of its block, paragraph and line.
fn lines(table: &str, area: Rect, width: u32) -> Vec<OcrLine> {
    let mut lines: Vec<OcrLine> = Vec::new();
    let mut last = None;
    for row in table.lines() {
        let fields: Vec<&str> = row.splitn(12, '\t').collect();
        let [level, page, block, paragraph, line, _, left, top, wide, high, confidence, text] = fields[..]
        else {
            continue;
        };
        let numbers: Option<Vec<i64>> = [left, top, wide, high].iter().map(|it| it.parse().ok()).collect();
        let (Some(numbers), Ok(confidence)) = (numbers, confidence.parse::<f64>()) else { continue };
        let text: String = text.chars().filter(|it| !it.is_control()).collect();
        if level != "5" || text.trim().is_empty() {
            continue;
        }
        let word = OcrWord {
            text: text.trim().to_owned(),
            place: on_display(&numbers, area, width),
            confidence: (confidence.clamp(0.0, 100.0) * 10.0).round() / 10.0,
        };
        let of = [page, block, paragraph, line];
        match lines.last_mut().filter(|_| last == Some(of)) {
            Some(line) => line.words.push(word),
            None => lines.push(OcrLine { words: vec![word] }),
        }
        last = Some(of);
    }
    lines
}

/// Turns pixels of the picture into pixels of the display: from the first that has a part of it to the last.
fn on_display(numbers: &[i64], area: Rect, width: u32) -> Rect {
    let (of, by) = (i64::from(area.width), i64::from(width.max(1)));
    let first = |at: i64| at.max(0) * of / by;
    let last = |at: i64| (at.max(0) * of + by - 1) / by;
    let (x, y) = (first(numbers[0]), first(numbers[1]));
    let size = |from: i64, to: i64| u32::try_from((to - from).max(1)).unwrap_or(1);
    let place = |at: i64, origin: i32| i32::try_from(at + i64::from(origin)).unwrap_or(origin);
    Rect::new(
        place(x, area.x),
        place(y, area.y),
        size(x, last(numbers[0] + numbers[2])),
        size(y, last(numbers[1] + numbers[3])),
    )
}

fn refusal(messages: &str, language: &str) -> Failure {
    if messages.contains("loading language") {
        let package = language.split('+').next_back().unwrap_or_default().replace('_', "-");
        let why = format!("the text recognition has not all of the language `{language}`");
        return Failure::invalid("options.language", why).hint(format!(
            "{FOR_USER}install it; on Debian and Ubuntu: `apt-get install {OCR_PACKAGE}-{package}`."
        ));
    }
    let said = messages.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
    failed(&said.chars().filter(|it| !it.is_control()).take(200).collect::<String>())
}

fn failed(why: &str) -> Failure {
    Failure::new(ErrorCode::ExecutionFailed, format!("no text could be read: {why}"))
}

fn missing() -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        "no text can be read in pictures: tesseract is not installed",
    )
    .detail("program", PROGRAM)
    .hint(format!("{FOR_USER}install it; on Debian and Ubuntu: `apt-get install {OCR_PACKAGE}`."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_into_lines_at_their_place_on_the_display() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
                     4\t1\t1\t1\t1\t0\t20\t40\t60\t20\t-1\t\n\
                     5\t1\t1\t1\t1\t1\t20\t40\t21\t20\t96.123\tSave\n\
                     5\t1\t1\t1\t1\t2\t60\t40\t20\t20\t80\tall\u{1b}\n\
                     5\t1\t1\t1\t1\t3\t90\t40\t20\t20\t95\t \n\
                     5\t1\t2\t1\t1\t1\t0\t0\t9\t9\t70\ta\tb\n\
                     broken\n";
        let lines = lines(table, Rect::new(100, -50, 50, 50), 100);
        let texts: Vec<String> = lines.iter().map(OcrLine::text).collect();
        assert_eq!(texts, ["Save all", "ab"]);
        assert_eq!(lines[0].words[0].place, Rect::new(110, -30, 11, 10));
        assert_eq!(lines[0].place(), Rect::new(110, -30, 30, 10));
        assert!((lines[0].confidence() - 80.0).abs() < 0.01);
    }

    #[test]
    fn a_language_is_a_name_and_no_path_or_option() {
        for language in ["eng", "deu+eng", "chi_sim"] {
            assert!(check_language(language).is_ok(), "{language}");
        }
        for language in ["", "eng+", "../eng", "-l", "eng deu", &"e".repeat(61)] {
            assert!(check_language(language).is_err(), "{language}");
        }
    }
}
