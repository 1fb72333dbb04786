//! JSON text that is made once and passed on as it is, and JSON text of others that must mean one thing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The JSON text of a value: compact, on one line, well formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Writes a value's JSON text.
    ///
    /// # Errors
    /// When the value has no JSON form.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Visits every text in order: values with the name of the field that holds them or the list they are in, and names of
    /// fields without one.
    pub fn visit_texts(&self, mut visit: impl FnMut(Option<&str>, &str)) {
        self.walk(|field, text, _| visit(field, &text));
    }

    /// Replaces texts, as [`Self::visit_texts`] visits them; whatever else there is stays as it is written. `None` if nothing
    /// is replaced.
    #[must_use]
    pub fn replace_texts(
        &self,
        mut replace: impl FnMut(Option<&str>, &str) -> Option<String>,
    ) -> Option<Self> {
        let (mut out, mut done) = (String::new(), 0);
        self.walk(|field, text, place| {
            if let Some(new) = replace(field, &text) {
                out.push_str(&self.0[done..place.start]);
                out.push_str(&Value::from(new).to_string());
                done = place.end;
            }
        });
        (done > 0).then(|| {
            out.push_str(&self.0[done..]);
            Self(out)
        })
    }

    fn walk(&self, mut visit: impl FnMut(Option<&str>, Cow<'_, str>, Range<usize>)) {
        let (text, mut at, mut field) = (&self.0, 0, "");
        while let Some(found) = text[at..].find('"') {
            let start = at + found;
            let mut end = start + 1;
            // The text is well formed: every quote is closed.
            while let Some(next) = text[end..].find(['"', '\\']) {
                let is_quote = text.as_bytes()[end + next] == b'"';
                end += next + if is_quote { 1 } else { 2 };
                if is_quote {
                    break;
                }
            }
            let inner = &text[start + 1..end - 1];
            let holder = if text[end..].starts_with(':') {
                field = inner;
                None
            } else {
                Some(field)
            };
            if inner.contains('\\') {
                let read =
                    serde_json::from_str(&text[start..end]).expect("the text was written from a value");
                visit(holder, Cow::Owned(read), start..end);
            } else {
                visit(holder, Cow::Borrowed(inner), start..end);
            }
            at = end;
        }
    }

    /// Reads the text into a tree.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).expect("the text was written from a value")
    }
}

/// Reads a JSON text in which no object has a key twice: of two values a reader may take either one.
///
/// # Errors
/// When the text is not JSON; of the category `Data` when a key is doubled.
pub fn read_unambiguous(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<UniqueKeyValue>(text).map(|read| read.0)
}

/// Checks that a text is JSON in which no object has a key twice.
///
/// # Errors
/// As [`read_unambiguous`].
pub fn check_unambiguous(text: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<UniqueKeys>(text).map(drop)
}

/// A value without doubled keys.
struct UniqueKeyValue(Value);

impl<'de> Deserialize<'de> for UniqueKeyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(UniqueKeyValue(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(Value::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if read.contains_key(&key) {
                return Err(doubled(&key));
            }
            let UniqueKeyValue(value) = fields.next_value()?;
            read.insert(key, value);
        }
        Ok(Value::Object(read))
    }
}

/// The sign that a value has no doubled keys.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Checker)
    }
}

struct Checker;

impl<'de> Visitor<'de> for Checker {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        while let Some(UniqueKeys) = items.next_element()? {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<UniqueKeys, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(doubled(&key));
            }
            keys.insert(key);
            let UniqueKeys = fields.next_value()?;
        }
        Ok(UniqueKeys)
    }
}

fn doubled<E: serde::de::Error>(key: &str) -> E {
    let key: String = key.chars().take(64).collect();
    E::custom(format_args!("the key `{key}` is there twice"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_key_is_refused_at_every_depth_however_it_is_written() {
        for text in [
            r#"{"op":"file.read","op":"file.delete"}"#,
            r#"{"op":1,"\u006fp":2}"#,
            r#"{"a":[1,{"b":{"c":1,"d":2,"c":1}}]}"#,
            r#"[[[{"":1,"":1}]]]"#,
            r#"{"a":{"x":1},"b":2,"a":{"x":1}}"#,
        ] {
            let error = read_unambiguous(text.as_bytes()).expect_err(text);
            assert!(error.is_data() && error.to_string().contains("is there twice"), "{error}");
            assert!(check_unambiguous(text.as_bytes()).expect_err(text).is_data());
        }
    }

    #[test]
    fn other_texts_are_read_as_always() {
        for text in [
            r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"A":null,"c":[true,-1,1.5e3,18446744073709551615,"\n\u00fc"]}"#,
            "[]",
            " \"x\" ",
            "null",
        ] {
            let read = read_unambiguous(text.as_bytes()).expect(text);
            assert_eq!(read, serde_json::from_str::<Value>(text).expect(text));
            check_unambiguous(text.as_bytes()).expect(text);
        }
        for text in ["", "{", "[1,]", "{\"a\":1}x", "\u{feff}{}", "{\"a\" 1}", "nul"] {
            assert!(!read_unambiguous(text.as_bytes()).expect_err(text).is_data());
            assert!(!check_unambiguous(text.as_bytes()).expect_err(text).is_data());
        }
        let deep = "[".repeat(100_000);
        assert!(read_unambiguous(deep.as_bytes()).is_err() && check_unambiguous(deep.as_bytes()).is_err());
    }
}
