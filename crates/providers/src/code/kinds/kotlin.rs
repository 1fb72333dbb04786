//! Kotlin.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "class_declaration" => class(node, around, found),
        "object_declaration" => object(node, node.child_by_field_name("name"), found),
        "companion_object" => object(node, node.child_by_field_name("name"), found),
        "function_declaration" => function(node, around, found),
        "secondary_constructor" => {
            let Some(name) = child_of_kind(node, &["constructor"]) else { return Step::Past };
            let body = child_of_kind(node, &["block"]);
            Candidate::new(Kind::Constructor, node, name).body(body).add(found)
        }
        "class_parameter" => parameter(node, found),
        "property_declaration" => property(node, around, found),
        "type_alias" => {
            let name = node.child_by_field_name("type").or_else(|| child_of_kind(node, &["identifier"]));
            let Some(name) = name else { return Step::Past };
            Candidate::new(Kind::Type, node, name).add(found)
        }
        "enum_entry" => {
            let Some(name) = child_of_kind(node, &["identifier"]) else { return Step::Past };
            Candidate::new(Kind::EnumMember, node, name)
                .holds(child_of_kind(node, &["class_body"]))
                .add(found)
        }
        "class_parameters" => Step::Into,
        // Reached only in code that may define something: objects without a name, and what they are given to.
        _ if around.inside.is_some_and(holds_code) && !node.kind().contains("string") => Step::Into,
        _ => Step::Past,
    }
}

/// Returns whether what a definition of a kind holds is code.
fn holds_code(kind: Kind) -> bool {
    kind.is_callable() || matches!(kind, Kind::Property | Kind::Constant | Kind::Variable)
}

/// Returns code in which something is defined; what is defined there by name has one of these words.
fn inner<'t>(code: Option<Node<'t>>, around: &NodeContext<'_>) -> Option<Node<'t>> {
    let text = around.source.get(code?.byte_range())?;
    let words: [&[u8]; 4] = [b"object ", b"class ", b"fun ", b"object:"];
    code.filter(|_| words.iter().any(|word| memchr::memmem::find(text, word).is_some()))
}

fn class<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let has =
        |word: &str| child_of_kind(node, &["modifiers"]).is_some_and(|it| modifiers_have(it, word, around));
    let kind = if child_of_kind(node, &["interface"]).is_some() {
        Kind::Interface
    } else if has("enum") {
        Kind::Enum
    } else {
        Kind::Class
    };
    let mut definition = Candidate::new(kind, node, name);
    definition.members.extend(child_of_kind(node, &["primary_constructor"]));
    definition.holds(child_of_kind(node, &["class_body", "enum_class_body"])).add(found)
}

fn modifiers_have(modifiers: Node<'_>, word: &str, around: &NodeContext<'_>) -> bool {
    let mut cursor = modifiers.walk();
    modifiers.children(&mut cursor).any(|child| around.is_text(child, word))
}

fn object<'t>(node: Node<'t>, name: Option<Node<'t>>, found: &mut Vec<Candidate<'t>>) -> Step {
    let body = child_of_kind(node, &["class_body"]);
    match name {
        Some(name) => Candidate::new(Kind::Class, node, name).holds(body).add(found),
        None => {
            let keyword = child_of_kind(node, &["object"]).unwrap_or(node);
            Candidate::new(Kind::Class, node, keyword).named("Companion".to_owned()).holds(body).add(found)
        }
    }
}

fn function<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let owner = receiver(node, name, around);
    let kind = if owner.is_some() { Kind::Method } else { around.function() };
    let body = child_of_kind(node, &["function_body"]);
    let definition = Candidate::new(kind, node, name).value(body.filter(|body| is_expression(*body, around)));
    let definition = match body {
        Some(body) if !is_expression(body, around) => definition.body(Some(body)),
        _ => definition,
    };
    let mut definition = Candidate { owner, ..definition }.declared_if(body.is_none());
    definition.members.extend(inner(body, around));
    definition.add(found)
}

/// Returns whether a body is an expression behind `=`.
fn is_expression(body: Node<'_>, around: &NodeContext<'_>) -> bool {
    around.source.get(body.start_byte()) == Some(&b'=')
}

/// Finds the type that an extension extends: it is before the name.
fn receiver(node: Node<'_>, name: Node<'_>, around: &NodeContext<'_>) -> Option<String> {
    let mut cursor = node.walk();
    let before = node
        .children(&mut cursor)
        .take_while(|child| child.start_byte() < name.start_byte())
        .filter(|child| matches!(child.kind(), "user_type" | "nullable_type" | "parenthesized_type"))
        .last()?;
    let mut of = before;
    while of.kind() != "user_type" {
        of = of.named_child(0)?;
    }
    let mut cursor = of.walk();
    let last = of.named_children(&mut cursor).filter(|child| child.kind() == "identifier").last()?;
    Some(around.text(last))
}

/// Takes a property that a parameter of the constructor makes.
fn parameter<'t>(node: Node<'t>, found: &mut Vec<Candidate<'t>>) -> Step {
    if child_of_kind(node, &["val", "var"]).is_none() {
        return Step::Past;
    }
    let Some(name) = child_of_kind(node, &["identifier"]) else { return Step::Past };
    Candidate::new(Kind::Property, node, name).add(found)
}

fn property<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    if around.inside.is_some_and(holds_code) {
        return Step::Into;
    }
    let Some(variable) = child_of_kind(node, &["variable_declaration"]) else { return Step::Past };
    let Some(name) = child_of_kind(variable, &["identifier"]) else { return Step::Past };
    let modifiers = child_of_kind(node, &["modifiers"]);
    let owner = receiver(node, variable, around);
    let is_constant = modifiers.is_some_and(|modifiers| modifiers_have(modifiers, "const", around));
    let kind = match around.inside {
        _ if is_constant => Kind::Constant,
        Some(_) => Kind::Property,
        None if owner.is_some() => Kind::Property,
        None if child_of_kind(node, &["val"]).is_some() => Kind::Constant,
        None => Kind::Variable,
    };
    let mut cursor = node.walk();
    let value =
        node.children(&mut cursor).skip_while(|child| child.kind() != "=").find(|child| child.is_named());
    let delegate = child_of_kind(node, &["property_delegate"]);
    let accessor = child_of_kind(node, &["getter", "setter"]);
    let mut definition = Candidate::new(kind, node, name).value(value).value(delegate).body(accessor);
    definition.members.extend([value, delegate, accessor].into_iter().filter_map(|code| inner(code, around)));
    Candidate { owner, ..definition }.add(found)
}
