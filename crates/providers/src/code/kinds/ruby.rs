//! Ruby. Methods that are made by a call are seen where the call is a usual one.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "module" => holder(Kind::Module, node, around, found),
        "class" => holder(Kind::Class, node, around, found),
        "method" | "singleton_method" => method(node, around, found),
        "alias" => match node.child_by_field_name("name") {
            Some(name) => {
                let text = around.text(name).trim_start_matches(':').to_owned();
                Candidate::new(function_kind(around), node, name).named(text).add(found)
            }
            None => Step::Past,
        },
        _ if !around.is_outside_functions() => Step::Past,
        "assignment" | "operator_assignment" => constant(node, around, found),
        "call" => call(node, around, found),
        "singleton_class"
        | "body_statement"
        | "block_body"
        | "do_block"
        | "block"
        | "argument_list"
        | "if"
        | "unless"
        | "elsif"
        | "then"
        | "else"
        | "begin"
        | "rescue"
        | "ensure"
        | "if_modifier"
        | "unless_modifier"
        | "parenthesized_statements" => Step::Into,
        _ => Step::Past,
    }
}

fn function_kind(around: &NodeContext<'_>) -> Kind {
    match around.inside {
        Some(Kind::Class | Kind::Module | Kind::Struct) => Kind::Method,
        _ => Kind::Function,
    }
}

/// Takes a name such as `A::B` apart.
fn last_of<'t>(name: Node<'t>, around: &NodeContext<'_>) -> (Node<'t>, Option<String>) {
    if name.kind() != "scope_resolution" {
        return (name, None);
    }
    let owner = name.child_by_field_name("scope").map(|scope| around.text(scope));
    (name.child_by_field_name("name").unwrap_or(name), owner)
}

fn holder<'t>(kind: Kind, node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let (name, owner) = last_of(name, around);
    let definition = Candidate::new(kind, node, name).holds(node.child_by_field_name("body"));
    let header_end = node.child_by_field_name("superclass").map_or(name.end_byte(), |it| it.end_byte());
    Candidate { owner, header_end, ..definition }.add(found)
}

fn method<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let object = node.child_by_field_name("object");
    let owner = object.filter(|object| object.kind() == "constant").map(|object| around.text(object));
    let kind = match function_kind(around) {
        Kind::Method if object.is_none() && around.is_text(name, "initialize") => Kind::Constructor,
        _ if owner.is_some() => Kind::Method,
        kind => kind,
    };
    let header_end = node.child_by_field_name("parameters").map_or(name.end_byte(), |it| it.end_byte());
    Candidate { owner, header_end, ..Candidate::new(kind, node, name) }.add(found)
}

/// Takes a constant; what is made by `Struct.new` or `Class.new` is a class.
fn constant<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return Step::Past;
    };
    let (name, owner) = last_of(left, around);
    let block = right.child_by_field_name("block").filter(|_| right.kind() == "call");
    if name.kind() != "constant" {
        // `it = Class.new do … end.new`: its methods have no other owner.
        return if right.kind() == "call" { Step::Into } else { Step::Past };
    }
    let made = right.child_by_field_name("receiver").filter(|_| right.kind() == "call");
    let made = made.map(|receiver| around.text(receiver)).unwrap_or_default();
    let kind = match made.as_str() {
        "Struct" | "Data" => Kind::Struct,
        "Class" => Kind::Class,
        "Module" => Kind::Module,
        _ => Kind::Constant,
    };
    let mut definition = Candidate::new(kind, node, name).value(Some(right));
    // `Options.new do … end` may make a class, too.
    definition.members.extend(block);
    if kind != Kind::Constant {
        definition.header_end = block.map_or(definition.header_end, |block| block.start_byte());
    }
    Candidate { owner, first_only: true, ..definition }.add(found)
}

fn call<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(method) = node.child_by_field_name("method") else { return Step::Past };
    let block = node.child_by_field_name("block");
    let arguments = node.child_by_field_name("arguments");
    let name = around.text(method);
    let kind = match name.as_str() {
        "attr_accessor" | "attr_reader" | "attr_writer" | "attr" | "cattr_accessor" | "mattr_accessor"
        | "class_attribute" => Kind::Property,
        "define_method" | "define_singleton_method" | "alias_method" => function_kind(around),
        _ => {
            // `private def …`, and blocks that are in a class or a module.
            let has_method = arguments
                .and_then(|arguments| arguments.named_child(0))
                .is_some_and(|first| matches!(first.kind(), "method" | "singleton_method" | "call"));
            let is_chain = node.child_by_field_name("receiver").is_some_and(|it| it.kind() == "call");
            return if block.is_some() || has_method || is_chain { Step::Into } else { Step::Past };
        }
    };
    let Some(arguments) = arguments else { return Step::Past };
    let only_first = kind != Kind::Property;
    let mut cursor = arguments.walk();
    for symbol in arguments.named_children(&mut cursor) {
        if symbol.kind() == "simple_symbol" {
            let text = around.text(symbol).trim_start_matches(':').to_owned();
            found.push(Candidate::new(kind, node, symbol).named(text).body(block));
        }
        if only_first {
            break;
        }
    }
    Step::Found
}
