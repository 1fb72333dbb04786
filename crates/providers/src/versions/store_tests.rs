//! What is kept is found again as it was, and within its bounds.

use bailiwick_platform::fs::create_private_dir;

use super::super::tree::TreeContents;
use super::*;

const DAY_MS: i64 = 24 * 3_600 * 1_000;

fn change(path: &str, content: &[u8]) -> FileChange {
    FileChange {
        made_folders: 0,
        path: path.to_owned(),
        moved_from: None,
        before: Some(Before {
            content: Arc::new(content.to_vec()),
            sha256: sha256_hex(content),
            mode: 0o100_644,
            facts: FileFacts::default(),
        }),
        version_after: Some("s-x".to_owned()),
    }
}

fn by(op: &str) -> ChangeSource<'_> {
    ChangeSource {
        scope: "app",
        op,
        operation_id: "01JD0000000000000000000000",
        caller: "local",
        batch: None,
        takes_back: &[],
        is_rollback: false,
    }
}

/// Returns bytes that cannot be compressed.
fn noise(seed: u8, count: usize) -> Vec<u8> {
    let mut state = u64::from(seed) + 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Returns text of so many lines, each of which is another one.
fn text(lines: usize) -> Vec<u8> {
    (0..lines)
        .flat_map(|at| format!("line {at} of the text, and {}\n", at * at % 9_973).into_bytes())
        .collect()
}

fn record_of(store: &VersionStore, scope: &str, undo_id: &str) -> Option<FoundRecord> {
    store.record(scope, undo_id).expect("it can be read")
}

fn changes_of(store: &VersionStore, scope: &str, path: &str) -> Vec<FoundRecord> {
    store.changes_of(scope, path).expect("they can be read")
}

fn content_at(found: &FoundRecord, at: usize) -> Option<Vec<u8>> {
    found.content(at).expect("it can be read")
}

fn tree_of(found: &FoundRecord) -> Option<(TreeContents, Vec<u8>)> {
    found.tree().expect("it can be read")
}

fn temporary() -> (PathBuf, VersionStore) {
    let state = std::env::temp_dir().join(format!("bailiwick-versions-{}", id::new_id()));
    let store = VersionStore::below(&state);
    (state, store)
}

#[test]
fn what_was_kept_is_found_in_its_scope_only() {
    use bailiwick_platform::fs::Protection;

    let (state, store) = temporary();
    let first = store.keep(by("file.write"), &[change("a", b"one")]).expect("it is kept");
    let second = store.keep(by("file.patch"), &[change("a", b"two"), change("b", b"three")]);
    let second = second.expect("it is kept");
    let changes = changes_of(&store, "app", "a");
    let ids: Vec<String> = changes.iter().map(|it| it.record.undo_id.clone()).collect();
    assert_eq!(ids, [second.clone(), first.clone()]);
    assert_eq!(content_at(&changes[0], 0).as_deref(), Some(&b"two"[..]));
    assert_eq!(content_at(&changes[0], 1).as_deref(), Some(&b"three"[..]));
    let found = record_of(&store, "app", &first).expect("it is there");
    assert_eq!(content_at(&found, 0).as_deref(), Some(&b"one"[..]));
    assert!(record_of(&store, "other", &first).is_none() && changes_of(&store, "other", "a").is_empty());
    assert!(Protection::is_private(&found.file, false));
    // A content that was changed is no content.
    let mut text = fs::read(&found.file).expect("it can be read");
    *text.last_mut().expect("it is not empty") = b'x';
    fs::write(&found.file, text).expect("it can be written");
    assert_eq!(content_at(&found, 0), None);
    store.forget(&second);
    assert!(record_of(&store, "app", &second).is_none());
    assert!(record_of(&store, "app", "../log/x").is_none());
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn what_is_kept_is_compressed_where_that_makes_it_smaller_and_counts_as_it_is_on_the_disk() {
    let (state, store) = temporary();
    let contents = [text(2_000), noise(1, 50_000), b"short".to_vec(), Vec::new(), text(30)];
    let changes: Vec<FileChange> = contents.iter().map(|content| change("a", content)).collect();
    let undo_id = store.keep(by("file.patch"), &changes).expect("it is kept");
    let found = record_of(&store, "app", &undo_id).expect("it is there");
    for (at, content) in contents.iter().enumerate() {
        assert_eq!(content_at(&found, at).as_ref(), Some(content), "{at}");
    }
    let on_disk = fs::metadata(&found.file).expect("it is there").len();
    assert!(on_disk < 55_000 + contents[0].len() as u64 / 2, "{on_disk}");
    let part = found.file.parent().and_then(Path::parent).expect("it is in a part");
    let counted = fs::read_to_string(part.join("used")).expect("it is counted");
    let counted: u64 = counted[..20].parse().expect("a number");
    assert_eq!(counted, on_disk + FILE_BYTES);
    // What is damaged is never what comes back, wherever the damage is.
    let whole = fs::read(&found.file).expect("it can be read");
    for at in (found.contents_at..on_disk).step_by(997) {
        let mut damaged = whole.clone();
        damaged[usize::try_from(at).expect("it is small")] ^= 0x55;
        fs::write(&found.file, &damaged).expect("it can be written");
        for (number, content) in contents.iter().enumerate() {
            assert!(content_at(&found, number).is_none_or(|read| read == *content), "{at}: {number}");
        }
    }
    fs::write(&found.file, &whole[..whole.len() / 2]).expect("it can be written");
    assert_eq!(content_at(&found, 1), None, "it was cut off");
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn what_an_earlier_version_kept_comes_back() {
    let (state, store) = temporary();
    let part = store.changes.reserve(10_000, &store.clock).expect("there is room");
    // As it was written: the contents are behind the record, as they were.
    let undo_id = "01JD0000000000000000000000";
    let contents = ["one\n".repeat(1_000), "zwei\n".repeat(10)];
    let files = contents.each_ref().map(|content| {
        format!(
            r#"{{"path":"a","moved_from":null,"sha256":"{}","bytes":{},"mode":420,"version_after":"s-x"}}"#,
            sha256_hex(content.as_bytes()),
            content.len()
        )
    });
    let new = r#"{"path":"b","moved_from":null,"sha256":null,"bytes":0,"mode":0,"version_after":"s-x"}"#;
    let record = format!(
        r#"{{"undo_id":"{undo_id}","at_ms":1,"scope":"app","op":"file.patch","files":[{},{new},{}]}}"#,
        files[0], files[1]
    );
    create_private_dir(&part.join("log")).expect("made");
    let mut file = new_private_file(&part.join("log").join(undo_id)).expect("made");
    file.write_all(format!("{record}\n{}{}", contents[0], contents[1]).as_bytes()).expect("written");
    name_by_path(&part, &path_key("app", "a"), undo_id).expect("named");
    let found = changes_of(&store, "app", "a").pop().expect("it is there");
    assert_eq!(content_at(&found, 0).as_deref(), Some(contents[0].as_bytes()));
    assert_eq!(content_at(&found, 1), None);
    assert_eq!(content_at(&found, 2).as_deref(), Some(contents[1].as_bytes()));
    // And the contents that a command replaced.
    let undo_id = "01JD0000000000000000000001";
    let record = format!(
        r#"{{"undo_id":"{undo_id}","at_ms":1,"scope":"app","op":"command.run","files":[{}],"tree":{{"created":0,"changed":1,"removed":0,"list_at":4000}}}}"#,
        files[0].replace(r#""bytes""#, r#""at":0,"bytes""#)
    );
    let mut file = new_private_file(&part.join("log").join(undo_id)).expect("made");
    file.write_all(format!("{record}\n").as_bytes()).expect("written");
    create_private_dir(&trees(&part)).expect("made");
    let mut file = new_private_file(&trees(&part).join(undo_id)).expect("made");
    file.write_all(format!("{}list", contents[0]).as_bytes()).expect("written");
    let found = record_of(&store, "app", undo_id).expect("it is there");
    assert_eq!(content_at(&found, 0).as_deref(), Some(contents[0].as_bytes()));
    let (tree, list) = tree_of(&found).expect("it is one");
    assert_eq!(list, b"list");
    assert_eq!(tree.read(0, 4_000).expect("it can be read").as_deref(), Some(contents[0].as_bytes()));
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn of_a_tree_that_takes_less_than_was_reserved_the_rest_is_given_back() {
    let (state, store) = temporary();
    let content = text(5_000);
    let mut draft = store.begin_tree("app", 10 << 20).expect("there is room");
    let at = [draft.add(&content), draft.add(b""), draft.add(b"short")].map(|at| at.expect("written"));
    let undo_id = draft.finish(by("command.run"), TreeSummary::default(), Vec::new(), b"list").expect("kept");
    let (tree, list) =
        record_of(&store, "app", &undo_id).and_then(|found| tree_of(&found)).expect("it is there");
    assert_eq!(list, b"list");
    assert_eq!(tree.read(at[0], content.len() as u64).expect("it can be read"), Some(content));
    assert_eq!(tree.read(at[2], 5).expect("it can be read").as_deref(), Some(&b"short"[..]));
    let part = store.changes.parts()[0].clone();
    for folder in [&part, &state.join("versions/changes")] {
        let counted = fs::read_to_string(folder.join("used")).expect("it is counted");
        let (counted, there) = (counted[..20].parse::<u64>().expect("a number"), bytes_below(&part));
        assert!((there..there + 4 * FILE_BYTES).contains(&counted), "{counted}, {there}");
    }
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn no_number_of_changes_goes_beyond_the_bound() {
    let (state, mut store) = temporary();
    // As in the real one, the part that is being removed is beside what is kept.
    let limits = RetentionLimits { max_bytes: 7 << 20, part_bytes: 1 << 20, ..CHANGES };
    store.changes = RetainedFolder::new(state.join("versions/changes"), limits);
    let mut newest = String::new();
    for at in 0..100_u8 {
        newest = store.keep(by("file.write"), &[change("a", &noise(at, 300_000))]).expect("it is kept");
        assert!(bytes_below(&state.join("versions")) <= 8 << 20);
    }
    let left = changes_of(&store, "app", "a");
    assert_eq!(left[0].record.undo_id, newest);
    assert!(left.len() >= 20, "{}", left.len());
    assert!(left.iter().all(|found| content_at(found, 0).is_some()), "what is listed can be brought back");
    store.changes.wait_for_removals();
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn a_clock_that_is_ahead_or_behind_by_200_days_for_seconds_removes_nothing() {
    // Both ways, and right again: what was kept meanwhile is no older than the rest.
    for jumps in [[200 * DAY_MS, -200 * DAY_MS, 0], [-200 * DAY_MS, 200 * DAY_MS, 0], [-200 * DAY_MS, 0, 0]] {
        let (state, store) = temporary();
        create_private_dir(&state).expect("made");
        let started = time::now_ms();
        assert_eq!(store.clock.steady_at(started, 10_000), started);
        let undo_id = store.keep(by("file.write"), &[change("a", b"one")]).expect("it is kept");
        let part = store.changes.parts()[0].clone();
        for (wrong_by, passed) in jumps.into_iter().zip([1_000, 4_000, 8_000]) {
            let now_ms = store.clock.steady_at(started + passed + wrong_by, 10_000 + passed);
            // A part of their own, as if it were another day: only then an older one could go.
            for _ in 0..2 {
                store.changes.reserve_at(CHANGES.part_bytes, now_ms).expect("there is room");
            }
            assert!(record_of(&store, "app", &undo_id).is_some(), "{jumps:?}: {wrong_by}");
        }
        // In time that has really passed it goes.
        let now_ms = store.clock.steady_at(started + 32 * DAY_MS, 10_000 + 32 * DAY_MS);
        store.changes.reserve_at(CHANGES.part_bytes, now_ms).expect("there is room");
        assert!(record_of(&store, "app", &undo_id).is_none() && !part.exists());
        store.changes.wait_for_removals();
        bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        // What is being removed may be gone.
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => bytes_below(&entry.path()),
            Ok(facts) => facts.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Changes one byte in each of so many places.
fn edited(content: &[u8], at: usize) -> Vec<u8> {
    let mut content = content.to_vec();
    content[at] = content[at].wrapping_add(1);
    content
}

fn keep(store: &VersionStore, content: &[u8]) -> String {
    store.keep(by("file.write"), &[change("a", content)]).expect("it is kept")
}

fn content_of(store: &VersionStore, undo_id: &str) -> Option<Vec<u8>> {
    content_at(&record_of(store, "app", undo_id).expect("it is there"), 0)
}

#[test]
fn many_edits_of_a_large_file_take_little_more_than_one() {
    let (state, store) = temporary();
    let mut content = noise(7, 1 << 20);
    let kept: Vec<(String, Vec<u8>)> = (0..30_usize)
        .map(|edit| {
            // In the midst, at the front, at the end.
            match edit % 3 {
                0 => content = edited(&content, edit * 30_000),
                1 => drop(content.splice(0..0, noise(9, 100))),
                _ => content.extend(noise(8, 100)),
            }
            (keep(&store, &content), content.clone())
        })
        .collect();
    let there = bytes_below(&state.join("versions"));
    assert!(there < 6 << 20, "{there} bytes for 30 contents of 1 MiB");
    assert_eq!(store.changes.parts().len(), 1, "they share chunks, so they are in one part");
    for (undo_id, content) in kept {
        assert!(content_of(&store, &undo_id) == Some(content), "{undo_id}");
    }
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn a_file_larger_than_a_part_shares_chunks_too_and_stays_within_the_bound() {
    let (state, mut store) = temporary();
    let limits = RetentionLimits { max_bytes: 4 << 20, part_bytes: 1 << 19, ..CHANGES };
    store.changes = RetainedFolder::new(state.join("versions/changes"), limits);
    let mut content = noise(3, 600_000);
    for edit in 0..30_usize {
        content = edited(&content, edit * 19_876);
        keep(&store, &content);
        assert!(bytes_below(&state.join("versions")) <= (4 << 20) + (1 << 19));
    }
    let left = changes_of(&store, "app", "a");
    // Of contents as they were, there is room for six.
    assert!((11..30).contains(&left.len()), "{}", left.len());
    assert!(left.iter().all(|found| content_at(found, 0).is_some()), "a chunk goes with its last change");
    store.changes.wait_for_removals();
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

/// Returns the packs and the index of the part that is filled.
fn chunk_files(store: &VersionStore) -> (Vec<PathBuf>, PathBuf) {
    let part = store.changes.parts()[0].clone();
    let mut packs: Vec<PathBuf> =
        fs::read_dir(part.join("packs")).expect("it is there").flatten().map(|it| it.path()).collect();
    packs.sort();
    (packs, part.join("chunks"))
}

#[test]
fn a_damaged_chunk_comes_back_nowhere_and_is_not_shared_again() {
    use bailiwick_platform::fs::Protection;

    let (state, store) = temporary();
    let content = noise(5, 400_000);
    let first = keep(&store, &content);
    let (packs, index) = chunk_files(&store);
    assert!(packs.iter().chain([&index]).all(|file| Protection::is_private(file, false)));
    let whole = fs::read(&packs[0]).expect("it can be read");
    fs::write(&packs[0], edited(&whole, whole.len() / 2)).expect("it can be written");
    assert_eq!(content_of(&store, &first), None, "its hash says so");
    // The same content again: its sound chunks are shared, the damaged one is stored again.
    let second = keep(&store, &content);
    assert!(content_of(&store, &second) == Some(content.clone()));
    assert_eq!(chunk_files(&store).0.len(), 2);
    assert!(fs::metadata(&chunk_files(&store).0[1]).expect("it is there").len() < 300_000);
    let third = keep(&store, &content);
    assert_eq!(chunk_files(&store).0.len(), 2, "the newest row has a sound one");
    // A pack is gone, or cut off: what needs it cannot come back, all else can.
    let other = keep(&store, &noise(6, 100_000));
    for damage in [&whole[..whole.len() / 3], &[]] {
        fs::write(&packs[0], damage).expect("it can be written");
        assert!(content_of(&store, &third).is_none());
        assert_eq!(content_of(&store, &other), Some(noise(6, 100_000)));
    }
    fs::remove_file(&packs[0]).expect("it is there");
    assert!(content_of(&store, &second).is_none());
    let fourth = keep(&store, &content);
    assert!(content_of(&store, &fourth) == Some(content.clone()));
    // An index says nothing that is believed.
    for rubbish in [noise(4, 7_001), Vec::new(), vec![0; 4_096]] {
        fs::write(&index, rubbish).expect("it can be written");
        let undo_id = keep(&store, &content);
        assert!(content_of(&store, &undo_id) == Some(content.clone()));
    }
    fs::remove_file(&index).expect("it is there");
    assert!(content_of(&store, &fourth) == Some(content), "what is kept does not need it");
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn what_a_kill_leaves_between_chunks_and_change_is_shared_or_goes_with_its_part() {
    let (state, store) = temporary();
    keep(&store, b"small");
    let part = store.changes.parts()[0].clone();
    // At each moment: nothing of the pack, a part of it, all of it, the index too, half of the record.
    for moment in 0..5_u8 {
        let content = noise(20 + moment, 400_000);
        let undo_id = id::new_id();
        let mut chunks = Chunks::new(Some(&part), "app", &undo_id);
        let (change, mut stored) = (change("a", &content), StoredContents::default());
        let record = new_record(
            &undo_id,
            by("file.write"),
            vec![stored_file(&change, &mut stored, &mut chunks)],
            Vec::new(),
            None,
        );
        let mut pack = chunks.create_pack(&part).expect("made");
        let pieces = match moment {
            0 => 0,
            1 => stored.pack.len() / 2,
            _ => stored.pack.len(),
        };
        stored.pack[..pieces].iter().for_each(|piece| pack.write_all(piece).expect("written"));
        if moment >= 3 {
            chunks.finish_pack(&part, &pack).expect("on the disk");
        }
        if moment == 4 {
            let json = to_line(&record).expect("it is small");
            create_private_dir(&part.join("log")).expect("made");
            let mut file = new_private_file(&part.join("log").join(&undo_id)).expect("made");
            file.write_all(&json[..json.len() / 2]).expect("written");
        }
        assert!(record_of(&store, "app", &undo_id).is_none());
        let next = keep(&store, &edited(&content, 100_000));
        assert!(content_of(&store, &next) == Some(edited(&content, 100_000)), "{moment}");
    }
    assert_eq!(changes_of(&store, "app", "a").len(), 6);
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn a_record_is_there_only_with_all_its_contents() {
    let (state, store) = temporary();
    let part = store.changes.reserve(10_000, &store.clock).expect("there is room");
    let undo_id = id::new_id();
    let (change, mut stored) = (change("a", b"before"), StoredContents::default());
    let mut chunks = Chunks::new(None, "app", &undo_id);
    let files = vec![stored_file(&change, &mut stored, &mut chunks)];
    let record = new_record(&undo_id, by("file.write"), files, Vec::new(), None);
    let looks = std::cell::Cell::new(0);
    let contents = stored.pieces.iter().map(|piece| {
        // As if the process ended before this piece is written.
        assert!(record_of(&store, "app", &undo_id).is_none());
        assert!(
            store.all_changes_since(i64::MIN, |_| ControlFlow::Continue(true)).expect("readable").is_empty()
        );
        looks.set(looks.get() + 1);
        &piece[..]
    });
    write_record(&part, &record, &to_line(&record).expect("it is small"), contents).expect("written");
    assert!(looks.get() > 0);
    assert!(content_of(&store, &undo_id).as_deref() == Some(b"before"));
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn no_scope_shares_chunks_with_another() {
    let (state, store) = temporary();
    let content = noise(5, 400_000);
    keep(&store, &content);
    let of_other = ChangeSource { scope: "other", ..by("file.write") };
    let undo_id = store.keep(of_other, &[change("a", &content)]).expect("it is kept");
    let packs = chunk_files(&store).0;
    let sizes: Vec<u64> = packs.iter().map(|it| fs::metadata(it).expect("it is there").len()).collect();
    assert_eq!(sizes, [400_000, 400_000], "it takes as much as if nobody had it");
    assert!(record_of(&store, "app", &undo_id).is_none());
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn services_that_keep_and_remove_at_once_lose_no_chunk_that_a_change_needs() {
    let (state, mut store) = temporary();
    let limits = RetentionLimits { max_bytes: 1 << 20, part_bytes: 1 << 18, ..CHANGES };
    store.changes = RetainedFolder::new(state.join("versions/changes"), limits);
    let base = noise(2, 200_000);
    std::thread::scope(|scope| {
        for service in 0..4_usize {
            let (store, base) = (store.clone(), &base);
            scope.spawn(move || {
                for edit in 0..20_usize {
                    let content = edited(base, (service * 20 + edit) * 2_400);
                    // Its part may go meanwhile, since there is room for so few, but only as a whole.
                    let kept = store.keep(by("file.write"), &[change("a", &content)]);
                    let Ok(undo_id) = kept.inspect_err(|it| assert_eq!(it.kind(), io::ErrorKind::NotFound))
                    else {
                        continue;
                    };
                    if let Some(found) = record_of(&store, "app", &undo_id) {
                        let read = content_at(&found, 0);
                        assert!(read == Some(content) || record_of(&store, "app", &undo_id).is_none());
                    }
                }
            });
        }
    });
    assert!(changes_of(&store, "app", "a").iter().all(|found| content_at(found, 0).is_some()));
    store.changes.wait_for_removals();
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn a_tree_shares_chunks_with_what_was_kept_before() {
    let (state, store) = temporary();
    let content = noise(5, 400_000);
    keep(&store, &content);
    let mut draft = store.begin_tree("app", 1 << 20).expect("there is room");
    let now = edited(&content, 1_000);
    let at = draft.add(&now).expect("written");
    let undo_id = draft.finish(by("command.run"), TreeSummary::default(), Vec::new(), b"list").expect("kept");
    let (tree, _) =
        record_of(&store, "app", &undo_id).and_then(|found| tree_of(&found)).expect("it is there");
    assert!(tree.read(at, 400_000).expect("it can be read") == Some(now));
    let there = bytes_below(&state.join("versions"));
    assert!(there < 700_000, "{there}");
    // One that is given up leaves nothing.
    let mut draft = store.begin_tree("app", 1 << 20).expect("there is room");
    draft.add(&noise(6, 400_000)).expect("written");
    draft.discard();
    assert!(bytes_below(&state.join("versions")) <= there);
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn a_part_that_goes_while_a_change_is_written_stays_away_and_the_change_is_refused() {
    let (state, store) = temporary();
    keep(&store, &noise(5, 100_000));
    let part = store.changes.parts()[0].clone();
    let undo_id = id::new_id();
    let (change, mut stored) = (change("a", &noise(6, 100_000)), StoredContents::default());
    let mut chunks = Chunks::new(Some(&part), "app", &undo_id);
    let file = stored_file(&change, &mut stored, &mut chunks);
    let record = new_record(&undo_id, by("file.write"), vec![file], Vec::new(), None);
    bailiwick_platform::fs::remove_tree(&part).expect("it is there");
    let pack = chunks.write_pack(&part, &stored.pack);
    let json = to_line(&record).expect("it is small");
    let written = write_record(&part, &record, &json, std::iter::empty());
    let named = name_by_path(&part, &path_key("app", "a"), &undo_id);
    for refused in [pack, written, named] {
        assert_eq!(refused.expect_err("the part has gone").kind(), io::ErrorKind::NotFound);
    }
    assert!(!part.exists());
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn what_is_there_and_cannot_be_read_is_an_error_that_names_it() {
    let (state, store) = temporary();
    let long = text(20_000);
    let first = store.keep(by("file.write"), &[change("a", b"one")]).expect("it is kept");
    let second = store.keep(by("file.write"), &[change("a", &long)]).expect("it is kept");
    let found = record_of(&store, "app", &second).expect("it is there");
    let part = found.part().expect("it is in a part").to_owned();
    // Each is replaced by a folder, which is there and cannot be read as a file.
    let unread = |path: PathBuf, read: &dyn Fn() -> Option<io::Error>, named: &str| {
        let aside = path.with_extension("aside");
        fs::rename(&path, &aside).expect("it is there");
        fs::create_dir(&path).expect("it is free");
        let said = read().map(|error| error.to_string()).expect("it is an error");
        assert!(said.contains(named) && said.contains("cannot be read"), "{said}");
        fs::remove_dir(&path).expect("it is empty");
        fs::rename(&aside, &path).expect("it is free");
    };
    let all = |_: &Record| ControlFlow::Continue(true);
    let log = part.join("log").join(&first);
    unread(log.clone(), &|| store.record("app", &first).err(), &first);
    unread(log.clone(), &|| store.changes_of("app", "a").err(), &first);
    unread(log.clone(), &|| store.changes_since("app", 0, i64::MAX, all).err(), &first);
    unread(log, &|| store.damaged_changes(Duration::from_secs(60)).err(), &first);
    unread(part.join("packs").join(&second), &|| found.content(0).err(), &second);
    // What is no folder cannot be listed.
    fs::rename(part.join("log"), part.join("aside")).expect("it is there");
    fs::write(part.join("log"), "").expect("it is free");
    assert!(store.changes_since("app", 0, i64::MAX, all).is_err());
    fs::remove_file(part.join("log")).expect("it is there");
    // What retention has removed is no error.
    assert!(store.changes_since("app", 0, i64::MAX, all).expect("none is there").is_empty());
    assert!(record_of(&store, "app", &first).is_none());
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}

#[test]
fn a_record_that_could_not_be_written_whole_is_none() {
    let (state, store) = temporary();
    store.keep(by("file.write"), &[change("a", b"one")]).expect("it is kept");
    let part = store.changes.parts()[0].clone();
    // It could be found by no path.
    fs::rename(part.join("paths"), part.join("aside")).expect("it is there");
    fs::write(part.join("paths"), "").expect("it is free");
    store.keep(by("file.write"), &[change("b", b"two")]).expect_err("it has no name");
    let all = store.changes_since("app", 0, i64::MAX, |_| ControlFlow::Continue(true));
    assert_eq!(
        all.expect("they can be read").len(),
        1,
        "nothing was changed, so there is nothing to take back"
    );
    bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
}
