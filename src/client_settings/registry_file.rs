//! `server.json`: the entry for the MCP registry, which names a published bundle.
//!
//! # Source
//! The schema of 2025-12-11 and the registry's own requirements: github.com/modelcontextprotocol/registry,
//! docs/reference/server-json.

use serde_json::json;

use bailiwick_contract::Failure;

/// The schema that the entry follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// The longest name.
const MAX_NAME: usize = 200;

/// Checks what the registry asks of a name and a place.
///
/// # Errors
/// `invalid_request` with the rule.
pub fn check(name: &str, url: &str) -> Result<(), Failure> {
    let label = |it: &str| {
        !it.is_empty()
            && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '-')
            && !it.starts_with('-')
            && !it.ends_with('-')
    };
    let is_name = name.split_once('/').is_some_and(|(domain, server)| {
        domain.contains('.')
            && domain.split('.').all(label)
            && server.chars().all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it))
            && server.starts_with(|it: char| it.is_ascii_alphanumeric())
            && server.ends_with(|it: char| it.is_ascii_alphanumeric())
    });
    if !is_name || name.len() > MAX_NAME {
        return Err(Failure::invalid(
            "--registry-name",
            format!("`{name}` cannot be a name in the MCP registry"),
        )
        .hint("Write a domain of yours backwards, a slash and a name: io.github.example/bailiwick."));
    }
    let is_place = url.starts_with("https://")
        && url.to_lowercase().contains("mcp")
        && !url.contains(char::is_whitespace);
    if !is_place {
        return Err(Failure::invalid("--url", format!("the MCP registry takes no bundle from `{url}`"))
            .hint(
                "Write an https address that has `mcp` in it, such as https://example.org/bailiwick.mcpb.",
            ));
    }
    Ok(())
}

/// Writes the entry.
pub fn text(name: &str, version: &str, url: &str, sha256: &str) -> String {
    let entry = json!({
        "$schema": SCHEMA,
        "name": name,
        "title": "Bailiwick",
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "version": version,
        "packages": [{
            "registryType": "mcpb",
            "identifier": url,
            "version": version,
            "fileSha256": sha256,
            "transport": {"type": "stdio"},
        }],
    });
    format!("{entry:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://github.com/example/bailiwick/releases/download/v1/bailiwick.mcpb";

    #[test]
    fn names_are_a_domain_backwards_a_slash_and_a_name() {
        assert!(check("io.github.example/bailiwick", URL).is_ok());
        for name in [
            "bailiwick",
            "example/bailiwick",
            "io.github.example/",
            "io..x/b",
            "io.x/a/b",
            "io.x/-b",
            "io.-x/b",
        ] {
            assert!(check(name, URL).is_err(), "{name}");
        }
    }

    #[test]
    fn places_are_those_that_the_registry_takes() {
        for url in ["http://example.org/x.mcpb", "https://example.org/x.zip", "https://example.org/x y.mcpb"]
        {
            assert!(check("io.github.example/bailiwick", url).is_err(), "{url}");
        }
    }
}
