//! Branches of `#if` that a grammar cannot read where they are: within parentheses or initializers, in the middle of a
//! declaration, or with brackets that another branch closes. One branch of such a group stays.

use std::ops::Range;

use super::c::{Brace, brace};
use super::tokens::{Directive, Token, TokenKind};

/// How deep groups are nested that are checked.
const MAX_GROUPS: usize = 64;
/// How deep brackets are nested that are checked.
const MAX_BRACKETS: usize = 256;

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly(Brace),
}

/// A group of branches that is being read.
struct Group {
    /// The tokens that are its directives, the first `#if`.
    directives: Vec<usize>,
    /// The token before it.
    before: Option<usize>,
    /// The brackets that are open before it.
    open: Vec<Bracket>,
    /// Those that are open behind the branch that stays.
    kept: Option<Vec<Bracket>>,
    /// Whether each branch closes what it opens, and nothing else.
    is_balanced: bool,
    is_off: bool,
}

/// Drops the tokens of branches that cannot be read, and of their directives. `last` keeps the last branch of a group
/// instead of its first. Returns the groups that have code in another branch.
pub(super) fn drop_branches(source: &[u8], tokens: &mut [Token], last: bool) -> Vec<Range<usize>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut open: Vec<Bracket> = Vec::new();
    let mut before: Option<usize> = None;
    let mut others = Vec::new();
    for at in 0..tokens.len() {
        let token = tokens[at];
        match token.kind {
            TokenKind::Directive(Directive::If(is_off)) => {
                if groups.len() >= MAX_GROUPS {
                    return others;
                }
                groups.push(Group {
                    directives: vec![at],
                    before,
                    open: open.clone(),
                    kept: None,
                    is_balanced: true,
                    is_off,
                });
            }
            TokenKind::Directive(Directive::Else) => {
                let Some(group) = groups.last_mut() else { continue };
                end_branch(group, &open, last);
                group.directives.push(at);
                open.clone_from(&group.open);
                before = group.before;
            }
            TokenKind::Directive(Directive::End) => {
                let Some(mut group) = groups.pop() else { continue };
                end_branch(&mut group, &open, last);
                group.directives.push(at);
                if is_readable(source, tokens, &group) {
                    open = group.open;
                } else {
                    if drop_group(tokens, &group, last) {
                        others.push(tokens[group.directives[0]].start..tokens[at].end);
                    }
                    open = group.kept.unwrap_or(group.open);
                }
                before = (0..at).rev().take(MAX_BRACKETS).find(|at| is_live(&tokens[*at]));
                continue;
            }
            TokenKind::Directive(Directive::Define | Directive::Other) => {
                // A line for the preprocessor in the middle of something.
                let is_inside = matches!(
                    open.last(),
                    Some(Bracket::Round | Bracket::Square | Bracket::Curly(Brace::Values | Brace::Enum))
                );
                tokens[at].is_dropped |= is_inside;
            }
            TokenKind::Sign(sign) => {
                match sign {
                    b'(' => open.push(Bracket::Round),
                    b'[' => open.push(Bracket::Square),
                    b'{' => open.push(Bracket::Curly(brace(source, &tokens[..=at], open.last().copied()))),
                    b')' | b']' | b'}' => {
                        open.pop();
                        if groups.last().is_some_and(|group| open.len() < group.open.len()) {
                            for group in &mut groups {
                                group.is_balanced &= open.len() >= group.open.len();
                            }
                        }
                    }
                    _ => {}
                }
                if open.len() > MAX_BRACKETS {
                    return others;
                }
                before = Some(at);
            }
            TokenKind::Word | TokenKind::Literal => before = Some(at),
        }
    }
    others
}

fn is_live(token: &Token) -> bool {
    !token.is_dropped && !matches!(token.kind, TokenKind::Directive(_))
}

/// Notes how a branch ended.
fn end_branch(group: &mut Group, open: &[Bracket], last: bool) {
    group.is_balanced &= open.len() == group.open.len();
    if last || group.kept.is_none() {
        group.kept = Some(open.to_vec());
    }
}

/// Returns whether a grammar can read all branches of a group where they are.
fn is_readable(source: &[u8], tokens: &[Token], group: &Group) -> bool {
    let is_enum = match group.open.last() {
        Some(Bracket::Round | Bracket::Square | Bracket::Curly(Brace::Values)) => return false,
        Some(Bracket::Curly(Brace::Enum)) => true,
        Some(Bracket::Curly(Brace::Members | Brace::Code)) | None => false,
    };
    let ends = |at: usize| {
        let token = &tokens[at];
        match token.kind {
            TokenKind::Sign(sign) => {
                b";}{".contains(&sign) || (sign == b':' && !is_enum) || (sign == b',' && is_enum)
            }
            _ => false,
        }
    };
    // What is in a line of its own may be a macro that ends a statement.
    let is_alone = |at: usize| {
        let token = &tokens[at];
        token.is_first && token.kind == TokenKind::Word && super::c::is_macro(&source[token.bytes()])
    };
    if !group.is_balanced || group.before.is_some_and(|before| !ends(before) && !is_alone(before)) {
        return false;
    }
    group.directives.windows(2).all(|pair| {
        let mut inside = (pair[0] + 1..pair[1]).rev();
        inside.find(|at| is_live(&tokens[*at])).is_none_or(|at| ends(at) && !tokens[at].is(b'{'))
    })
}

/// Keeps one branch of a group and drops the others. Returns whether there were others with code.
fn drop_group(tokens: &mut [Token], group: &Group, last: bool) -> bool {
    let branches = group.directives.len() - 1;
    let kept = match () {
        () if last => branches - 1,
        () if group.is_off && branches > 1 => 1,
        () => 0,
    };
    let is_none = group.is_off && branches == 1;
    let mut others = false;
    for (branch, pair) in group.directives.windows(2).enumerate() {
        tokens[pair[0]].is_dropped = true;
        tokens[pair[1]].is_dropped = true;
        if branch != kept || is_none {
            for token in &mut tokens[pair[0] + 1..pair[1]] {
                others |= is_live(token) && !(branch == 0 && group.is_off);
                token.is_dropped = true;
            }
        }
    }
    others
}
