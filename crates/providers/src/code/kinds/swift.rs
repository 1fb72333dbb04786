//! Swift.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let field = |name: &str| node.child_by_field_name(name);
    let (kind, name, text) = match node.kind() {
        "class_declaration" => return holder(node, around, found),
        "protocol_declaration" => (Kind::Interface, field("name"), None),
        "function_declaration" | "protocol_function_declaration" => (around.function(), field("name"), None),
        "init_declaration" => (Kind::Constructor, field("name"), Some("init")),
        "deinit_declaration" => {
            (Kind::Method, child_of_kind(node, &["deinit"]).or(Some(node)), Some("deinit"))
        }
        "subscript_declaration" => {
            (Kind::Property, child_of_kind(node, &["subscript"]).or(Some(node)), Some("subscript"))
        }
        "typealias_declaration" | "associatedtype_declaration" => (Kind::Type, field("name"), None),
        "macro_declaration" => (Kind::Macro, child_of_kind(node, &["simple_identifier"]), None),
        "property_declaration" | "protocol_property_declaration" => return properties(node, around, found),
        "enum_entry" => return entries(node, found),
        _ => return Step::Past,
    };
    let Some(name) = name else { return Step::Past };
    let body = field("body").or_else(|| child_of_kind(node, &["computed_property"]));
    let definition = Candidate::new(kind, node, name);
    let definition = match text {
        Some(text) => definition.named(text.to_owned()),
        None => definition,
    };
    match kind {
        Kind::Interface => definition.holds(body).add(found),
        Kind::Type | Kind::Macro => {
            let is_associated = node.kind() == "associatedtype_declaration";
            definition
                .value(field("value").or_else(|| field("definition")))
                .declared_if(is_associated)
                .add(found)
        }
        Kind::Property => definition.body(body).add(found),
        _ => definition.body(body).declared_if(body.is_none()).add(found),
    }
}

fn holder<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(mut name) = node.child_by_field_name("name") else { return Step::Past };
    let kind = match node.child_by_field_name("declaration_kind").map(|kind| kind.kind()) {
        Some("struct") => Kind::Struct,
        Some("enum") => Kind::Enum,
        Some("extension") => Kind::Implementation,
        _ => Kind::Class,
    };
    let mut owner = None;
    if name.kind() == "user_type" {
        // `A.B<C>`: the names are beside each other.
        let mut cursor = name.walk();
        let names: Vec<Node<'t>> =
            name.named_children(&mut cursor).filter(|it| it.kind() == "type_identifier").collect();
        if let Some((last, before)) = names.split_last() {
            let before: Vec<String> = before.iter().map(|it| around.text(*it)).collect();
            owner = (!before.is_empty()).then(|| before.join("::"));
            name = *last;
        }
    }
    let definition = Candidate::new(kind, node, name).holds(node.child_by_field_name("body"));
    Candidate { owner, ..definition }.add(found)
}

fn properties<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let is_let = child_of_kind(node, &["value_binding_pattern"])
        .is_some_and(|pattern| child_of_kind(pattern, &["let"]).is_some());
    let kind = match around.inside {
        Some(_) => Kind::Property,
        None if is_let => Kind::Constant,
        None => Kind::Variable,
    };
    let value = node.child_by_field_name("value");
    let computed = node.child_by_field_name("computed_value");
    let observers = child_of_kind(node, &["willset_didset_block"]);
    let mut cursor = node.walk();
    for pattern in node.children_by_field_name("name", &mut cursor) {
        let name = pattern.child_by_field_name("bound_identifier").unwrap_or(pattern);
        if name.kind() == "simple_identifier" {
            let definition = Candidate::new(kind, node, name).value(value).body(computed).body(observers);
            found.push(definition.declared_if(node.kind() == "protocol_property_declaration"));
        }
    }
    Step::Found
}

fn entries<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        if name.kind() == "simple_identifier" {
            found.push(Candidate::new(Kind::EnumMember, node, name));
        }
    }
    Step::Found
}
