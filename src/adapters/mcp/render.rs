//! Turning a reply into a tool result.

use rmcp::model::{
    CallToolResult, ContentBlock, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;

use bailiwick_contract::{Image, Reply};

use super::answer;

/// How a result comes by its structured content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StructuredContent {
    /// It holds it.
    Held,
    /// The transport puts it there: see [`splice`].
    Spliced,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// What was asked for, as text: see [`answer`].
    Text,
    /// The whole envelope, for who asks for `detail` = `full`.
    Whole(StructuredContent),
}

/// Returns the tool result of a reply: what was asked for as text, or its JSON as text and as structured content.
///
/// Structured content is set for nobody else: some clients show their models both. With images there is none at
/// all: two clients show nothing else once it is set.
pub(super) fn tool_result(reply: Reply, form: Form) -> CallToolResult {
    let Reply { ok, text, images } = reply;
    let structured = match form {
        Form::Whole(structured) => Some(structured),
        Form::Text => None,
    };
    let text = match structured {
        Some(_) => text,
        None => answer::answer(&text),
    };
    if !images.is_empty() {
        let mut content: Vec<ContentBlock> = images.into_iter().map(image).collect();
        content.push(ContentBlock::text(text));
        return CallToolResult::success(content);
    }
    let value = structured.map(|structured| match structured {
        StructuredContent::Held => serde_json::from_str(&text).expect("a reply is JSON text"),
        StructuredContent::Spliced => Value::Null,
    });
    let text = vec![ContentBlock::text(text)];
    let mut result = if ok { CallToolResult::success(text) } else { CallToolResult::error(text) };
    // Some clients show a model both, so of an error there is one.
    result.structured_content = value.filter(|_| ok);
    result
}

fn image(image: Image) -> ContentBlock {
    ContentBlock::image(image.base64, image.mime_type)
}

/// The mark of [`StructuredContent::Spliced`] in a line. No string can hold it: within one, the quotes have
/// a backslash before them.
const MARK: &[u8] = b",\"structuredContent\":null";

/// Writes a message, with the structured content that a result waits for.
pub(super) fn message(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut text = serde_json::to_vec(message).expect("protocol messages have a JSON form");
    if let JsonRpcMessage::Response(response) = message
        && let ServerResult::CallToolResult(result) = &response.result
        && let Some(awaited) = awaited(result)
    {
        splice(&mut text, awaited);
    }
    text
}

/// Writes the answer to a call, as [`tool_result`] and [`message`] do. The content of a file, which is most of it, is a JSON
/// string in the reply and here: it is passed on as it is written.
pub(super) fn answer(reply: Reply, form: Form, is_modern: bool, id: RequestId) -> Vec<u8> {
    let written = |mut result: CallToolResult| {
        if !is_modern {
            result.result_type = None;
        }
        message(&ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), id))
    };
    let is_text = form == Form::Text && reply.images.is_empty();
    let Some(read) = is_text.then(|| answer::read_file(&reply.text)).flatten() else {
        return written(tool_result(reply, form));
    };
    let empty = written(CallToolResult::success(vec![ContentBlock::text("")]));
    let at = memchr::memmem::find(&empty, EMPTY_TEXT).expect("it was written there") + EMPTY_TEXT.len() - 1;
    let (head, rest) = empty.split_at(at);
    [head, read.about.as_bytes(), read.content.as_bytes(), rest].concat()
}

/// The text of a result that is put there later. No string can hold it, as [`MARK`].
const EMPTY_TEXT: &[u8] = b"\"text\":\"\"";

/// Takes the text of a result that waits for its structured content.
fn awaited(result: &CallToolResult) -> Option<&str> {
    match (&result.structured_content, result.content.as_slice()) {
        (Some(Value::Null), [only]) => only.as_text().map(|block| block.text.as_str()),
        _ => None,
    }
}

/// Puts structured content into an answer that waits for it. `None` for every other message.
pub(in super::super) fn splice_answer(message: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::rfind(message, MARK)?;
    let answer: Answer = serde_json::from_slice(message).ok()?;
    let result = answer.result;
    let ([only], Some(Value::Null)) = (result.content.as_slice(), result.structured_content) else {
        return None;
    };
    let mut line = message.to_vec();
    splice(&mut line, &only.text);
    Some(line)
}

/// What is read of an answer to find its text.
#[derive(Deserialize)]
struct Answer {
    result: TextResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextResult {
    content: Vec<Text>,
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

/// Reads `null` as a value that is there.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Puts the structured content of a result into its line.
fn splice(line: &mut Vec<u8>, text: &str) {
    let Some(at) = memchr::memmem::rfind(line, MARK) else { return };
    let end = at + MARK.len();
    let rest = line.split_off(end);
    line.truncate(end - b"null".len());
    line.extend_from_slice(text.as_bytes());
    line.extend_from_slice(&rest);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(ok: bool, object: &Value) -> Reply {
        Reply { ok, text: object.to_string(), images: Vec::new() }
    }

    #[test]
    fn image_results_have_no_structured_content_and_no_base64_in_the_text() {
        let image = Image { mime_type: "image/png".to_owned(), base64: "aGVsbG8=".to_owned() };
        let reply = Reply { images: vec![image], ..reply(true, &json!({"ok": true, "data": {"width": 1}})) };
        let result = tool_result(reply, Form::Whole(StructuredContent::Spliced));
        assert_eq!(awaited(&result), None);
        let wire = serde_json::to_value(&result).expect("a result has a JSON form");
        assert!(wire.get("structuredContent").is_none());
        assert_eq!(wire["content"][0]["type"], "image");
        assert_eq!(wire["content"][0]["data"], "aGVsbG8=");
        assert!(!wire["content"][1]["text"].as_str().expect("text").contains("aGVsbG8="));
    }

    #[test]
    fn an_answer_has_its_content_once() {
        for (ok, object, text) in [
            (
                true,
                json!({"ok": true, "op": "file.read", "data": {"path": "a", "content": "x\n"}}),
                "[a]\nx\n",
            ),
            (false, json!({"ok": false, "error": {"code": "not_found", "message": "no"}}), "not_found: no"),
        ] {
            let result = tool_result(reply(ok, &object), Form::Text);
            let wire = serde_json::to_value(&result).expect("a JSON form");
            assert_eq!(wire["content"], json!([{"type": "text", "text": text}]));
            assert!(wire.get("structuredContent").is_none());
            assert_eq!(wire["isError"], !ok);
        }
    }

    #[test]
    fn the_content_of_a_file_is_passed_on_as_it_is_written() {
        let about = json!({"path": "a \"b\"\n.md", "startLine": 1, "endLine": 2, "totalLines": 9, "version": "v1",
            "encoding": "utf-8", "lineEnding": "crlf", "truncated": true, "nextCursor": "r1.\"x"});
        for content in [
            "",
            "x\n",
            "say \"hi\" \\ \u{0}\u{1f}\u{7f}\t\r\n<é>\u{2028}\u{1f600}",
            "\",\"text\":\"\"",
            "\\\",\"data\":{\"content\":\"\"}",
        ] {
            for (op, id) in
                [("file.read", json!("\"text\":\"\"")), ("file.read", json!(7)), ("file.list", json!(1))]
            {
                let mut data = about.clone();
                data["content"] = json!(content);
                let object = json!({"ok": true, "operationId": "01JD00000000000000ABCDEFGH", "scope": "\"content\":\"no\"", "op": op,
                    "data": data, "warnings": ["mind \"this\"\n"]});
                for (is_modern, form) in
                    [true, false].into_iter().zip([Form::Text, Form::Whole(StructuredContent::Spliced)])
                {
                    let id: RequestId = serde_json::from_value(id.clone()).expect("an id");
                    let mut slow = tool_result(reply(true, &object), form);
                    slow.result_type = slow.result_type.filter(|_| is_modern);
                    let slow = ServerJsonRpcMessage::response(ServerResult::CallToolResult(slow), id.clone());
                    let fast = answer(reply(true, &object), form, is_modern, id);
                    assert_eq!(
                        String::from_utf8(fast),
                        String::from_utf8(message(&slow)),
                        "{op}: {content:?}"
                    );
                }
            }
        }
        let object = json!({"ok": true, "op": "file.read", "data": about.clone()});
        assert!(answer::read_file(&object.to_string()).is_none(), "it has no content");
        let object = json!({"ok": true, "op": "file.read", "data": {"path": "a", "content": "x"}});
        assert!(answer::read_file(&object.to_string()).is_some());
    }

    #[test]
    fn an_error_is_there_once() {
        for structured in [StructuredContent::Held, StructuredContent::Spliced] {
            let result = tool_result(reply(false, &json!({"ok": false})), Form::Whole(structured));
            assert_eq!((result.structured_content, result.is_error), (None, Some(true)));
        }
    }

    #[test]
    fn text_and_structured_content_say_the_same() {
        for (ok, object) in [
            (true, json!({"ok": true, "data": [1]})),
            (true, json!({"data": {"content": ",\"structuredContent\":null", "more": null}})),
        ] {
            let held = tool_result(reply(ok, &object), Form::Whole(StructuredContent::Held));
            let spliced = tool_result(reply(ok, &object), Form::Whole(StructuredContent::Spliced));
            let mut line = serde_json::to_vec(&spliced).expect("a JSON form");
            splice(&mut line, awaited(&spliced).expect("a text that is awaited"));
            let wire: Value = serde_json::from_slice(&line).expect("JSON");
            assert_eq!(wire, serde_json::to_value(&held).expect("a JSON form"));
            assert_eq!(wire["isError"], !ok);
            assert_eq!(wire["structuredContent"], object);
            let text = wire["content"][0]["text"].as_str().expect("text");
            assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), object);
        }
    }
}
