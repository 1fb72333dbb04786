//! PHP.

use tree_sitter::Node;

use super::{Around, Found, Step};
use crate::providers::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &Around<'_>, found: &mut Vec<Found<'t>>) -> Step {
    let kind = match node.kind() {
        "namespace_definition" => return namespace(node, around, found),
        "class_declaration" => Kind::Class,
        "interface_declaration" => Kind::Interface,
        "trait_declaration" => Kind::Trait,
        "enum_declaration" => Kind::Enum,
        "enum_case" => Kind::EnumMember,
        "function_definition" => Kind::Function,
        "method_declaration" => return method(node, around, found),
        "const_declaration" => return constants(node, found),
        "property_declaration" => return properties(node, around, found),
        "expression_statement" => return define(node, around, found),
        "if_statement" | "else_clause" | "else_if_clause" | "colon_block" | "compound_statement"
            if around.is_outside_functions() =>
        {
            return Step::Into;
        }
        _ => return Step::Past,
    };
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    Found::new(kind, node, name).holds(body).add(found)
}

fn namespace<'t>(node: Node<'t>, around: &Around<'_>, found: &mut Vec<Found<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Into };
    let names = around.text(name);
    let (owner, last) = match names.rsplit_once('\\') {
        Some((owner, last)) => (Some(owner.to_owned()), last.to_owned()),
        None => (None, names.clone()),
    };
    let definition = Found::new(Kind::Module, node, name).named(last).holds(node.child_by_field_name("body"));
    Found { owner, ..definition }.add(found)
}

/// Takes a method, and of a constructor the properties that its parameters make.
fn method<'t>(node: Node<'t>, around: &Around<'_>, found: &mut Vec<Found<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    let is_constructor = around.text(name).eq_ignore_ascii_case("__construct");
    let kind = if is_constructor { Kind::Constructor } else { Kind::Method };
    found.push(Found::new(kind, node, name).body(body).declared_if(body.is_none()));
    if let Some(parameters) = node.child_by_field_name("parameters").filter(|_| is_constructor) {
        let mut cursor = parameters.walk();
        for parameter in parameters.named_children(&mut cursor) {
            let name = parameter.child_by_field_name("name");
            if let Some(name) = name.filter(|_| parameter.kind() == "property_promotion_parameter") {
                let text = bare(&around.text(name));
                found.push(Found::new(Kind::Field, parameter, name).named(text));
            }
        }
    }
    Step::Found
}

fn constants<'t>(node: Node<'t>, found: &mut Vec<Found<'t>>) -> Step {
    let mut cursor = node.walk();
    for element in node.named_children(&mut cursor) {
        if element.kind() != "const_element" {
            continue;
        }
        if let Some(name) = element.named_child(0) {
            found.push(Found::new(Kind::Constant, node, name).value(element.named_child(1)));
        }
    }
    Step::Found
}

fn properties<'t>(node: Node<'t>, around: &Around<'_>, found: &mut Vec<Found<'t>>) -> Step {
    let mut cursor = node.walk();
    for element in node.named_children(&mut cursor) {
        let Some(name) = element.child_by_field_name("name").filter(|_| element.kind() == "property_element")
        else {
            continue;
        };
        let definition = Found::new(Kind::Field, node, name).named(bare(&around.text(name)));
        found.push(definition.value(element.child_by_field_name("default_value")));
    }
    Step::Found
}

/// Takes `define('NAME', …)`.
fn define<'t>(node: Node<'t>, around: &Around<'_>, found: &mut Vec<Found<'t>>) -> Step {
    let call = node.named_child(0).filter(|call| call.kind() == "function_call_expression");
    let is_define = |call: &Node<'t>| {
        call.child_by_field_name("function").is_some_and(|it| around.text(it).eq_ignore_ascii_case("define"))
    };
    let Some(call) = call.filter(is_define) else { return Step::Past };
    let Some(arguments) = call.child_by_field_name("arguments") else { return Step::Past };
    let Some(first) = arguments.named_child(0) else { return Step::Past };
    let text = around.text(first);
    let name = text.trim_matches(['"', '\'']);
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "_\\".contains(it));
    if !is_name || name.len() + 2 != text.len() {
        return Step::Past;
    }
    Found::new(Kind::Constant, node, first).named(name.to_owned()).value(arguments.named_child(1)).add(found)
}

/// Takes the `$` off a name, as members are called.
fn bare(text: &str) -> String {
    text.trim_start_matches(['&', '$']).to_owned()
}
