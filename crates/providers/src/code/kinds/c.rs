//! C and C++. What a macro makes is not seen, and a macro that is no C confuses the grammar.

use tree_sitter::Node;

use super::{Candidate, NodeContext, Step, child_of_kind};
use crate::code::Kind;

/// Looks at a node.
pub(super) fn look<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    match node.kind() {
        "function_definition" => function(node, around, found),
        "declaration" if !around.is_outside_functions() => local_type(node, around, found),
        "declaration" | "field_declaration" => declaration(node, around, found),
        "type_definition" => type_definition(node, around, found),
        "struct_specifier" | "union_specifier" | "class_specifier" | "enum_specifier" => {
            // The members of a type without a name are members of what it is in.
            if type_with_body(node, node, around, found) { Step::Found } else { Step::Into }
        }
        "enumerator" => {
            let Some(name) = node.child_by_field_name("name") else { return Step::Past };
            Candidate::new(Kind::EnumMember, node, name).add(found)
        }
        "preproc_def" | "preproc_function_def" => define(node, around, found),
        "namespace_definition" => namespace(node, around, found),
        "template_declaration" | "friend_declaration" => Step::Wrap,
        "compound_statement" | "if_statement" | "else_clause" | "for_statement" | "while_statement"
        | "do_statement" | "switch_statement" | "case_statement" | "labeled_statement" | "try_statement"
        | "catch_clause" | "for_range_loop"
            if !around.is_outside_functions() =>
        {
            Step::Into
        }
        "alias_declaration" | "concept_definition" => {
            let Some(name) = node.child_by_field_name("name") else { return Step::Past };
            Candidate::new(Kind::Type, node, name).value(node.child_by_field_name("type")).add(found)
        }
        "preproc_if"
        | "preproc_ifdef"
        | "preproc_else"
        | "preproc_elif"
        | "preproc_elifdef"
        | "linkage_specification"
        | "declaration_list"
        | "field_declaration_list"
        | "enumerator_list" => Step::Into,
        _ => Step::Past,
    }
}

fn define<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Past };
    let value = node.child_by_field_name("value");
    if value.is_none() && is_guard(around.text(name).as_bytes(), b"") {
        return Step::Past;
    }
    Candidate::new(Kind::Macro, node, name).value(value).add(found)
}

/// Returns whether a macro only guards a header from being included twice.
pub(in crate::code) fn is_guard(name: &[u8], value: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_uppercase();
    let last = name.trim_end_matches('_').rsplit('_').next().unwrap_or_default();
    value.is_empty() && ["H", "HH", "HPP", "HXX", "INCLUDED", "GUARD"].contains(&last)
}

fn namespace<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(name) = node.child_by_field_name("name") else { return Step::Into };
    let names = around.text(name);
    let mut names: Vec<&str> = names.split("::").map(str::trim).collect();
    let last = names.pop().unwrap_or_default().to_owned();
    let owner = (!names.is_empty()).then(|| names.join("::"));
    let definition = Candidate::new(Kind::Module, node, name).named(last);
    Candidate { owner, ..definition }.holds(node.child_by_field_name("body")).add(found)
}

/// Takes a struct, union, class or enumeration that is defined here.
fn type_with_body<'t>(
    node: Node<'t>,
    whole: Node<'t>,
    around: &NodeContext<'_>,
    found: &mut Vec<Candidate<'t>>,
) -> bool {
    let Some(body) = node.child_by_field_name("body") else { return false };
    let kind = type_kind(node);
    match node.child_by_field_name("name").filter(|name| !name.is_missing()) {
        Some(name) => {
            let Name { node: name, text, owner } = resolve(name, around);
            let definition = Candidate::new(kind, whole, name).holds(Some(body));
            found.push(Candidate { text, owner, ..definition });
            true
        }
        None => false,
    }
}

fn type_kind(node: Node<'_>) -> Kind {
    match node.kind() {
        "class_specifier" => Kind::Class,
        "enum_specifier" => Kind::Enum,
        _ => Kind::Struct,
    }
}

fn function<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(declarator) = node.child_by_field_name("declarator") else { return Step::Past };
    let Some(Name { node: name, text, owner }) = declared_name(declarator, around) else { return Step::Past };
    let kind = function_kind(&text.clone().unwrap_or_else(|| around.text(name)), owner.as_deref(), around);
    let body = node.child_by_field_name("body");
    let definition = Candidate::new(kind, node, name).body(child_of_kind(node, &["field_initializer_list"]));
    let definition = match body.filter(|body| has_type(*body, around)) {
        Some(body) => definition.holds(Some(body)),
        None => definition.body(body),
    };
    Candidate { text, owner, ..definition }.add(found)
}

/// Returns whether the body of a function may define a type.
fn has_type(body: Node<'_>, around: &NodeContext<'_>) -> bool {
    let text = around.source.get(body.byte_range()).unwrap_or_default();
    let words: [&[u8]; 4] = [b"struct", b"class", b"enum", b"union"];
    words.iter().any(|word| {
        memchr::memmem::find_iter(text, word).any(|at| {
            let mut rest = text[at + word.len()..].trim_ascii_start();
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            rest = rest[name..].trim_ascii_start();
            rest.starts_with(b"{") || rest.starts_with(b":") || rest.starts_with(b"final")
        })
    })
}

/// Takes a type that is defined within a function.
fn local_type<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(of) = node.child_by_field_name("type") else { return Step::Past };
    if of.child_by_field_name("body").is_none() {
        return Step::Past;
    }
    if type_with_body(of, of, around, found) { Step::Found } else { Step::Into }
}

/// Tells functions from methods, and those from constructors.
fn function_kind(name: &str, owner: Option<&str>, around: &NodeContext<'_>) -> Kind {
    let of = match owner {
        Some(owner) => owner.rsplit("::").next().unwrap_or(owner),
        None if around.has_methods() => around.inside_name,
        None => return Kind::Function,
    };
    if name == of { Kind::Constructor } else { Kind::Method }
}

/// Takes what a declaration declares: types, variables, prototypes, members.
fn declaration<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let mut cursor = node.walk();
    let declarators: Vec<Node<'t>> = node.children_by_field_name("declarator", &mut cursor).collect();
    let mut body = None;
    if let Some(of) = node.child_by_field_name("type") {
        let whole = if declarators.is_empty() { node } else { of };
        let is_taken = type_with_body(of, whole, around, found);
        body = of.child_by_field_name("body").filter(|_| !is_taken);
        if declarators.is_empty() && body.is_some() {
            return Step::Into;
        }
    }
    let is_constant = children_have(node, around, &["const", "constexpr", "constinit"]);
    let is_elsewhere = children_have(node, around, &["extern"]);
    for declarator in declarators {
        let value =
            declarator.child_by_field_name("value").or_else(|| node.child_by_field_name("default_value"));
        let Some(Name { node: name, text, owner }) = declared_name(declarator, around) else { continue };
        let definition = if is_prototype(declarator) {
            let text = text.clone().unwrap_or_else(|| around.text(name));
            Candidate::new(function_kind(&text, owner.as_deref(), around), node, name).declared_if(true)
        } else {
            let kind = match node.kind() == "field_declaration" || around.has_methods() {
                true if is_constant && value.is_some() => Kind::Constant,
                true => Kind::Field,
                false if is_constant => Kind::Constant,
                false => Kind::Variable,
            };
            Candidate::new(kind, node, name).value(value).holds(body.take()).declared_if(is_elsewhere)
        };
        found.push(Candidate { text, owner, ..definition });
    }
    Step::Found
}

fn children_have(node: Node<'_>, around: &NodeContext<'_>, words: &[&str]) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .filter(|child| matches!(child.kind(), "type_qualifier" | "storage_class_specifier"))
        .any(|child| words.iter().any(|word| around.is_text(child, word)))
}

/// Tells a prototype from a variable that points to a function.
fn is_prototype(mut node: Node<'_>) -> bool {
    loop {
        if node.kind() == "function_declarator" {
            let inner = node.child_by_field_name("declarator");
            return inner.is_none_or(|inner| inner.kind() != "parenthesized_declarator");
        }
        if node.kind() == "operator_cast" {
            return true;
        }
        match inner_declarator(node) {
            Some(inner) => node = inner,
            None => return false,
        }
    }
}

fn inner_declarator(node: Node<'_>) -> Option<Node<'_>> {
    if !node.kind().ends_with("declarator") {
        return None;
    }
    node.child_by_field_name("declarator").or_else(|| {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).find(|child| {
            let kind = child.kind();
            kind.ends_with("declarator") || kind.ends_with("identifier") || kind == "operator_name"
        })
    })
}

/// A name, and what is known of it.
struct Name<'t> {
    node: Node<'t>,
    text: Option<String>,
    owner: Option<String>,
}

fn declared_name<'t>(mut node: Node<'t>, around: &NodeContext<'_>) -> Option<Name<'t>> {
    while let Some(inner) = inner_declarator(node) {
        node = inner;
    }
    let is_name = node.kind().ends_with("identifier")
        || matches!(
            node.kind(),
            "operator_name"
                | "destructor_name"
                | "template_function"
                | "template_method"
                | "operator_cast"
                | "primitive_type"
        );
    is_name.then(|| resolve(node, around))
}

/// Takes a name apart that may be qualified, a template's, or an operator's.
fn resolve<'t>(mut node: Node<'t>, around: &NodeContext<'_>) -> Name<'t> {
    let mut owners: Vec<String> = Vec::new();
    loop {
        match node.kind() {
            "qualified_identifier" => {
                let Some(name) = node.child_by_field_name("name") else { break };
                if let Some(scope) = node.child_by_field_name("scope") {
                    owners.push(around.text(scope.child_by_field_name("name").unwrap_or(scope)));
                }
                node = name;
            }
            "template_function" | "template_method" | "template_type" => {
                let Some(name) = node.child_by_field_name("name") else { break };
                node = name;
            }
            _ => break,
        }
    }
    let text = match node.kind() {
        "operator_name" | "destructor_name" => Some(collapsed(&around.text(node))),
        "operator_cast" => {
            let of = node.child_by_field_name("type").map(|of| around.text(of)).unwrap_or_default();
            Some(format!("operator {}", collapsed(&of)))
        }
        _ => None,
    };
    Name { node, text, owner: (!owners.is_empty()).then(|| owners.join("::")) }
}

/// Takes out the blanks but those between words.
fn collapsed(text: &str) -> String {
    let mut whole = String::new();
    for word in text.split_whitespace() {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        if whole.ends_with(is_word) && word.starts_with(is_word) {
            whole.push(' ');
        }
        whole.push_str(word);
    }
    whole
}

fn type_definition<'t>(node: Node<'t>, around: &NodeContext<'_>, found: &mut Vec<Candidate<'t>>) -> Step {
    let Some(of) = node.child_by_field_name("type") else { return Step::Past };
    let tag = of.child_by_field_name("name").map(|name| around.text(name));
    let body = of.child_by_field_name("body");
    let mut cursor = node.walk();
    let declarators: Vec<Node<'t>> = node.children_by_field_name("declarator", &mut cursor).collect();
    let mut is_taken = body.is_none();
    if body.is_some() && tag.is_some() {
        is_taken = type_with_body(of, node, around, found);
    }
    for declarator in declarators {
        let Some(Name { node: name, .. }) = declared_name(declarator, around) else { continue };
        if tag.as_deref().is_some_and(|tag| body.is_some() && around.is_text(name, tag)) {
            continue;
        }
        if !is_taken && declarator.kind() == "type_identifier" {
            is_taken = true;
            found.push(Candidate::new(type_kind(of), node, name).holds(body));
            continue;
        }
        found.push(Candidate::new(Kind::Type, node, name).body(body));
    }
    Step::Found
}
