//! C#.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let kind = match node.kind() {
        "namespace_declaration" | "file_scoped_namespace_declaration" => {
            return namespace(node, around, found);
        }
        "class_declaration" => Kind::Class,
        "struct_declaration" | "record_declaration" => Kind::Struct,
        "interface_declaration" => Kind::Interface,
        "enum_declaration" => Kind::Enum,
        "enum_member_declaration" => Kind::EnumMember,
        "delegate_declaration" => Kind::Type,
        "method_declaration" => Kind::Method,
        "constructor_declaration" => Kind::Constructor,
        "local_function_statement" => Kind::Function,
        "property_declaration" | "event_declaration" => Kind::Property,
        "destructor_declaration"
        | "operator_declaration"
        | "conversion_operator_declaration"
        | "indexer_declaration" => return unusual(node, around, found),
        "field_declaration" | "event_field_declaration" => return fields(node, around, found),
        "declaration_list" | "preproc_if" | "preproc_elif" | "preproc_else" | "global_statement" => {
            return Step::Into;
        }
        _ => return Step::Past,
    };
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    let definition = Candidate::new(kind, node, name);
    match kind {
        Kind::Method | Kind::Constructor | Kind::Function => {
            definition.body(body).declared_if(body.is_none()).add(found)
        }
        Kind::Property => definition
            .value(node.child_by_field_name("accessors"))
            .value(node.child_by_field_name("value"))
            .add(found),
        _ => definition.holds(body).add(found),
    }
}

fn namespace<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Into };
    let names = around.text(name);
    let (owner, last) = match names.rsplit_once('.') {
        Some((owner, last)) => (Some(owner.to_owned()), last.to_owned()),
        None => (None, names.clone()),
    };
    let definition =
        Candidate::new(Kind::Module, node, name).named(last).holds(node.child_by_field_name("body"));
    Candidate { owner, ..definition }.add(found)
}

/// Takes members that have no name of their own.
fn unusual<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let field = |name: &str| node.child_by_field_name(name);
    let (kind, name, text) = match node.kind() {
        "destructor_declaration" => {
            let Some(name) = field("name") else { return Step::Past };
            (Kind::Method, name, format!("~{}", around.text(name)))
        }
        "operator_declaration" => {
            let Some(name) = field("operator") else { return Step::Past };
            (Kind::Method, name, format!("operator {}", around.text(name)))
        }
        "conversion_operator_declaration" => {
            let Some(name) = field("type") else { return Step::Past };
            (Kind::Method, name, format!("operator {}", around.text(name)))
        }
        _ => {
            let Some(name) = child_of_kind(node, &["this"]) else { return Step::Past };
            (Kind::Property, name, "this".to_owned())
        }
    };
    Candidate::new(kind, node, name)
        .named(text)
        .body(field("body"))
        .value(field("accessors"))
        .value(field("value"))
        .add(found)
}

fn fields<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let mut cursor = node.walk();
    let has = |words: &[&str]| {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .any(|child| child.kind() == "modifier" && words.iter().any(|word| around.is_text(child, word)))
    };
    let kind = match node.kind() {
        "event_field_declaration" => Kind::Property,
        _ if has(&["const"]) || (has(&["static"]) && has(&["readonly"])) => Kind::Constant,
        _ => Kind::Field,
    };
    let Some(declaration) = child_of_kind(node, &["variable_declaration"]) else { return Step::Past };
    for declarator in declaration.children(&mut cursor) {
        if declarator.kind() != "variable_declarator" {
            continue;
        }
        let Some(name) = declarator.child_by_field_name("name").or_else(|| declarator.named_child(0)) else {
            continue;
        };
        let last = u32::try_from(declarator.named_child_count()).unwrap_or(0).saturating_sub(1);
        let value = declarator.named_child(last).filter(|value| value.id() != name.id());
        found.push(Candidate::new(kind, node, name).value(value));
    }
    Step::Found
}
