//! Go.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "function_declaration" => function(Kind::Function, node, None, found),
        "method_declaration" => {
            let owner = node.child_by_field_name("receiver").and_then(|receiver| owner(receiver, around));
            function(Kind::Method, node, owner, found)
        }
        "method_elem" => {
            let Some(name) = node.child_by_field_name("name") else { return Step::Past };
            Candidate::new(Kind::Method, node, name).declared_if(true).add(found)
        }
        "type_declaration" | "const_declaration" | "var_declaration" => match child_of_kind(node, &["("]) {
            Some(_) => Step::Into,
            None => Step::Wrap,
        },
        "var_spec_list" => Step::Into,
        "type_spec" | "type_alias" => type_spec(node, found),
        "const_spec" => names(Kind::Constant, node, around, found),
        "var_spec" => names(Kind::Variable, node, around, found),
        "field_declaration" => names(Kind::Field, node, around, found),
        _ => Step::Past,
    }
}

fn function<'t>(kind: Kind, node: Node<'t>, owner: Option<String>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    let definition = Candidate::new(kind, node, name).body(body).declared_if(body.is_none());
    Candidate { owner, ..definition }.add(found)
}

/// Finds the type in a receiver such as `(t *T[A])`.
fn owner(receiver: Node<'_>, around: &NodeContext<'_>) -> Option<String> {
    let mut node = child_of_kind(receiver, &["parameter_declaration"])?.child_by_field_name("type")?;
    while node.kind() != "type_identifier" {
        node = match node.kind() {
            "generic_type" => node.child_by_field_name("type")?,
            _ => node.named_child(0)?,
        };
    }
    Some(around.text(node))
}

fn type_spec<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let Some(of) = node.child_by_field_name("type") else { return Step::Past };
    match of.kind() {
        "struct_type" => {
            let fields = child_of_kind(of, &["field_declaration_list"]);
            Candidate::new(Kind::Struct, node, name).holds(fields).add(found)
        }
        "interface_type" => {
            let definition = Candidate::new(Kind::Interface, node, name).body(child_of_kind(of, &["{"]));
            Candidate { members: vec![of], ..definition }.add(found)
        }
        _ => Candidate::new(Kind::Type, node, name).value(Some(of)).add(found),
    }
}

fn names<'t>(kind: Kind, node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let value = node.child_by_field_name("value");
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        if name.is_named() && !around.is_text(name, "_") {
            found.push(Candidate::new(kind, node, name).value(value));
        }
    }
    Step::Found
}
