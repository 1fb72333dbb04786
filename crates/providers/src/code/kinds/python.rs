//! Python. Functions and classes count wherever they are, names only at the level of a module or a class.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "function_definition" => function(node, node, false, around, found),
        "class_definition" => class(node, node, found),
        "decorated_definition" => match node.child_by_field_name("definition") {
            Some(inner) if inner.kind() == "class_definition" => class(node, inner, found),
            Some(inner) => function(node, inner, is_property(node, around), around, found),
            None => Step::Past,
        },
        "expression_statement" if around.is_outside_functions() => assignment(node, around, found),
        "type_alias_statement" => type_alias(node, found),
        "block"
        | "if_statement"
        | "elif_clause"
        | "else_clause"
        | "for_statement"
        | "while_statement"
        | "try_statement"
        | "except_clause"
        | "except_group_clause"
        | "finally_clause"
        | "with_statement"
        | "match_statement"
        | "case_clause" => Step::Into,
        _ => Step::Past,
    }
}

fn function<'t>(
    whole: Node<'t>,
    node: Node<'t>,
    is_property: bool,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let kind = match around.function() {
        Kind::Method if is_property => Kind::Property,
        Kind::Method if around.is_text(name, "__init__") => Kind::Constructor,
        kind => kind,
    };
    let definition = Candidate { head: node, ..Candidate::new(kind, whole, name) };
    definition.holds(node.child_by_field_name("body")).add(found)
}

fn class<'t>(whole: Node<'t>, node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let definition = Candidate { head: node, ..Candidate::new(Kind::Class, whole, name) };
    definition.holds(node.child_by_field_name("body")).add(found)
}

/// Returns whether a function is decorated as a property, or as what sets one.
fn is_property(decorated: Node<'_>, around: &NodeContext<'_>) -> bool {
    let mut cursor = decorated.walk();
    decorated.children(&mut cursor).filter(|child| child.kind() == "decorator").any(|decorator| {
        let text = around.text(decorator);
        let name = text.trim_start_matches('@').split('(').next().unwrap_or_default().trim();
        let last = name.rsplit('.').next().unwrap_or_default();
        matches!(last, "property" | "cached_property")
            || (name.contains('.') && matches!(last, "setter" | "getter" | "deleter"))
    })
}

fn assignment<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(assignment) = node.named_child(0).filter(|child| child.kind() == "assignment") else {
        return Step::Past;
    };
    let Some(left) = assignment.child_by_field_name("left") else { return Step::Past };
    let value = assignment.child_by_field_name("right");
    let names = match left.kind() {
        "identifier" => vec![left],
        "pattern_list" | "tuple_pattern" => {
            let mut cursor = left.walk();
            left.named_children(&mut cursor).filter(|child| child.kind() == "identifier").collect()
        }
        _ => return Step::Past,
    };
    for name in names {
        let text = around.text(name);
        let is_constant = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
        let kind = match around.inside {
            _ if is_constant => Kind::Constant,
            Some(Kind::Class) => Kind::Field,
            _ => Kind::Variable,
        };
        let definition = Candidate { first_only: true, ..Candidate::new(kind, node, name) };
        definition.value(value).add(found);
    }
    Step::Found
}

fn type_alias<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(mut name) = node.child_by_field_name("left") else { return Step::Past };
    // A type, perhaps a generic one, around the name.
    while let Some(inner) = name.named_child(0).filter(|_| name.kind() != "identifier") {
        name = inner;
    }
    Candidate::new(Kind::Type, node, name).value(node.child_by_field_name("right")).add(found)
}
