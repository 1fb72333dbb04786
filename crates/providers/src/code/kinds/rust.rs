//! Rust. Items in function bodies count where they are directly in the body.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// How long the name of an implementation can be whose type has none.
const MAX_TYPE_CHARS: usize = 60;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let kind = match node.kind() {
        "function_item" | "function_signature_item" => around.function(),
        "struct_item" | "union_item" => Kind::Struct,
        "enum_item" => Kind::Enum,
        "enum_variant" => Kind::EnumMember,
        "field_declaration" => Kind::Field,
        "trait_item" => Kind::Trait,
        "impl_item" => return implementation(node, around, found),
        "mod_item" => Kind::Module,
        "static_item" if child_of_kind(node, &["mutable_specifier"]).is_some() => Kind::Variable,
        // What derives write hides in a constant without a name.
        "const_item" if is_unnamed(node, around) => return Step::Into,
        "const_item" | "static_item" => Kind::Constant,
        "type_item" | "associated_type" => Kind::Type,
        "macro_definition" => Kind::Macro,
        "foreign_mod_item" | "declaration_list" | "block" => return Step::Into,
        _ => return Step::Past,
    };
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let body = node.child_by_field_name("body");
    let mut definition = Candidate::new(kind, node, name);
    definition.text = around.text(name).strip_prefix("r#").map(str::to_owned);
    let definition = match kind {
        Kind::Macro => definition.body(child_of_kind(node, &["macro_rule", "(", "{", "["])),
        Kind::EnumMember => definition,
        Kind::Constant | Kind::Variable => definition.value(node.child_by_field_name("value")),
        Kind::Type => definition.value(node.child_by_field_name("type")),
        // A tuple of fields says what the struct is.
        Kind::Struct if body.is_some_and(|body| body.kind() == "ordered_field_declaration_list") => {
            definition
        }
        _ => definition.holds(body),
    };
    let declared_only = match kind {
        Kind::Function | Kind::Method | Kind::Module => body.is_none(),
        _ => node.kind() == "associated_type",
    };
    definition.declared_if(declared_only).add(found)
}

fn is_unnamed(constant: Node<'_>, around: &NodeContext<'_>) -> bool {
    constant.child_by_field_name("name").is_some_and(|name| around.is_text(name, "_"))
}

fn implementation<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(of) = node.child_by_field_name("type") else { return Step::Into };
    let name = type_name(of);
    let definition = Candidate::new(Kind::Implementation, node, name).holds(node.child_by_field_name("body"));
    if name.kind().ends_with("identifier") || name.kind() == "primitive_type" {
        return definition.add(found);
    }
    let text: String = around.text(name).split_whitespace().collect::<Vec<_>>().join(" ");
    definition.named(text.chars().take(MAX_TYPE_CHARS).collect()).add(found)
}

/// Finds the name in a type: of `&mut a::B<C>` it is `B`.
fn type_name(mut node: Node<'_>) -> Node<'_> {
    loop {
        let inner = match node.kind() {
            "generic_type" | "reference_type" | "pointer_type" => node.child_by_field_name("type"),
            "scoped_type_identifier" => node.child_by_field_name("name"),
            "dynamic_type" | "abstract_type" => node.child_by_field_name("trait"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}
