//! Turning a result envelope into a tool result.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// Gives the tool result of an outcome: the compact JSON as text, and the same as structured content.
///
/// With images there is no structured content: two clients show nothing else once it is set.
pub(super) fn tool_result(mut outcome: Value) -> CallToolResult {
    let failed = outcome["ok"] != Value::Bool(true);
    let images = match outcome.as_object_mut().and_then(|fields| fields.remove("images")) {
        Some(Value::Array(images)) => images,
        _ => Vec::new(),
    };
    let text = ContentBlock::text(outcome.to_string());
    if images.is_empty() {
        let mut result =
            if failed { CallToolResult::error(vec![text]) } else { CallToolResult::success(vec![text]) };
        result.structured_content = Some(outcome);
        return result;
    }
    let mut content: Vec<ContentBlock> = images.into_iter().filter_map(image).collect();
    content.push(text);
    CallToolResult::success(content)
}

fn image(mut image: Value) -> Option<ContentBlock> {
    let Value::String(data) = image.get_mut("base64")?.take() else { return None };
    Some(ContentBlock::image(data, image["mimeType"].as_str()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn image_results_have_no_structured_content_and_no_base64_in_the_text() {
        let result = tool_result(json!({
            "ok": true, "data": {"width": 1}, "warnings": [],
            "images": [{"mimeType": "image/png", "base64": "aGVsbG8="}],
        }));
        let wire = serde_json::to_value(&result).expect("a result has a JSON form");
        assert!(wire.get("structuredContent").is_none());
        assert_eq!(wire["content"][0]["type"], "image");
        assert_eq!(wire["content"][0]["data"], "aGVsbG8=");
        assert!(!wire["content"][1]["text"].as_str().expect("text").contains("aGVsbG8="));
    }

    #[test]
    fn text_and_structured_content_say_the_same() {
        for (ok, outcome) in [(true, json!({"ok": true, "data": [1]})), (false, json!({"ok": false}))] {
            let result = serde_json::to_value(tool_result(outcome.clone())).expect("a JSON form");
            assert_eq!(result["isError"], !ok);
            assert_eq!(result["structuredContent"], outcome);
            let text = result["content"][0]["text"].as_str().expect("text");
            assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), outcome);
        }
    }
}
