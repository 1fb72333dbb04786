//! Documents as text: PDF, DOCX and XLSX, converted by a worker without files and network.
//!
//! ```text
//! convert      what a worker does with a document
//! pdf          pages, by pdf-extract
//! docx, xlsx   paragraphs and cells
//! package      the archive that both are
//! markup       XML, one node at a time
//! ```

mod convert;
mod docx;
mod kind;
mod markup;
mod package;
mod pdf;
mod xlsx;

pub use convert::{ConvertError, DocumentText};
pub(super) use convert::{MAX_TEXT_BYTES, convert};
pub use kind::{DocumentKind, MAX_DOCUMENT_BYTES};
