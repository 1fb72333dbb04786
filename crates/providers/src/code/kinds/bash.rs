//! Bash, and what other shells share with it.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "function_definition" => {
            let Some(name) = node.child_by_field_name("name") else { return Step::Past };
            let body = node.child_by_field_name("body");
            Candidate::new(Kind::Function, node, name).holds(body).add(found)
        }
        "variable_assignment" if around.inside.is_none() => assignment(Kind::Variable, node, node, found),
        "declaration_command" if around.inside.is_none() => declaration(node, around, found),
        "variable_assignments"
        | "if_statement"
        | "elif_clause"
        | "else_clause"
        | "case_statement"
        | "case_item"
        | "compound_statement"
        | "list"
        | "do_group"
        | "while_statement"
        | "for_statement" => Step::Into,
        _ => Step::Past,
    }
}

fn assignment<'t>(kind: Kind, node: Node<'t>, whole: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let name = node.child_by_field_name("name").filter(|name| name.kind() == "variable_name");
    let Some(name) = name else { return Step::Past };
    let definition = Candidate { first_only: true, ..Candidate::new(kind, whole, name) };
    definition.value(node.child_by_field_name("value")).add(found)
}

/// Takes `readonly A=1`, `declare -r B=2`, `export C=3`.
fn declaration<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let has_flag = |child: Node<'t>| {
        let text = around.text(child);
        child.kind() == "word" && text.starts_with('-') && text.contains('r')
    };
    let mut cursor = node.walk();
    let is_constant =
        child_of_kind(node, &["readonly"]).is_some() || node.children(&mut cursor).any(has_flag);
    let kind = if is_constant { Kind::Constant } else { Kind::Variable };
    let assignments: Vec<Node<'t>> =
        node.children(&mut cursor).filter(|child| child.kind() == "variable_assignment").collect();
    for child in &assignments {
        let whole = if assignments.len() == 1 { node } else { *child };
        assignment(kind, *child, whole, found);
    }
    Step::Found
}
