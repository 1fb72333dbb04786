//! Java.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let kind = match node.kind() {
        "class_declaration" => Kind::Class,
        "interface_declaration" | "annotation_type_declaration" => Kind::Interface,
        "enum_declaration" => Kind::Enum,
        "record_declaration" => Kind::Struct,
        "enum_constant" => Kind::EnumMember,
        "module_declaration" => Kind::Module,
        "method_declaration" => around.function(),
        "constructor_declaration" | "compact_constructor_declaration" => Kind::Constructor,
        "annotation_type_element_declaration" => Kind::Property,
        "field_declaration" | "constant_declaration" => return fields(node, around, found),
        "enum_body_declarations" => return Step::Into,
        _ => return Step::Past,
    };
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    let definition = Candidate::new(kind, node, name);
    if kind.is_callable() {
        return definition.body(body).declared_if(body.is_none()).add(found);
    }
    definition.holds(body.filter(|_| kind != Kind::Module)).body(body).add(found)
}

fn fields<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let modifiers = child_of_kind(node, &["modifiers"]);
    let has = |word: &str| modifiers.is_some_and(|modifiers| child_of_kind(modifiers, &[word]).is_some());
    let is_constant = node.kind() == "constant_declaration" || (has("static") && has("final"));
    let is_constant = is_constant || around.inside == Some(Kind::Interface);
    let kind = if is_constant { Kind::Constant } else { Kind::Field };
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let Some(name) = declarator.child_by_field_name("name") else { continue };
        found.push(Candidate::new(kind, node, name).value(declarator.child_by_field_name("value")));
    }
    Step::Found
}
