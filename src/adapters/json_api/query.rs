//! Reading the query of an address, strictly.

use bailiwick_contract::Failure;

/// Reads `name=value&…` into pairs, each name at most once and one of the accepted.
///
/// # Errors
/// `invalid_request` that names the parameter.
///
/// # Source
/// The URL standard's `application/x-www-form-urlencoded` parser: `+` is a space, `%XX` a byte.
pub(super) fn parse(query: &str, accepted: &[&'static str]) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut pairs: Vec<(&'static str, String)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wrong = |name: &str, message: &str| {
            Failure::invalid(name, format!("the query parameter `{name}` {message}"))
                .detail("accepted", accepted.to_vec())
        };
        let name = decode(name).unwrap_or_default();
        let shown: String = name.chars().take(64).collect();
        let Some(name) = accepted.iter().find(|it| **it == name) else {
            return Err(wrong(&shown, "is not known here").hint(format!("Use {}.", accepted.join(", "))));
        };
        if pairs.iter().any(|(other, _)| other == name) {
            return Err(wrong(name, "is given twice"));
        }
        let value = decode(value).ok_or_else(|| wrong(name, "is not percent-encoded UTF-8"))?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |it: Option<u8>| (it? as char).to_digit(16);
                u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pairs_and_names_what_is_wrong() {
        let accepted = &["view", "query"];
        assert_eq!(
            parse("view=last&query=a+b%26%c3%bc", accepted),
            Ok(vec![("view", "last".to_owned()), ("query", "a b&ü".to_owned())])
        );
        for (query, field) in
            [("token=x", "token"), ("view=a&view=b", "view"), ("query=%ff", "query"), ("view=%2", "view")]
        {
            assert_eq!(parse(query, accepted).expect_err("wrong").details["field"], field, "{query}");
        }
    }
}
