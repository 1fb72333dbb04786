//! Macros in declarations of C and C++, told from types by how they are written and by what is around them.

use std::ops::Range;

use super::branches::Bracket;
use super::tokens::{Token, TokenKind};

/// What a curly bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brace {
    /// Declarations: a namespace, a type, `extern "C"`.
    Members,
    /// The members of an enumeration.
    Enum,
    /// Values.
    Values,
    /// Statements.
    Code,
}

/// How many tokens a header has that are checked.
const MAX_HEADER: usize = 120;

/// Returns what the curly bracket holds that is the last of the tokens.
pub(super) fn brace(source: &[u8], tokens: &[Token], inside: Option<Bracket>) -> Brace {
    let within = match inside {
        Some(Bracket::Curly(Brace::Values | Brace::Enum)) => return Brace::Values,
        Some(Bracket::Curly(Brace::Code)) => Brace::Code,
        Some(Bracket::Round | Bracket::Square) | Some(Bracket::Curly(Brace::Members)) | None => {
            Brace::Members
        }
    };
    let mut last = None;
    let mut rounds = 0_usize;
    let mut has_call = false;
    let header = tokens[..tokens.len() - 1].iter().enumerate().rev().filter(|(_, token)| !token.is_dropped);
    let mut kind = None;
    for (at, token) in header.take(MAX_HEADER) {
        match token.kind {
            TokenKind::Directive(_) => break,
            TokenKind::Sign(b';' | b'{' | b'}') if rounds == 0 => break,
            TokenKind::Sign(b')') => {
                rounds += 1;
                has_call |= kind.is_none();
            }
            TokenKind::Sign(b'(') => {
                if rounds == 0 {
                    break;
                }
                rounds -= 1;
            }
            TokenKind::Sign(b'=' | b',') if last.is_none() => return Brace::Values,
            TokenKind::Word if rounds == 0 => match &source[token.bytes()] {
                b"return" => return if within == Brace::Code { Brace::Values } else { Brace::Code },
                b"enum" => kind = Some(Brace::Enum),
                b"class" | b"struct" | b"union" | b"namespace" if kind.is_none() => {
                    kind = Some(Brace::Members);
                    has_call &= !is_type_header(source, &tokens[at + 1..]);
                }
                b"extern" if last == Some(TokenKind::Literal) => return Brace::Members,
                _ => {}
            },
            _ => {}
        }
        last = last.or(Some(token.kind));
    }
    match (kind, last) {
        (_, Some(TokenKind::Sign(b')'))) => Brace::Code,
        (Some(kind), _) if !has_call || kind == Brace::Enum => kind,
        _ if within == Brace::Code => Brace::Code,
        // `= {` is above; `int a[] {` and `T a {` are rare where no function is.
        (_, Some(TokenKind::Sign(b']'))) => Brace::Values,
        _ if matches!(inside, Some(Bracket::Round | Bracket::Square)) => Brace::Code,
        _ => Brace::Code,
    }
}

/// Returns whether what stands behind `class` is the rest of a type's header, though it has parentheses:
/// `class ALIGNED(16) Name {`, `struct Name<T, when<(a || b)>> : is<decltype(f())> {`.
fn is_type_header(source: &[u8], tokens: &[Token]) -> bool {
    let mut rest = tokens.iter().filter(|token| !token.is_dropped).peekable();
    let mut is_named = false;
    while let Some(token) = rest.next() {
        match token.kind {
            TokenKind::Word if is_macro(&source[token.bytes()]) => {
                if rest.peek().is_some_and(|next| next.is(b'(')) {
                    return true;
                }
            }
            TokenKind::Word if &source[token.bytes()] == b"final" => return is_named,
            TokenKind::Word if is_named => return false,
            TokenKind::Word => is_named = true,
            TokenKind::Sign(b'{') => return is_named,
            TokenKind::Sign(b':') => match rest.next_if(|next| next.is(b':')) {
                Some(_) => is_named = false,
                None => return is_named,
            },
            TokenKind::Sign(b'<') if is_named => {
                let (mut angles, mut rounds) = (1_usize, 0_usize);
                while angles > 0 {
                    let Some(token) = rest.next() else { return false };
                    match token.kind {
                        TokenKind::Sign(b'(') => rounds += 1,
                        TokenKind::Sign(b')') => rounds = rounds.saturating_sub(1),
                        TokenKind::Sign(b'<') if rounds == 0 => angles += 1,
                        TokenKind::Sign(b'>') if rounds == 0 => angles -= 1,
                        _ => {}
                    }
                }
            }
            _ => return false,
        }
    }
    false
}

/// Returns whether a word is written as macros are.
pub(super) fn is_macro(word: &[u8]) -> bool {
    word.len() > 2
        && word.iter().any(u8::is_ascii_uppercase)
        && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Returns whether a word is one with which a type or a declaration continues.
fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"inline"
            | b"extern"
            | b"virtual"
            | b"constexpr"
            | b"consteval"
            | b"explicit"
            | b"friend"
            | b"using"
            | b"typedef"
            | b"template"
            | b"class"
            | b"struct"
            | b"enum"
            | b"union"
            | b"namespace"
            | b"void"
            | b"int"
            | b"auto"
            | b"bool"
            | b"char"
            | b"unsigned"
            | b"signed"
            | b"long"
            | b"short"
            | b"float"
            | b"double"
            | b"typename"
            | b"decltype"
            | b"public"
            | b"private"
            | b"protected"
            | b"mutable"
            | b"thread_local"
    )
}

/// Words behind which a declaration still begins.
fn is_specifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"static" | b"inline" | b"extern" | b"virtual" | b"constexpr" | b"explicit" | b"friend" | b"typedef"
    )
}

/// The live tokens of a text.
pub(super) struct Macros<'a> {
    source: &'a [u8],
    tokens: Vec<Token>,
    edits: Vec<Edit>,
    /// Functions whose type is left to a macro: where their names and their bodies stand.
    pub functions: Vec<(Range<usize>, usize)>,
    /// Bodies of functions that define no type, without their brackets.
    pub bodies: Vec<Range<usize>>,
    /// Whether every bracket has its partner.
    pub is_balanced: bool,
    /// Whether the end of the last of `functions` is still to come.
    is_open: bool,
}

/// Bytes that are another word for a grammar, or blank.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub bytes: Range<usize>,
    pub word: &'static [u8],
}

impl Edit {
    pub fn blank(bytes: Range<usize>) -> Self {
        Self { bytes, word: b"" }
    }
}

impl<'a> Macros<'a> {
    pub fn new(source: &'a [u8], tokens: &[Token]) -> Self {
        let live = tokens.iter().copied().filter(|token| !token.is_dropped);
        Self {
            source,
            tokens: live.collect(),
            edits: Vec::new(),
            functions: Vec::new(),
            bodies: Vec::new(),
            is_balanced: true,
            is_open: false,
        }
    }

    /// Finds the macros that a grammar does not understand.
    pub fn find(&mut self) -> Vec<Edit> {
        let mut open: Vec<Bracket> = Vec::new();
        // The body that is being read: its bracket, how many are open around it, whether it defines a type.
        let mut body: Option<(usize, usize, bool)> = None;
        let mut is_start = true;
        let mut at = 0;
        while at < self.tokens.len() {
            let token = self.tokens[at];
            let is_member = matches!(open.last(), None | Some(Bracket::Curly(Brace::Members)));
            match token.kind {
                TokenKind::Directive(_) => {}
                TokenKind::Literal => is_start = false,
                TokenKind::Sign(sign) => {
                    match sign {
                        b'(' => open.push(Bracket::Round),
                        b'[' => open.push(Bracket::Square),
                        b'{' => {
                            let brace = brace(self.source, &self.tokens[..=at], open.last().copied());
                            match &mut body {
                                None if brace == Brace::Code && is_member => {
                                    body = Some((token.end, open.len(), false));
                                }
                                Some((_, _, has_type)) => {
                                    *has_type |= matches!(brace, Brace::Members | Brace::Enum);
                                }
                                None => {}
                            }
                            open.push(Bracket::Curly(brace));
                        }
                        b')' | b']' | b'}' => {
                            let bracket = open.pop();
                            self.is_balanced &= match bracket {
                                Some(Bracket::Round) => sign == b')',
                                Some(Bracket::Square) => sign == b']',
                                Some(Bracket::Curly(_)) => sign == b'}',
                                None => false,
                            };
                            if let Some((start, _, has_type)) = body.take_if(|body| body.1 == open.len()) {
                                if let Some(function) = self.functions.last_mut().filter(|_| self.is_open) {
                                    function.1 = token.end;
                                }
                                self.is_open = false;
                                if !has_type {
                                    self.bodies.push(start..token.start);
                                }
                            }
                        }
                        _ => {}
                    }
                    is_start = match sign {
                        b'{' | b'}' | b';' => true,
                        b':' => self.is_access(at),
                        _ => false,
                    };
                }
                TokenKind::Word if !is_member => {
                    is_start = false;
                    if body.is_none() && open.last() == Some(&Bracket::Round) && self.is_behind_parameter(at)
                    {
                        self.edits.push(Edit::blank(token.bytes()));
                    }
                }
                TokenKind::Word => {
                    let word = &self.source[token.bytes()];
                    if is_macro(word) {
                        let edit = if is_start { self.prefix(at) } else { self.suffix(at) };
                        if let Some((end, word)) = edit {
                            self.edits.push(Edit { bytes: token.start..self.tokens[end - 1].end, word });
                            at = end;
                            continue;
                        }
                        self.function(at, is_start);
                        is_start = false;
                    } else if matches!(word, b"class" | b"struct" | b"union" | b"enum") {
                        self.type_header(at);
                        is_start = false;
                    } else if word == b"template" && self.sign(at + 1) == Some(b'<') {
                        let behind = self.behind_angles(at + 1).unwrap_or(at + 1);
                        self.parameters(at + 2, behind);
                        at = behind;
                        is_start = true;
                        continue;
                    } else if matches!(word, b"slots" | b"Q_SLOTS") && self.sign(at + 1) == Some(b':') {
                        self.edits.push(Edit::blank(token.bytes()));
                    } else if word == b"signals" && is_start && self.sign(at + 1) == Some(b':') {
                        self.edits.push(Edit::blank(token.start..self.tokens[at + 1].end));
                    } else if let Some(end) = self.attribute(at) {
                        self.edits.push(Edit::blank(token.start..self.tokens[end - 1].end));
                        at = end;
                        continue;
                    } else {
                        self.function(at, is_start);
                        // `template` without parameters makes one of what follows.
                        is_start = is_start && (is_specifier(word) || word == b"template");
                    }
                }
            }
            at += 1;
        }
        self.is_balanced &= open.is_empty();
        std::mem::take(&mut self.edits)
    }

    /// Returns whether a macro stands behind the name of a parameter.
    fn is_behind_parameter(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.word(before));
        self.word(at).is_some_and(is_macro)
            && matches!(self.sign(at + 1), Some(b',' | b')'))
            && before.is_some_and(|word| {
                !is_keyword(word) && !matches!(word, b"const" | b"volatile") && !is_macro(word)
            })
    }

    /// Notes a name with parameters and a body, before which nothing stands.
    fn function(&mut self, at: usize, is_start: bool) {
        let is_statement =
            matches!(self.word(at), Some(b"if" | b"for" | b"while" | b"switch" | b"catch" | b"do" | b"else"));
        let behind = match self.sign(at + 1) {
            _ if is_statement => None,
            Some(b'(') if is_start => self.behind_round(at + 1),
            Some(b'{') if is_start && self.word(at).is_some_and(is_macro) => Some(at + 1),
            _ => None,
        };
        let Some(behind) = behind else { return };
        if self.sign(behind) == Some(b'{') {
            self.functions.push((self.tokens[at].bytes(), self.tokens[behind].end));
            self.is_open = true;
        }
    }

    /// Finds a macro in small letters that takes numbers, before a name: `printf_like(1, 2) name`. Returns the token
    /// behind it.
    fn attribute(&self, at: usize) -> Option<usize> {
        if self.sign(at + 1) != Some(b'(') || self.tokens.get(at + 2)?.kind != TokenKind::Literal {
            return None;
        }
        let behind = self.behind_round(at + 1)?;
        let has_numbers = self.tokens[at + 2..behind - 1]
            .iter()
            .all(|token| token.kind == TokenKind::Literal || token.is(b','));
        (has_numbers && self.word(behind).is_some() && self.sign(behind + 1) == Some(b'(')).then_some(behind)
    }

    /// Makes types of macros that stand for parameters of a template.
    fn parameters(&mut self, from: usize, behind: usize) {
        let mut at = from;
        while at < behind {
            let is_call = self.word(at).is_some_and(is_macro) && self.sign(at + 1) == Some(b'(');
            let end = if is_call { self.behind_round(at + 1) } else { None };
            match end.filter(|end| matches!(self.sign(*end), Some(b'>' | b',' | b'='))) {
                Some(end) => {
                    let bytes = self.tokens[at].start..self.tokens[end - 1].end;
                    self.edits.push(Edit { bytes, word: b"int" });
                    at = end;
                }
                None => at += 1,
            }
        }
    }

    fn word(&self, at: usize) -> Option<&'a [u8]> {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Word)?;
        Some(&self.source[token.bytes()])
    }

    fn sign(&self, at: usize) -> Option<u8> {
        match self.tokens.get(at)?.kind {
            TokenKind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    /// Returns whether a colon is behind `public` and the like.
    fn is_access(&self, at: usize) -> bool {
        let before = |count: usize| at.checked_sub(count).and_then(|at| self.word(at));
        let is_one = |word: Option<&[u8]>| {
            matches!(word, Some(b"public" | b"private" | b"protected" | b"signals" | b"Q_SIGNALS"))
        };
        is_one(before(1)) || is_one(before(2))
    }

    /// Returns the token behind a bracket's partner.
    fn behind_round(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (place, token) in self.tokens.iter().enumerate().skip(at).take(400) {
            match token.kind {
                TokenKind::Sign(b'(') => depth += 1,
                TokenKind::Sign(b')') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(place + 1);
                    }
                }
                TokenKind::Sign(b'{' | b'}') | TokenKind::Directive(_) => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the token behind the `>` of a `<`.
    fn behind_angles(&self, at: usize) -> Option<usize> {
        let (mut depth, mut rounds) = (0_usize, 0_usize);
        for (place, token) in self.tokens.iter().enumerate().skip(at).take(600) {
            match token.kind {
                TokenKind::Sign(b'(') => rounds += 1,
                TokenKind::Sign(b')') => rounds = rounds.checked_sub(1)?,
                TokenKind::Sign(b'<') if rounds == 0 => depth += 1,
                TokenKind::Sign(b'>') if rounds == 0 => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(place + 1);
                    }
                }
                TokenKind::Sign(b';' | b'}') => return None,
                _ => {}
            }
        }
        None
    }

    /// Looks at a macro where a declaration begins. Returns the token behind it and what to put there, if a grammar
    /// does not understand it.
    fn prefix(&self, at: usize) -> Option<(usize, &'static [u8])> {
        let has_arguments = self.sign(at + 1) == Some(b'(');
        let next = if has_arguments { self.behind_round(at + 1)? } else { at + 1 };
        let Some(token) = self.tokens.get(next) else { return Some((next, b"")) };
        let is_below = token.is_first;
        let blank = match token.kind {
            TokenKind::Directive(_) | TokenKind::Sign(b'}' | b'~') => true,
            TokenKind::Sign(b'[') => is_below && self.sign(next + 1) == Some(b'['),
            TokenKind::Sign(b':') if self.sign(next + 1) != Some(b':') => return Some((next + 1, b"")),
            TokenKind::Sign(b':') => is_below,
            // What a call makes is not seen, and its arguments can be anything.
            TokenKind::Sign(b';') if has_arguments => {
                let is_apart = match at.checked_sub(1).map(|before| self.tokens[before].kind) {
                    Some(TokenKind::Sign(b'{' | b'}' | b';' | b':') | TokenKind::Directive(_)) | None => true,
                    Some(_) => false,
                };
                return Some((next + usize::from(is_apart), b""));
            }
            TokenKind::Sign(_) | TokenKind::Literal => false,
            TokenKind::Word => {
                let word = self.word(next)?;
                match word {
                    b"const" => self.word(next + 1).is_some() && !self.ends_declarator(next + 2),
                    b"operator" => self.word(next + 1).is_some(),
                    _ if is_keyword(word) => true,
                    _ if has_arguments && is_below => true,
                    _ if is_macro(word) && is_below => true,
                    // A word that says that a declaration begins: `A * (*b)(c);` could be a product.
                    _ if self.is_constructor(next) => true,
                    _ if self.is_type(next) && self.tokens[at].end - self.tokens[at].start > 5 => {
                        return Some((next, b"const"));
                    }
                    _ => self.is_type(next),
                }
            }
        };
        blank.then_some((next, b""))
    }

    /// Returns whether a constructor's name is here: initializers follow its parameters, or it is its class's own.
    fn is_constructor(&self, at: usize) -> bool {
        let mut name = at;
        let mut is_own = false;
        while self.sign(name + 1) == Some(b':') && self.sign(name + 2) == Some(b':') {
            is_own = self.word(name) == self.word(name + 3) || self.sign(name + 3) == Some(b'~');
            name += 3 + usize::from(self.sign(name + 3) == Some(b'~'));
        }
        if self.word(name).is_none() || self.sign(name + 1) != Some(b'(') {
            return false;
        }
        let Some(mut behind) = self.behind_round(name + 1) else { return false };
        while self.word(behind).is_some_and(|word| is_macro(word) || word == b"noexcept") {
            behind += 1;
        }
        is_own || self.sign(behind) == Some(b':') && self.sign(behind + 1) != Some(b':')
    }

    /// Returns whether a name is over here: what is before it was its type.
    fn ends_declarator(&self, at: usize) -> bool {
        !matches!(
            self.tokens.get(at).map(|token| token.kind),
            Some(TokenKind::Word | TokenKind::Sign(b'*' | b'&' | b'<' | b':'))
        )
    }

    /// Returns whether a name is a type that a declared name follows.
    fn is_type(&self, at: usize) -> bool {
        let mut at = at + 1;
        loop {
            match self.sign(at) {
                Some(b'<') => match self.behind_angles(at) {
                    Some(behind) => at = behind,
                    None => return false,
                },
                Some(b':') if self.sign(at + 1) == Some(b':') && self.word(at + 2).is_some() => at += 3,
                Some(b'*' | b'&') => return true,
                // A pointer to a function: `int (*name)(…)`.
                Some(b'(') => return self.sign(at + 1) == Some(b'*'),
                Some(_) => return false,
                None => return self.word(at).is_some(),
            }
        }
    }

    /// Looks at a macro behind a function's parameters. Returns the token behind it if it is to be blank.
    fn suffix(&self, at: usize) -> Option<(usize, &'static [u8])> {
        let before = at.checked_sub(1)?;
        let end = self.tokens[before].end;
        let is_result =
            before >= 2 && self.sign(before - 2) == Some(b'-') && self.sign(before - 1) == Some(b'>');
        let is_behind = self.sign(before) == Some(b')')
            || is_result
            || matches!(self.word(before), Some(b"const" | b"noexcept" | b"override" | b"final"))
            || self.edits.last().is_some_and(|edit| edit.bytes.end == end && edit.word.is_empty());
        if !is_behind {
            return None;
        }
        let next = if self.sign(at + 1) == Some(b'(') { self.behind_round(at + 1)? } else { at + 1 };
        let ends = match self.tokens.get(next)?.kind {
            TokenKind::Sign(b';' | b'{' | b'=') => true,
            TokenKind::Sign(b':') => self.sign(next + 1) != Some(b':'),
            TokenKind::Word => {
                let word = self.word(next)?;
                matches!(word, b"const" | b"noexcept" | b"override" | b"final") || is_macro(word)
            }
            _ => false,
        };
        ends.then_some((next, b""))
    }

    /// Blanks the macros between `class` and the name of a class.
    fn type_header(&mut self, at: usize) {
        let is_class = self.word(at) == Some(b"class");
        let mut from = at + 1;
        if matches!(self.word(from), Some(b"class" | b"struct")) {
            from += 1;
        }
        let mut blanks = Vec::new();
        if self.sign(from) == Some(b':') && self.sign(from + 1) != Some(b':') {
            // An enumeration without a name, but with the type of its values.
            let body = (from..from + 8).find(|at| self.sign(*at) == Some(b'{'));
            if let Some(body) = body {
                self.edits.push(Edit::blank(self.tokens[from].start..self.tokens[body - 1].end));
            }
            return;
        }
        loop {
            let next = match (self.word(from), self.sign(from)) {
                (Some(word), _) if is_macro(word) => match self.sign(from + 1) {
                    Some(b'(') => self.behind_round(from + 1),
                    _ => Some(from + 1),
                },
                (None, Some(b'[')) if self.sign(from + 1) == Some(b'[') => {
                    let end = (from..from + 20).find(|at| self.sign(*at) == Some(b']'));
                    end.filter(|end| self.sign(end + 1) == Some(b']')).map(|end| end + 2)
                }
                _ => break,
            };
            let Some(next) = next else { return };
            let goes_on =
                self.word(next).is_some_and(|word| word != b"final") || self.sign(next) == Some(b'[');
            if !goes_on {
                break;
            }
            blanks.push(Edit::blank(self.tokens[from].start..self.tokens[next - 1].end));
            from = next;
        }
        let mut behind = from + 1;
        if let Some(end) = self.behind_angles(behind).filter(|_| self.sign(behind) == Some(b'<')) {
            // Types of functions as arguments.
            if (behind..end).any(|at| self.sign(at) == Some(b'(')) {
                blanks.push(Edit::blank(self.tokens[behind].start..self.tokens[end - 1].end));
            }
            behind = end;
        }
        let is_header = match self.sign(behind) {
            Some(b'{') => true,
            Some(b':') => self.sign(behind + 1) != Some(b':'),
            Some(b';') => is_class,
            _ => self.word(behind) == Some(b"final"),
        };
        if is_header {
            self.edits.extend(blanks);
        }
    }
}
