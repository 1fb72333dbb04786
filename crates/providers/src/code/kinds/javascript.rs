//! JavaScript and TypeScript, with and without JSX.
//!
//! Functions and classes count wherever they are directly in a module, a function or a class; names bound to
//! values outside functions only. A function that is called where it stands is as good as its module.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "function_declaration" | "generator_function_declaration" => named(Kind::Function, node, found),
        "function_signature" => declared(Kind::Function, node, found),
        "class_declaration" | "abstract_class_declaration" => named(Kind::Class, node, found),
        "interface_declaration" => named(Kind::Interface, node, found),
        "enum_declaration" => named(Kind::Enum, node, found),
        "internal_module" | "module" => module(node, around, found),
        "type_alias_declaration" => type_alias(node, found),
        "method_definition" => method(node, around, found),
        "method_signature" | "abstract_method_signature" => declared_member(node, around, found),
        "field_definition" | "public_field_definition" | "property_signature" => field(node, around, found),
        "enum_assignment" => member(Kind::EnumMember, node, node.child_by_field_name("name"), around, found),
        "property_identifier" | "string" if around.inside == Some(Kind::Enum) => {
            member(Kind::EnumMember, node, Some(node), around, found)
        }
        "pair" => pair(node, around, found),
        "export_statement" => export(node, found),
        "ambient_declaration" => Step::Wrap,
        "lexical_declaration" | "variable_declaration" if around.is_outside_functions() => {
            variables(node, around, found)
        }
        "expression_statement" if around.is_outside_functions() => statement(node, around, found),
        // Reached from a statement only if a function is called where it stands.
        "call_expression" if calls_where_it_stands(node, around) => Step::Into,
        "parenthesized_expression"
        | "unary_expression"
        | "arguments"
        | "function_expression"
        | "arrow_function"
        | "member_expression" => Step::Into,
        "if_statement" | "else_clause" | "try_statement" if around.is_outside_functions() => Step::Into,
        "object" | "statement_block" => Step::Into,
        _ => Step::Past,
    }
}

/// Takes something with a name and perhaps a body.
fn named<'t>(kind: Kind, node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    Candidate::new(kind, node, name).holds(node.child_by_field_name("body")).add(found)
}

fn declared<'t>(kind: Kind, node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    Candidate::new(kind, node, name).declared_if(true).add(found)
}

fn module<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let text = unquoted(&around.text(name));
    Candidate::new(Kind::Module, node, name).named(text).holds(node.child_by_field_name("body")).add(found)
}

fn type_alias<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let value = node.child_by_field_name("value");
    let mut definition = Candidate::new(Kind::Type, node, name).value(value);
    definition.members.extend(value.filter(|value| value.kind() == "object_type"));
    definition.add(found)
}

/// Takes a member whose name may be quoted.
fn member<'t>(
    kind: Kind,
    node: Node<'t>,
    name: Option<Node<'t>>,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> Step {
    let Some(name) = name else { return Step::Past };
    Candidate::new(kind, node, name).named(unquoted(&around.text(name))).add(found)
}

fn declared_member<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let text = unquoted(&around.text(name));
    let kind = if text == "constructor" { Kind::Constructor } else { Kind::Method };
    Candidate::new(kind, node, name).named(text).declared_if(true).add(found)
}

fn method<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let text = unquoted(&around.text(name));
    let kind = match text.as_str() {
        "constructor" if around.inside == Some(Kind::Class) => Kind::Constructor,
        _ if child_of_kind(node, &["get", "set"]).is_some() => Kind::Property,
        _ => Kind::Method,
    };
    let step =
        Candidate::new(kind, node, name).named(text).holds(node.child_by_field_name("body")).add(found);
    if kind == Kind::Constructor {
        parameters(node, around, found);
    }
    step
}

/// Takes the fields that parameters of a constructor make.
fn parameters<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) {
    let Some(parameters) = node.child_by_field_name("parameters") else { return };
    let mut cursor = parameters.walk();
    for parameter in parameters.named_children(&mut cursor) {
        let name = parameter.child_by_field_name("pattern").filter(|name| name.kind() == "identifier");
        let is_field = child_of_kind(parameter, &["accessibility_modifier", "readonly", "override_modifier"]);
        if let (Some(name), Some(_)) = (name, is_field) {
            found.push(Candidate::new(Kind::Field, parameter, name).named(around.text(name)));
        }
    }
}

fn field<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property"));
    let Some(name) = name else { return Step::Past };
    let value = node.child_by_field_name("value");
    let definition = match value.filter(|value| is_function(*value)) {
        Some(function) => Candidate::new(Kind::Method, node, name).body(function.child_by_field_name("body")),
        None => Candidate::new(Kind::Field, node, name).value(value),
    };
    definition.named(unquoted(&around.text(name))).add(found)
}

/// Takes a function in an object; objects in it are checked too.
fn pair<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let (Some(name), Some(value)) = (node.child_by_field_name("key"), node.child_by_field_name("value"))
    else {
        return Step::Past;
    };
    match value.kind() {
        "object" => Step::Into,
        _ if is_function(value) && name.kind() != "computed_property_name" => {
            let definition = Candidate::new(Kind::Method, node, name).named(unquoted(&around.text(name)));
            function_body(definition, value).add(found)
        }
        _ => Step::Past,
    }
}

fn export<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    if node.child_by_field_name("declaration").is_some() {
        return Step::Wrap;
    }
    let Some(value) = node.child_by_field_name("value") else {
        // `export namespace A {}` has no field.
        return if child_of_kind(node, &["internal_module"]).is_some() { Step::Wrap } else { Step::Past };
    };
    let value = plain(value);
    let Some(definition) = of_value(node, value, value) else { return Step::Past };
    match value.child_by_field_name("name") {
        Some(name) if value.kind() != "arrow_function" => Candidate { name, ..definition }.add(found),
        _ => definition.named("default".to_owned()).add(found),
    }
}

/// Takes the names that a statement binds, each with its value.
fn variables<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let is_constant = child_of_kind(node, &["const"]).is_some();
    let mut cursor = node.walk();
    let all: Vec<Node<'t>> =
        node.children(&mut cursor).filter(|child| child.kind() == "variable_declarator").collect();
    for declarator in &all {
        let Some(name) = declarator.child_by_field_name("name").filter(|name| name.kind() == "identifier")
        else {
            continue;
        };
        let whole = if all.len() == 1 { node } else { *declarator };
        let value = declarator.child_by_field_name("value");
        if value.is_some_and(|value| is_import(value, around)) {
            continue;
        }
        match value.and_then(|value| of_value(whole, name, plain(value))) {
            Some(definition) => {
                let is_object = definition.kind == Kind::Constant;
                let kind = if is_object && !is_constant { Kind::Variable } else { definition.kind };
                found.push(Candidate { kind, ..definition });
            }
            None => {
                let kind = if is_constant { Kind::Constant } else { Kind::Variable };
                let mut definition = Candidate::new(kind, whole, name).value(value);
                let called = value.map(plain).filter(|value| value.kind() == "call_expression");
                definition.members.extend(called.filter(|call| calls_where_it_stands(*call, around)));
                found.push(definition);
            }
        }
    }
    Step::Found
}

/// Creates a definition of a value that has parts: a function, a class, an object.
fn of_value<'t>(whole: Node<'t>, name: Node<'t>, value: Node<'t>) -> Option<Candidate<'t>> {
    match value.kind() {
        "class" => Some(Candidate::new(Kind::Class, whole, name).holds(value.child_by_field_name("body"))),
        "object" => {
            let definition = Candidate::new(Kind::Constant, whole, name).value(Some(value));
            Some(Candidate { members: vec![value], ..definition })
        }
        _ if is_function(value) => Some(function_body(Candidate::new(Kind::Function, whole, name), value)),
        _ => None,
    }
}

fn function_body<'t>(definition: Candidate<'t>, function: Node<'t>) -> Candidate<'t> {
    match function.child_by_field_name("body") {
        Some(body) if body.kind() == "statement_block" => definition.holds(Some(body)),
        body => definition.body(body),
    }
}

fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

/// Takes off what only TypeScript sees, and parentheses.
fn plain(mut node: Node<'_>) -> Node<'_> {
    while matches!(node.kind(), "as_expression" | "satisfies_expression" | "parenthesized_expression") {
        let Some(inner) = node.named_child(0) else { break };
        node = inner;
    }
    node
}

/// Returns whether a value is what another module exports.
fn is_import(value: Node<'_>, around: &NodeContext<'_>) -> bool {
    around.source.get(value.byte_range()).is_some_and(|text| text.starts_with(b"require("))
}

/// Looks at a statement outside functions: it may be a function that is called, or an assignment to a member.
fn statement<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(inner) = node.named_child(0) else { return Step::Past };
    match inner.kind() {
        "internal_module" => Step::Into,
        "unary_expression" | "parenthesized_expression" => Step::Into,
        "call_expression" if calls_where_it_stands(inner, around) => Step::Into,
        "assignment_expression" => assignment(node, inner, around, found),
        _ => Step::Past,
    }
}

/// Returns whether a call is of a function that is written where it is called, or of `define`.
fn calls_where_it_stands(call: Node<'_>, around: &NodeContext<'_>) -> bool {
    let Some(mut callee) = call.child_by_field_name("function") else { return false };
    if callee.kind() == "member_expression" {
        let Some(object) = callee.child_by_field_name("object") else { return false };
        callee = object;
    }
    match callee.kind() {
        "parenthesized_expression" => callee.named_child(0).is_some_and(is_function),
        "identifier" => around.is_text(callee, "define"),
        _ => is_function(callee),
    }
}

/// Takes functions, classes and objects that become members: `exports.a = …`, `A.prototype.b = …`.
fn assignment<'t>(
    node: Node<'t>,
    assignment: Node<'t>,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> Step {
    let fields = (assignment.child_by_field_name("left"), assignment.child_by_field_name("right"));
    let (Some(left), Some(right)) = fields else { return Step::Past };
    let value = plain(right);
    if left.kind() == "identifier" {
        return match of_value(node, left, value).filter(|it| it.kind != Kind::Constant) {
            Some(definition) => definition.add(found),
            None => Step::Past,
        };
    }
    let (Some(object), Some(name)) =
        (left.child_by_field_name("object"), left.child_by_field_name("property"))
    else {
        return Step::Past;
    };
    let (owner, last) = (around.text(object), around.text(name));
    let Some(definition) = of_value(node, name, value) else { return Step::Past };
    if owner == "module" && last == "exports" {
        return match value.child_by_field_name("name") {
            Some(name) if value.kind() != "object" => Candidate { name, ..definition }.add(found),
            _ => definition.add(found),
        };
    }
    if last == "prototype" {
        let definition = Candidate { kind: Kind::Implementation, name: object, ..definition };
        return definition.add(found);
    }
    let globals = ["exports", "module.exports", "window", "globalThis", "self", "global", "this", "root"];
    if globals.contains(&owner.as_str()) {
        return definition.add(found);
    }
    let owner = owner.strip_suffix(".prototype").unwrap_or(&owner);
    let owner = owner.rsplit('.').next().unwrap_or(owner).to_owned();
    let kind = if definition.kind == Kind::Function { Kind::Method } else { definition.kind };
    let owner = owner.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$').then_some(owner);
    Candidate { kind, owner, ..definition }.add(found)
}

/// Takes the quotes off a name.
fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '\'', '`']).to_owned()
}
