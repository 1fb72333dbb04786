//! Documents are converted by a worker: real ones to their text, and hostile ones neither hold the service nor swell it.

use std::fs;
use std::io::{self, Write};
use std::time::Instant;

use bailiwick::contract::Cancel;
use bailiwick::providers::document::{ConvertError, DocumentKind, DocumentText};
use bailiwick::providers::parser::ParserPool;
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Value, json};
use support::generator::Numbers;

use super::Host;
use crate::patience::PATIENCE;

const PDF: &[u8] = include_bytes!("../../documents/sample.pdf");
const LOCKED: &[u8] = include_bytes!("../../documents/locked.pdf");
const DOCX: &[u8] = include_bytes!("../../documents/sample.docx");
const XLSX: &[u8] = include_bytes!("../../documents/sample.xlsx");

const PDF_TEXT: [&str; 5] = [
    "[page 1]",
    "Quarterly report",
    "The first page has two lines of text.",
    "Umlauts: Größe, café; a ligature-free word: office.",
    "Total: 1,234.56 EUR",
];
const DOCX_TEXT: &str = "# Design notes\n# Goals & limits\nFast, small, \u{201c}quoted\u{201d} <angle> text.\nFirst point\nname \tsize \na.txt \t12 \nAfter the table.\tWith a tab.\n";
const XLSX_TEXT: &str = "[sheet Sales]\nitem\tdate\tamount\tpaid\nchair & desk\t2025-03-15\t12.5\tTRUE\ntotal\t\t=SUM(C2:C3)\n[sheet Notes]\n\tline one line two\n";

fn convert(pool: &ParserPool, kind: DocumentKind, content: &[u8]) -> Result<DocumentText, ConvertError> {
    pool.document(kind, content, &Cancel::after(*PATIENCE))
}

fn still_converts(pool: &ParserPool, after: &str) {
    let text = convert(pool, DocumentKind::Docx, DOCX).unwrap_or_else(|why| panic!("after {after}: {why:?}"));
    assert_eq!(text.text, DOCX_TEXT, "after {after}");
}

#[test]
fn documents_are_given_as_their_text_in_lines_and_pages() {
    let host = Host::new();
    for (name, content) in
        [("a.pdf", PDF), ("locked.pdf", LOCKED), ("b.docx", DOCX), ("c.xlsx", XLSX), ("d.zip", DOCX)]
    {
        fs::write(host.place.project().join(name), content).expect("written");
    }
    let read = |name: &str, options: Value| {
        host.ask(&json!({"op": "file.read", "target": name, "options": options}))
    };
    let pdf = read("a.pdf", json!({}))["data"].clone();
    let lines: Vec<&str> = pdf["content"].as_str().expect("text").lines().map(str::trim).collect();
    for line in PDF_TEXT {
        assert!(lines.contains(&line), "{line}: {pdf:#}");
    }
    assert_eq!((&pdf["convertedFrom"], &pdf["size"]), (&json!("pdf"), &json!(PDF.len())), "{pdf:#}");
    assert_eq!(pdf["totalLines"], json!(lines.len()), "{pdf:#}");
    assert_eq!(read("b.docx", json!({}))["data"]["content"], DOCX_TEXT);
    let xlsx = read("c.xlsx", json!({}))["data"].clone();
    assert_eq!((&xlsx["content"], &xlsx["convertedFrom"]), (&json!(XLSX_TEXT), &json!("xlsx")));

    // Parts and pages are those of the text.
    let part = read("c.xlsx", json!({"startLine": 2, "endLine": 2}))["data"].clone();
    assert_eq!(part["content"], "item\tdate\tamount\tpaid\n", "{part:#}");
    let first = read("b.docx", json!({"maxBytes": 20}))["data"].clone();
    assert_eq!(
        (&first["content"], &first["truncated"]),
        (&json!("# Design notes\n"), &json!(true)),
        "{first:#}"
    );
    let next = read("b.docx", json!({"cursor": first["nextCursor"]}))["data"].clone();
    assert_eq!(format!("# Design notes\n{}", next["content"].as_str().expect("text")), DOCX_TEXT);
    let bytes = read("b.docx", json!({"offset": 0, "length": 4}));
    assert_eq!(bytes["error"]["code"], "invalid_request", "{bytes:#}");
    let bytes = read("b.docx", json!({"encoding": "base64", "length": 3}));
    assert_eq!((&bytes["data"]["content"], bytes["data"].get("convertedFrom")), (&json!("UEsD"), None));

    let locked = read("locked.pdf", json!({}));
    let said = locked["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("encrypted") && locked["error"]["code"] == "invalid_request", "{locked:#}");
    assert_eq!(
        read("d.zip", json!({}))["error"]["details"]["binary"],
        true,
        "other archives stay what they are"
    );
}

/// The name of an entry, and what writes it.
type Entry<'a> = (&'a str, &'a dyn Fn(&mut dyn Write) -> io::Result<()>);

/// Packs entries as an office does.
fn package(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in entries {
        let (mut entry, config) =
            archive.new_file(*name).compression_method(CompressionMethod::DEFLATE).start().expect("begun");
        let encoder = DeflateEncoder::new(&mut entry, Compression::fast());
        let mut writer = config.wrap(encoder);
        content(&mut writer).expect("written");
        let (encoder, descriptor) = writer.finish().expect("finished");
        encoder.finish().expect("finished");
        entry.finish(descriptor).expect("finished");
    }
    archive.finish().expect("finished");
    bytes
}

/// Writes a text many times over.
fn repeat(to: &mut dyn Write, text: &str, bytes: usize) -> io::Result<()> {
    let block = text.repeat((64 << 10) / text.len());
    for _ in 0..bytes / block.len() {
        to.write_all(block.as_bytes())?;
    }
    Ok(())
}

fn docx(content: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Vec<u8> {
    package(&[("word/document.xml", content)])
}

/// Returns a PDF of these objects, the first of which is the catalog.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n", at + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let table = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    bytes.extend(
        format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).bytes(),
    );
    bytes
}

/// Returns a PDF of one page with this content, packed.
fn page(content: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    content(&mut encoder).expect("written");
    let packed = encoder.finish().expect("finished");
    let mut stream = format!("<< /Length {} /Filter /FlateDecode >> stream\n", packed.len()).into_bytes();
    stream.extend(packed);
    stream.extend(b"\nendstream");
    pdf(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << >> >>".to_vec(),
        stream,
    ])
}

#[test]
fn no_document_holds_or_swells_the_service() {
    let large = 24 << 20;
    let text = |to: &mut dyn Write, open: &str| to.write_all(open.as_bytes());
    let hostile: Vec<(&str, DocumentKind, Vec<u8>)> = vec![
        (
            "one long text",
            DocumentKind::Docx,
            docx(&|to| {
                text(to, "<document><t>")?;
                repeat(to, "a", large)
            }),
        ),
        (
            "endless elements",
            DocumentKind::Docx,
            docx(&|to| {
                text(to, "<document>")?;
                repeat(to, "<p/>", large)
            }),
        ),
        ("deep nesting", DocumentKind::Docx, docx(&|to| repeat(to, "<a>", 1 << 20))),
        (
            "entities",
            DocumentKind::Docx,
            docx(&|to| {
                text(to, "<!DOCTYPE a [<!ENTITY b \"cccccccccc\"><!ENTITY c \"&b;&b;&b;&b;\">]><a><t>")?;
                repeat(to, "&c;", 1 << 20)
            }),
        ),
        (
            "wide rows",
            DocumentKind::Xlsx,
            package(&[
                ("xl/workbook.xml", &|to| {
                    text(to, "<workbook><sheets><sheet name=\"a\" id=\"r1\"/></sheets></workbook>")
                }),
                ("xl/_rels/workbook.xml.rels", &|to| text(to, "<R><R Id=\"r1\" Target=\"s.xml\"/></R>")),
                ("xl/s.xml", &|to| {
                    text(to, "<sheet>")?;
                    repeat(to, "<row><c r=\"XFD1\"><v>1</v></c></row>", large)
                }),
            ]),
        ),
        ("a page without an end", DocumentKind::Pdf, page(&|to| repeat(to, "BT (a) Tj ET\n", large))),
        ("a page of nested arrays", DocumentKind::Pdf, page(&|to| repeat(to, "[", 1 << 20))),
        (
            "pages that hold themselves",
            DocumentKind::Pdf,
            pdf(&[
                b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
                b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 /Parent 2 0 R >>".to_vec(),
                b"<< /Type /Page /Parent 3 0 R /Contents 3 0 R >>".to_vec(),
            ]),
        ),
    ];
    let pool = ParserPool::new(&support::program());
    for (what, kind, content) in &hostile {
        let began = Instant::now();
        let converted = convert(&pool, *kind, content);
        assert!(began.elapsed() < *PATIENCE, "{what}: {:?}", began.elapsed());
        if let Ok(converted) = converted {
            assert!(converted.text.len() <= (4 << 20) + 1, "{what}: {}", converted.text.len());
        }
        still_converts(&pool, what);
    }
    // The same through the service, whose own memory stays as it was.
    let host = Host::new();
    for (at, (what, kind, content)) in hostile.iter().enumerate().step_by(3) {
        let name = format!("{at}.{}", kind.as_str());
        fs::write(host.place.project().join(&name), content).expect("written");
        let answer = host.service.ask(&host.token, &json!({"op": "file.read", "target": name}));
        assert!(answer["ok"] == true || answer["error"]["code"] == "invalid_request", "{what}: {answer:#}");
    }
    host.is_well();
}

#[test]
fn documents_with_changed_bytes_are_answered() {
    let pool = ParserPool::new(&support::program());
    let mut numbers = Numbers::new(7);
    for (kind, content) in [(DocumentKind::Pdf, PDF), (DocumentKind::Docx, DOCX), (DocumentKind::Xlsx, XLSX)]
    {
        for _ in 0..10 {
            let mut changed = content.to_vec();
            for _ in 0..8 {
                let at = numbers.below(changed.len());
                changed[at] = u8::try_from(numbers.below(256)).expect("small");
            }
            // An error is an answer, too.
            let _ = convert(&pool, kind, &changed);
        }
        still_converts(&pool, kind.as_str());
    }
}
