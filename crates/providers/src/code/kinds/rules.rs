//! The rules of each language.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step};
use super::{bash, c, c_sharp, go, java, javascript, kotlin, php, python, ruby, rust, swift};
use crate::syntax::Language;

/// Returns whether definitions can be found in a language.
pub(in crate::code) const fn has_rules(language: Language) -> bool {
    !matches!(language, Language::Json | Language::Yaml | Language::Toml | Language::Html | Language::Css)
}

/// Looks at a node.
pub(in crate::code) fn look<'t>(
    language: Language,
    node: Node<'t>,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> Step {
    match language {
        Language::Rust => rust::look(node, around, found),
        Language::Python => python::look(node, around, found),
        Language::TypeScript | Language::Tsx | Language::JavaScript => javascript::look(node, around, found),
        Language::Go => go::look(node, around, found),
        Language::Java => java::look(node, around, found),
        Language::C | Language::Cpp => c::look(node, around, found),
        Language::CSharp => c_sharp::look(node, around, found),
        Language::Ruby => ruby::look(node, around, found),
        Language::Php => php::look(node, around, found),
        Language::Swift => swift::look(node, around, found),
        Language::Kotlin => kotlin::look(node, around, found),
        Language::Bash => bash::look(node, around, found),
        Language::Json | Language::Yaml | Language::Toml | Language::Html | Language::Css => Step::Past,
    }
}

/// Returns the first child of one of these kinds.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}
