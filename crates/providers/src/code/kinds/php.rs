//! PHP.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
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
        "expression_statement" if around.is_outside_functions() => return statement(node, around, found),
        "if_statement" | "else_clause" | "else_if_clause" | "colon_block" | "compound_statement"
            if around.is_outside_functions() =>
        {
            return Step::Into;
        }
        _ => return Step::Past,
    };
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    Candidate::new(kind, node, name).holds(body).add(found)
}

fn namespace<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Into };
    let names = around.text(name);
    let (owner, last) = match names.rsplit_once('\\') {
        Some((owner, last)) => (Some(owner.to_owned()), last.to_owned()),
        None => (None, names.clone()),
    };
    let definition =
        Candidate::new(Kind::Module, node, name).named(last).holds(node.child_by_field_name("body"));
    Candidate { owner, ..definition }.add(found)
}

/// Takes a method, and of a constructor the properties that its parameters make.
fn method<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    let is_constructor = around.text(name).eq_ignore_ascii_case("__construct");
    let kind = if is_constructor { Kind::Constructor } else { Kind::Method };
    found.push(Candidate::new(kind, node, name).body(body).declared_if(body.is_none()));
    if let Some(parameters) = node.child_by_field_name("parameters").filter(|_| is_constructor) {
        let mut cursor = parameters.walk();
        for parameter in parameters.named_children(&mut cursor) {
            let name = parameter.child_by_field_name("name");
            if let Some(name) = name.filter(|_| parameter.kind() == "property_promotion_parameter") {
                let text = bare(&around.text(name));
                found.push(Candidate::new(Kind::Field, parameter, name).named(text));
            }
        }
    }
    Step::Found
}

fn constants<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let mut cursor = node.walk();
    for element in node.named_children(&mut cursor) {
        if element.kind() != "const_element" {
            continue;
        }
        if let Some(name) = element.named_child(0) {
            found.push(Candidate::new(Kind::Constant, node, name).value(element.named_child(1)));
        }
    }
    Step::Found
}

fn properties<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let mut cursor = node.walk();
    for element in node.named_children(&mut cursor) {
        let Some(name) = element.child_by_field_name("name").filter(|_| element.kind() == "property_element")
        else {
            continue;
        };
        let definition = Candidate::new(Kind::Field, node, name).named(bare(&around.text(name)));
        found.push(definition.value(element.child_by_field_name("default_value")));
    }
    Step::Found
}

/// Takes `define('NAME', …)` and `$name = function () …`.
fn statement<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(inner) = node.named_child(0) else { return Step::Past };
    match inner.kind() {
        "assignment_expression" => closure(node, inner, around, found),
        "function_call_expression" => {
            let called = inner.child_by_field_name("function");
            match called.is_some_and(|it| around.text(it).eq_ignore_ascii_case("define")) {
                true => define(node, inner, around, found),
                false => Step::Past,
            }
        }
        _ => Step::Past,
    }
}

fn closure<'t>(
    node: Node<'t>,
    assignment: Node<'t>,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> Step {
    let fields = (assignment.child_by_field_name("left"), assignment.child_by_field_name("right"));
    let (Some(left), Some(right)) = fields else { return Step::Past };
    let is_function = matches!(right.kind(), "anonymous_function" | "arrow_function");
    if left.kind() != "variable_name" || !is_function {
        return Step::Past;
    }
    let definition = Candidate::new(Kind::Function, node, left).named(bare(&around.text(left)));
    definition.body(right.child_by_field_name("body")).add(found)
}

fn define<'t>(
    node: Node<'t>,
    call: Node<'t>,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> Step {
    let Some(arguments) = call.child_by_field_name("arguments") else { return Step::Past };
    let Some(first) = arguments.named_child(0) else { return Step::Past };
    let text = around.text(first);
    let name = text.trim_matches(['"', '\'']);
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "_\\".contains(it));
    if !is_name || name.len() + 2 != text.len() {
        return Step::Past;
    }
    Candidate::new(Kind::Constant, node, first)
        .named(name.to_owned())
        .value(arguments.named_child(1))
        .add(found)
}

/// Takes the `$` off a name, as members are called.
fn bare(text: &str) -> String {
    text.trim_start_matches(['&', '$']).to_owned()
}
