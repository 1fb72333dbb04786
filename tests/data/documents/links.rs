//! Every link of every document leads to a file that is there, and to a heading that it has.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use support::source::repository;

use super::markdown::{Page, pages};

/// Follows a link from a page, and gives the path from the repository's root.
pub fn target(from: &str, link: &str) -> Option<String> {
    let joined = Path::new(from).parent().expect("a page lies in a folder").join(link);
    let mut parts: Vec<String> = Vec::new();
    for part in joined.components() {
        match part {
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    Some(parts.join("/"))
}

pub fn every_link_leads_to_a_file_and_a_heading_that_exist() {
    let pages = pages();
    let by_path: BTreeMap<&str, &Page> = pages.iter().map(|page| (page.path.as_str(), page)).collect();
    let mut problems = Vec::new();
    let mut followed = 0;
    for page in &pages {
        // The summary is read in `book/`, where the other documents stand too.
        let from = page.path.strip_prefix("book/").unwrap_or(&page.path);
        for (line, link) in page.links() {
            if link.contains("://") {
                continue;
            }
            followed += 1;
            let (file, heading) = link.split_once('#').map_or((link.as_str(), None), |(a, b)| (a, Some(b)));
            let path = if file.is_empty() { Some(from.to_owned()) } else { target(from, file) };
            let Some(path) = path.filter(|path| repository().join(path).exists()) else {
                problems.push(format!("{}:{line}: there is no `{link}`", page.path));
                continue;
            };
            let Some(heading) = heading else { continue };
            if !by_path.get(path.as_str()).is_some_and(|page| page.anchors().contains(heading)) {
                problems.push(format!("{}:{line}: `{path}` has no heading `#{heading}`", page.path));
            }
        }
    }
    assert!(followed > 200, "the links were not found: {followed}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

pub fn links_lead_from_where_they_stand() {
    assert_eq!(target("docs/a/b.md", "../c.md").as_deref(), Some("docs/c.md"));
    assert_eq!(target("README.md", "docs/c.md").as_deref(), Some("docs/c.md"));
    assert_eq!(target("README.md", "../c.md"), None);
}
