//! Cutting what was found to the budget: the answer of `code.context`.
//!
//! Each part is a row of pieces. The pieces are divided by [`share`], the answer is made and measured as it is
//! sent, and where names and counts around the pieces made it too long, there is less room for another try.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use bailiwick_providers::orientation::{Portion, share};

use super::context::{Call, ContextParts, InstructionHead, OmittedPart, Output, ReadmeHead};

/// How often an answer is made before nothing but its frame is given.
const TRIES: usize = 24;

/// How large the data may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContextBudget {
    /// In characters of JSON.
    pub characters: usize,
    /// In bytes of JSON.
    pub bytes: usize,
}

/// A part of the answer; its place among the others is its place in the list of portions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Languages,
    Manifests,
    EntryPoints,
    Commands,
    Readme,
    Instructions,
    InstructionsBelow,
    Skills,
    Git,
    HotFiles,
    Folders,
    Notes,
}

/// Every part, with its share of the room.
const PARTS: [(Part, usize); 12] = [
    (Part::Languages, 5),
    (Part::Manifests, 10),
    (Part::EntryPoints, 8),
    (Part::Commands, 14),
    (Part::Readme, 14),
    (Part::Instructions, 26),
    (Part::InstructionsBelow, 2),
    (Part::Skills, 8),
    (Part::Git, 6),
    (Part::HotFiles, 8),
    (Part::Folders, 10),
    (Part::Notes, 4),
];

/// Creates the answer that fits.
pub(super) fn cut(found: &ContextParts, room: ContextBudget) -> Output {
    let lines = instruction_lines(found);
    let portions: Vec<Portion> = PARTS
        .iter()
        .map(|(part, weight)| Portion { weight: *weight, pieces: pieces(*part, found, &lines) })
        .collect();
    let answer = |kept: &[usize]| render(found, &lines, &portions, kept);
    let mut content = room.characters.min(room.bytes);
    for _ in 0..TRIES {
        let output = answer(&share(content, &portions));
        match excess(&output, room) {
            0 => return output,
            _ if content == 0 => break,
            excess => content = content.saturating_sub(excess),
        }
    }
    let mut output = answer(&share(0, &portions));
    while excess(&output, room) > 0 && output.left_out.pop().is_some() {}
    if excess(&output, room) > 0 {
        output.path = None;
    }
    output
}

/// Returns by how much an answer is too long, 0 if it fits.
fn excess(output: &Output, room: ContextBudget) -> usize {
    let text = serde_json::to_string(output).unwrap_or_default();
    let characters = text.chars().count().saturating_sub(room.characters);
    characters.max(text.len().saturating_sub(room.bytes).div_ceil(4))
}

/// Counts the characters of a value as JSON, with the comma behind it.
fn cost(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 64, |text| text.chars().count()) + 1
}

/// Counts the characters that a piece of text adds to a string.
fn text_cost(text: &String) -> usize {
    cost(text) - 3
}

/// Returns what each piece of a part takes; the first one brings the field along.
fn pieces(part: Part, found: &ContextParts, lines: &[(usize, usize)]) -> Vec<usize> {
    fn each<T: Serialize>(list: &[T]) -> Vec<usize> {
        list.iter().map(cost).collect()
    }
    let mut pieces = match part {
        Part::Languages => each(&found.languages),
        Part::Manifests => each(&found.manifests),
        Part::EntryPoints => each(&found.entry_points),
        Part::Commands => each(&found.commands),
        Part::Readme => {
            let head = readme_head(found, 1).map(|head| cost(&head) + r#","head":"""#.len());
            let text = found.readme.iter().flat_map(|readme| readme.pieces.iter().map(text_cost));
            head.into_iter().chain(text).collect()
        }
        Part::Instructions => {
            let files = found.instructions.list.len();
            let heads = (0..files).rev().map(|at| cost(&instruction_head(found, at)) + r#","head":"""#.len());
            let text =
                lines.iter().map(|(file, line)| text_cost(&found.instructions.list[*file].pieces[*line]));
            heads.chain(text).collect()
        }
        Part::InstructionsBelow => each(&found.instructions_below),
        Part::Skills => each(&found.skills),
        Part::Git => found.git.iter().map(cost).collect(),
        Part::HotFiles => each(&found.hot.files),
        Part::Folders => each(&found.folders),
        Part::Notes => each(&found.notes),
    };
    if let Some(first) = pieces.first_mut() {
        // `"instructionsBelow":[],`, and the count of commits.
        *first += part.name().len() + if part == Part::HotFiles { 28 } else { 6 };
    }
    pieces
}

/// Returns the order of the lines of files for agents: the first lines of all files, the nearest file first, then
/// their second ones, and so on.
fn instruction_lines(found: &ContextParts) -> Vec<(usize, usize)> {
    let list = &found.instructions.list;
    let longest = list.iter().map(|file| file.pieces.len()).max().unwrap_or(0);
    let rows = (0..longest).flat_map(|line| (0..list.len()).rev().map(move |file| (file, line)));
    rows.filter(|(file, line)| *line < list[*file].pieces.len()).collect()
}

fn readme_head(found: &ContextParts, kept: usize) -> Option<ReadmeHead> {
    let readme = found.readme.as_ref().filter(|_| kept > 0)?;
    Some(ReadmeHead {
        path: readme.path.clone(),
        bytes: readme.bytes,
        title: readme.title.clone(),
        head: readme
            .pieces
            .iter()
            .take(kept - 1)
            .map(String::as_str)
            .collect::<String>()
            .trim_end()
            .to_owned(),
    })
}

fn instruction_head(found: &ContextParts, at: usize) -> InstructionHead {
    let file = &found.instructions.list[at];
    InstructionHead {
        path: file.path.clone(),
        bytes: file.bytes,
        same_as: file.same_as.clone(),
        imports: file.imports.clone(),
        head: String::new(),
    }
}

/// Creates the answer that has these many pieces of each part.
fn render(found: &ContextParts, lines: &[(usize, usize)], portions: &[Portion], kept: &[usize]) -> Output {
    let count = |part: Part| kept[part as usize];
    fn first<T: Clone>(list: &[T], count: usize) -> Vec<T> {
        list.iter().take(count).cloned().collect()
    }
    let left = |part: Part| portions[part as usize].pieces.len() - count(part);
    let mut output = Output {
        path: Some(found.path.clone()),
        files: found.survey.as_ref().map(|survey| survey.files),
        partial: found.survey.as_ref().is_some_and(|survey| survey.partial),
        languages: first(&found.languages, count(Part::Languages)),
        manifests: first(&found.manifests, count(Part::Manifests)),
        entry_points: first(&found.entry_points, count(Part::EntryPoints)),
        commands: first(&found.commands, count(Part::Commands)),
        readme: readme_head(found, count(Part::Readme)),
        instructions: instructions(found, lines, count(Part::Instructions)),
        instructions_below: first(&found.instructions_below, count(Part::InstructionsBelow)),
        skills: first(&found.skills, count(Part::Skills)),
        git: found.git.clone().filter(|_| count(Part::Git) > 0),
        hot_files: first(&found.hot.files, count(Part::HotFiles)),
        hot_commits: (count(Part::HotFiles) > 0).then_some(found.hot.commits),
        folders: first(&found.folders, count(Part::Folders)),
        notes: first(&found.notes, count(Part::Notes)),
        left_out: Vec::new(),
    };
    output.left_out = PARTS
        .iter()
        .map(|(part, _)| {
            let unread = if *part == Part::Manifests { found.unread_manifests } else { 0 };
            (*part, left(*part) + unread)
        })
        .filter(|(_, left)| *left > 0)
        .map(|(part, left)| OmittedPart { part: part.name(), left, call: call(part, found, &output) })
        .collect();
    output
}

fn instructions(found: &ContextParts, lines: &[(usize, usize)], kept: usize) -> Vec<InstructionHead> {
    let files = found.instructions.list.len();
    // The nearest files are the first pieces, and the last of the list.
    let first = files - kept.min(files);
    let mut heads: Vec<InstructionHead> = (first..files).map(|at| instruction_head(found, at)).collect();
    for (file, line) in lines.iter().take(kept.saturating_sub(files)) {
        if let Some(head) = heads.get_mut(file - first) {
            head.head.push_str(&found.instructions.list[*file].pieces[*line]);
        }
    }
    for head in &mut heads {
        head.head.truncate(head.head.trim_end().len());
    }
    heads
}

/// Returns the call that shows what was left out of a part.
fn call(part: Part, found: &ContextParts, output: &Output) -> Call {
    let target = Some(found.path.clone()).filter(|path| path != ".");
    let map = |value: Value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let at = |op| Call { op, target: target.clone(), ..Call::default() };
    let find = |pattern: &str| Call { input: map(json!({ "pattern": pattern })), ..at("file.find") };
    let alone = || Call { options: map(json!({ "include": [part.name()] })), ..at("code.context") };
    let read = |path: Option<&String>| Call { op: "file.read", target: path.cloned(), ..Call::default() };
    match part {
        Part::Languages | Part::EntryPoints | Part::Skills => alone(),
        Part::Manifests => find(&format!("**/{}", usual_manifest(found))),
        Part::Commands => at("package.scripts"),
        Part::Readme => read(found.readme.as_ref().map(|readme| &readme.path)),
        Part::Instructions => {
            // The nearest file of which something is missing.
            let missing = found.instructions.list.iter().rev().find(|file| {
                let given = output.instructions.iter().find(|head| head.path == file.path);
                given.is_none_or(|head| head.head.len() < file.pieces.concat().trim_end().len())
            });
            read(missing.map(|file| &file.path))
        }
        Part::InstructionsBelow => find("**/{AGENTS,CLAUDE}.md"),
        Part::Git => at("git.status"),
        Part::HotFiles => at("git.log"),
        Part::Folders => at("file.tree"),
        Part::Notes => Call { options: map(json!({ "budget": 10_000 })), ..at("code.context") },
    }
}

/// Returns the name that most manifests have.
fn usual_manifest(found: &ContextParts) -> &str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for manifest in &found.manifests {
        *counts.entry(manifest.path.rsplit('/').next().unwrap_or_default()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or("*", |(name, _)| name)
}

impl Part {
    /// Returns the name of its field.
    fn name(self) -> &'static str {
        match self {
            Self::Languages => "languages",
            Self::Manifests => "manifests",
            Self::EntryPoints => "entryPoints",
            Self::Commands => "commands",
            Self::Readme => "readme",
            Self::Instructions => "instructions",
            Self::InstructionsBelow => "instructionsBelow",
            Self::Skills => "skills",
            Self::Git => "git",
            Self::HotFiles => "hotFiles",
            Self::Folders => "folders",
            Self::Notes => "notes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_stands_at_its_own_place() {
        for (place, (part, _)) in PARTS.iter().enumerate() {
            assert_eq!(*part as usize, place);
        }
    }
}
