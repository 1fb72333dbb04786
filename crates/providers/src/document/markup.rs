//! XML, one node at a time. Entities other than those of XML itself are not replaced, and nothing outside is read.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::ConvertError;

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 1_000;

/// A part of a text in XML.
pub(super) enum Node {
    /// An element begins, here by its name without prefix.
    Start(String, Vec<(String, String)>),
    /// An element ends.
    End(String),
    /// Characters.
    Text(String),
}

/// Reads nodes.
pub(super) struct Markup<R> {
    reader: Reader<R>,
    buffer: Vec<u8>,
    depth: usize,
}

impl<R: BufRead> Markup<R> {
    pub(super) fn new(from: R) -> Self {
        let mut reader = Reader::from_reader(from);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, buffer: Vec::new(), depth: 0 }
    }

    /// Returns the next node; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Node>, ConvertError> {
        loop {
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer).map_err(|_| ConvertError::Damaged)?;
            let node = match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(ConvertError::Damaged);
                    }
                    Node::Start(local(start.local_name().as_ref()), attributes(&start))
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Node::End(local(end.local_name().as_ref()))
                }
                Event::Text(text) => Node::Text(String::from_utf8_lossy(&text).into_owned()),
                Event::CData(text) => Node::Text(String::from_utf8_lossy(&text).into_owned()),
                Event::GeneralRef(reference) => {
                    let name = String::from_utf8_lossy(&reference).into_owned();
                    match reference.resolve_char_ref() {
                        Ok(Some(c)) => Node::Text(c.to_string()),
                        _ => Node::Text(named(&name).to_owned()),
                    }
                }
                Event::Eof => return Ok(None),
                _ => continue,
            };
            return Ok(Some(node));
        }
    }
}

impl Node {
    /// Returns the value of an attribute of an element that begins.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let Self::Start(_, attributes) = self else { return None };
        attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn local(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn attributes(start: &BytesStart<'_>) -> Vec<(String, String)> {
    let mut list = start.attributes();
    list.with_checks(false)
        .flatten()
        .map(|attribute| {
            let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
            (local(attribute.key.local_name().as_ref()), value.map(|it| it.into_owned()).unwrap_or_default())
        })
        .collect()
}

fn named(name: &str) -> &'static str {
    match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}
