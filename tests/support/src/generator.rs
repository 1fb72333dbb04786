//! Random command strings out of the pieces that shells care about. A seed gives the same strings again.

/// Gives numbers that look random, from a seed.
pub struct Numbers(u64);

impl Numbers {
    /// Begins a sequence.
    pub const fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// Returns a number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("below a usize")
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Programs; those that begin with `no` fail.
const PROGRAMS: &[&str] = &[
    "git", "yes", "no", "rm", "npm", "a.b", "echo", "true", "false", "test", "\\git", "g'i't", "\"rm\"",
    "r\"\"m",
];
/// Parts of words that are literal, one way or another.
const LITERAL: &[&str] = &[
    "a",
    "bc",
    "1",
    "2",
    "-x",
    "--long=v",
    "=",
    ":",
    "/",
    ".",
    "..",
    ",",
    "@",
    "%",
    "+",
    "_",
    "^",
    "~",
    "!",
    "#",
    "]",
    "}",
    "{",
    "{}",
    "'a b'",
    "'$x'",
    "'`'",
    "'\"'",
    "''",
    "\"\"",
    "\"a b\"",
    "\"'\"",
    "\"\\$x\"",
    "\"\\\\\"",
    "\"\\`\"",
    "\"\\\"\"",
    "\"\\a\"",
    "\"$\"",
    "\"a$ b\"",
    "\"$|\"",
    "\"$)\"",
    "\"!x\"",
    "\"#\"",
    "\"~\"",
    "\"*\"",
    "\"{a,b}\"",
    "'{a,b}'",
    "'*'",
    "'~'",
    "\\ ",
    "\\$",
    "\\`",
    "\\'",
    "\\\"",
    "\\\\",
    "\\*",
    "\\~",
    "\\#",
    "\\!",
    "\\{",
    "\\a",
    "\\(",
    "\\)",
    "\\;",
    "\\&",
    "\\|",
    "\\<",
    "\\>",
    "\\2",
    "é",
    "日本",
    "'\u{a0}'",
    "'\n'",
    "\"\n\"",
    "'\t'",
    "';'",
    "\"&&\"",
    "HEAD~2",
    "HEAD^",
    "HEAD@{1}",
    "stash@{0}",
    "a=b",
    "a+=b",
    "/dev/null",
    "if",
    "time",
    "do",
    "in",
    "a#b",
];
/// Parts that bash does something with.
const ACTIVE: &[&str] = &[
    "$x",
    "${x}",
    "${x:-`rm`}",
    "$(rm)",
    "`rm`",
    "$((1))",
    "$[1]",
    "$'a'",
    "$\"a\"",
    "\"$x\"",
    "\"$(rm)\"",
    "\"`rm`\"",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "{1..3}",
    "{a,'b'}",
    "~",
    "~root",
    "a=~",
    "a:~",
    "<(rm)",
    ">(rm)",
    "<<E\nrm\nE\n",
    "<<<a",
    "(rm)",
    "((1))",
    "()",
    "\\\n",
    "\r",
    "\u{b}",
    "\u{c}",
    "\u{a0}",
    "\u{2028}",
    "\u{200b}",
    "&",
    "|&",
    "&>x",
    ">x",
    ">>x",
    "<x",
    ">|x",
    ">&x",
    "2>&-",
    "3>&1",
    "{fd}>x",
    "'",
    "\"",
    "\\",
    "$",
    "@(a)",
    "!(a)",
    "\"$",
    "#x",
    " #x",
];
const REDIRECTS: &[&str] = &[
    ">/dev/null",
    "2>/dev/null",
    "</dev/null",
    "&>/dev/null",
    "2>&1",
    ">&2",
    "1>&2",
    "1>/dev/null",
    "0</dev/null",
    "> /dev/null",
    "2> /dev/null",
    "2>& 1",
    ">& 2",
    "<\t/dev/null",
    ">/dev/null 2>&1",
    "2>&1>/dev/null",
    "2>&1 >/dev/null",
    ">&2 2>/dev/null",
];
const JOINERS: &[&str] =
    &[" && ", " || ", " ; ", "; ", " | ", "\n", "&&", "||", ";", "|", " &&\n", " |\n\n", "\n\n", " ;\n"];
const STRANGE_JOINERS: &[&str] = &[
    " & ",
    ";;",
    " |& ",
    "&&&",
    "| |",
    "\n&& ",
    "; ;",
    " ! ",
    "if ",
    "then ",
    "{ ",
    "} ",
    "time ",
    "( ",
    ") ",
    "case a in a) ",
    "esac ",
    "function f ",
    "[[ ",
    "]] ",
];
const BLANKS: &[&str] = &[" ", " ", " ", "  ", "\t"];

/// Characters that a shell cares about, and a few others.
const CHARACTERS: &[&str] = &[
    "a",
    "b",
    "2",
    "1",
    " ",
    " ",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "$",
    "`",
    "&",
    "|",
    ";",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "*",
    "?",
    "~",
    "#",
    "!",
    "=",
    ":",
    "\n",
    "\t",
    "-",
    "/",
    ",",
    ".",
    "^",
    "%",
    "@",
    "+",
    "é",
    "/dev/null",
];

/// Creates a string. Many are taken whole; about a third hold something active, and a third is noise.
pub fn string(numbers: &mut Numbers) -> String {
    if numbers.below(3) == 0 {
        return noise(numbers);
    }
    let is_wild = numbers.below(3) == 0;
    let mut text = String::new();
    for at in 0..=numbers.below(4) {
        if at > 0 {
            let of = if is_wild && numbers.below(6) == 0 { STRANGE_JOINERS } else { JOINERS };
            text.push_str(numbers.one(of));
        }
        command(numbers, is_wild, &mut text);
    }
    if numbers.below(8) == 0 {
        text.push_str(numbers.one(&[";", "\n", " ", " ;\n", "&&", "|"]));
    }
    text
}

fn command(numbers: &mut Numbers, is_wild: bool, text: &mut String) {
    if numbers.below(12) == 0 {
        text.push_str(numbers.one(REDIRECTS));
        text.push_str(numbers.one(BLANKS));
    }
    if is_wild && numbers.below(10) == 0 {
        text.push_str(numbers.one(ACTIVE));
    }
    text.push_str(numbers.one(PROGRAMS));
    for _ in 0..numbers.below(4) {
        text.push_str(numbers.one(BLANKS));
        for _ in 0..=numbers.below(3) {
            let of = if is_wild && numbers.below(8) == 0 { ACTIVE } else { LITERAL };
            text.push_str(numbers.one(of));
        }
    }
    if numbers.below(5) == 0 {
        text.push_str(numbers.one(&[" ", " ", ""]));
        text.push_str(numbers.one(REDIRECTS));
    }
}

/// Creates a string of single characters. Quotes are closed more often than chance would have it.
fn noise(numbers: &mut Numbers) -> String {
    let mut text = numbers.one(&["git ", "git ", "a", ""]).to_owned();
    for _ in 0..=numbers.below(10) {
        text.push_str(numbers.one(CHARACTERS));
    }
    for quote in ['\'', '"'] {
        if text.matches(quote).count() % 2 == 1 {
            text.push(quote);
        }
    }
    text
}
