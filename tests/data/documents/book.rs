//! The book holds every document, and what its pages link to.

use std::collections::BTreeSet;
use std::fs;

use support::source::repository;

use super::links::target;
use super::markdown::{Page, pages};

/// Returns the pages that the book's summary lists.
fn listed() -> Vec<String> {
    let links = Page::read("book/SUMMARY.md").links();
    links.into_iter().map(|(_, link)| link).collect()
}

pub fn the_book_lists_every_page_once() {
    let listed = listed();
    let once: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    let every: BTreeSet<String> =
        pages().into_iter().map(|page| page.path).filter(|path| path != "book/SUMMARY.md").collect();
    assert_eq!(once, every);
}

pub fn what_pages_link_to_is_in_the_book() {
    let listed = listed();
    let folder = repository().join("book");
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let entry = entry.expect("it can be read");
        if entry.file_type().expect("a kind").is_symlink() {
            let there = fs::read_link(entry.path()).expect("a link");
            assert_eq!(
                there,
                std::path::Path::new("..").join(entry.file_name()),
                "a document stands where it stands"
            );
        }
    }
    let mut problems = Vec::new();
    for page in pages().iter().filter(|page| listed.contains(&page.path)) {
        for (line, link) in page.links() {
            let file = link.split('#').next().unwrap_or_default();
            if link.contains("://") || file.is_empty() {
                continue;
            }
            let Some(path) = target(&page.path, file) else { continue };
            let is_there =
                if file.ends_with(".md") { listed.contains(&path) } else { folder.join(&path).exists() };
            if !is_there {
                problems.push(format!("{}:{line}: `{link}` is not in the book", page.path));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
