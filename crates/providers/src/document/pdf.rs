//! PDF: the text of each page, by pdf-extract, which panics where a file is not as it should be.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use super::ConvertError;
use super::convert::Text;

/// Returns how many pages could not be read.
pub(super) fn convert(content: &[u8], text: &mut Text) -> Result<u32, ConvertError> {
    let loaded = catch_unwind(|| Document::load_mem(content));
    let Ok(Ok(mut document)) = loaded else { return Err(ConvertError::Damaged) };
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(ConvertError::Encrypted);
    }
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    if pages.is_empty() {
        return Err(ConvertError::Damaged);
    }
    let mut unread = 0;
    for number in &pages {
        if text.is_full() {
            break;
        }
        let mut page = String::new();
        let read = catch_unwind(AssertUnwindSafe(|| {
            output_doc_page(&document, &mut PlainTextOutput::new(&mut page), *number)
        }));
        if !matches!(read, Ok(Ok(()))) {
            unread += 1;
        }
        if pages.len() > 1 {
            text.push(&format!("[page {number}]\n"));
        }
        add_page(&page, text);
    }
    Ok(unread)
}

/// Adds the lines of a page, of several blank ones in a row one.
fn add_page(page: &str, text: &mut Text) {
    let mut was_blank = true;
    for line in page.lines().map(str::trim_end) {
        if line.is_empty() && was_blank {
            continue;
        }
        was_blank = line.is_empty();
        text.push(line);
        text.push("\n");
    }
    text.end_line();
}
