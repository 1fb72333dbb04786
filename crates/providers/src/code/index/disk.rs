//! An index as a file: compact, checksummed, and of this build alone.
//!
//! Names are sorted and paths are valid, each told by what it does not share with the one before; lines and
//! containers are told by how far they are from the last. A file that is broken, of another build, or of another
//! folder is no index: everything is then read again.

use crate::syntax::Language;
use bailiwick_contract::Access;
use bailiwick_platform::fs::FileId;
use sha2::{Digest, Sha256};

use super::super::Kind;
use super::entry::{Container, Entry, Outcome, Stamp, Symbol};
use super::names::MAX_NAME_BYTES;
use super::table::Table;

/// Changes with the format, and with what is found in a text.
const FORMAT: &str = "bailiwick code index 2";
/// The largest file that is read.
pub(super) const MAX_FILE_BYTES: u64 = 512 << 20;
/// The longest path.
const MAX_PATH_BYTES: usize = 4_096;
const CHECKSUM_BYTES: usize = 32;

/// What an index belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    /// The root's folder.
    pub root: FileId,
    /// The rules by which files were chosen.
    pub rules: [u8; 32],
}

/// Writes an index down.
pub(super) fn encode(table: &Table, owner: &Owner) -> Vec<u8> {
    let mut out = Vec::with_capacity(table.symbols() * 10 + table.files.len() * 48 + 4_096);
    bytes(&mut out, build().as_bytes());
    number(&mut out, owner.root.device);
    number(&mut out, owner.root.inode);
    out.extend_from_slice(&owner.rules);
    let numbers = names(&mut out, table);
    number(&mut out, table.files.len() as u64);
    let mut before: (&[u8], u64, i64) = (b"", 0, 0);
    for (path, entry) in &table.files {
        let shared = path.iter().zip(before.0).take_while(|(one, other)| one == other).count();
        number(&mut out, shared as u64);
        bytes(&mut out, &path[shared..]);
        file(&mut out, entry, before.1, before.2);
        before = (path, entry.stamp.inode, entry.stamp.modified_ns);
        number(&mut out, entry.symbols.len() as u64);
        let mut line = 0;
        for (place, symbol) in entry.symbols.iter().enumerate() {
            let number_of = |name: u32| u64::from(numbers[name as usize]);
            number(&mut out, number_of(symbol.name));
            out.push(symbol.kind as u8 | u8::from(symbol.declared_only) << 7);
            signed(&mut out, i64::from(symbol.line) - line);
            line = i64::from(symbol.line);
            // 0: the file; odd: how far before this one; even: a name.
            let within = match symbol.within {
                Container::File => 0,
                Container::Definition(at) => ((place as u64).saturating_sub(u64::from(at)) << 1) | 1,
                Container::Named(name) => (number_of(name) + 1) << 1,
            };
            number(&mut out, within);
        }
    }
    let checksum = Sha256::digest(&out);
    out.extend_from_slice(&checksum);
    out
}

/// Reads an index back, and the rules by which its files were chosen; `None` if it is none of this build and root.
pub(super) fn decode(content: &[u8], root: FileId) -> Option<(Table, [u8; 32])> {
    let (body, checksum) = content.split_at_checked(content.len().checked_sub(CHECKSUM_BYTES)?)?;
    if Sha256::digest(body).as_slice() != checksum {
        return None;
    }
    let mut rest = UnreadBytes(body);
    if rest.bytes(4_096)? != build().as_bytes()
        || rest.number()? != root.device
        || rest.number()? != root.inode
    {
        return None;
    }
    let rules: [u8; 32] = rest.take(32)?.try_into().ok()?;
    let mut table = Table::default();
    let names = rest.count()?;
    let mut name = Vec::new();
    for number in 0..names {
        rest.shared(&mut name, MAX_NAME_BYTES)?;
        // Sorted and without repetition, so that its number is its place.
        if table.names.intern(str::from_utf8(&name).ok()?)? as usize != number {
            return None;
        }
    }
    let name_count = u32::try_from(names).ok()?;
    let files = rest.count()?;
    let mut path = Vec::new();
    let (mut inode, mut modified_ns) = (0, 0);
    for _ in 0..files {
        rest.shared(&mut path, MAX_PATH_BYTES)?;
        let mut entry = rest.file(inode, modified_ns)?;
        (inode, modified_ns) = (entry.stamp.inode, entry.stamp.modified_ns);
        let count = rest.count()?;
        let mut symbols = Vec::with_capacity(count);
        let mut line = 0_i64;
        for place in 0..count {
            let name = u32::try_from(rest.number()?).ok().filter(|name| *name < name_count)?;
            let kind = *rest.take(1)?.first()?;
            line = line.checked_add(rest.signed()?)?;
            let within = match rest.number()? {
                0 => Container::File,
                odd if odd & 1 == 1 => {
                    Container::Definition(u32::try_from((place as u64).checked_sub(odd >> 1)?).ok()?)
                }
                even => {
                    Container::Named(u32::try_from((even >> 1) - 1).ok().filter(|name| *name < name_count)?)
                }
            };
            symbols.push(Symbol {
                name,
                line: u32::try_from(line).ok()?,
                within,
                kind: Kind::of_number(kind & 0x7f)?,
                declared_only: kind & 0x80 != 0,
            });
        }
        entry.symbols = symbols.into();
        table.insert(path.as_slice().into(), entry);
    }
    rest.0.is_empty().then_some((table, rules))
}

/// Names what wrote the file: the numbers in it mean something to this build alone.
fn build() -> String {
    let languages = Language::ALL.map(Language::name).join(" ");
    let kinds = Kind::ALL.map(Kind::as_str).join(" ");
    format!("{FORMAT}, {}, {languages}, {kinds}, {:?}", env!("CARGO_PKG_VERSION"), Access::Search)
}

/// Writes the names that are used, sorted. Returns the new number of each.
fn names(out: &mut Vec<u8>, table: &Table) -> Vec<u32> {
    let mut used = vec![false; table.names.len()];
    for symbol in table.files.values().flat_map(|entry| &entry.symbols) {
        used[symbol.name as usize] = true;
        if let Container::Named(name) = symbol.within {
            used[name as usize] = true;
        }
    }
    let mut sorted: Vec<(&str, usize)> = table
        .names
        .iter()
        .enumerate()
        .filter(|(at, _)| used[*at])
        .map(|(at, (name, _))| (name, at))
        .collect();
    sorted.sort_unstable();
    number(out, sorted.len() as u64);
    let mut numbers = vec![0; used.len()];
    let mut before = "";
    for (new, (name, old)) in sorted.into_iter().enumerate() {
        let shared = name.bytes().zip(before.bytes()).take_while(|(one, other)| one == other).count();
        number(out, shared as u64);
        bytes(out, &name.as_bytes()[shared..]);
        numbers[old] = u32::try_from(new).unwrap_or(u32::MAX);
        before = name;
    }
    numbers
}

fn file(out: &mut Vec<u8>, entry: &Entry, inode: u64, modified_ns: i64) {
    let language =
        entry.language.and_then(|language| Language::ALL.iter().position(|other| *other == language));
    out.push(language.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0));
    out.push(entry.outcome as u8 | u8::from(entry.several_names) << 7);
    number(out, entry.stamp.size);
    signed(out, entry.stamp.modified_ns.wrapping_sub(modified_ns));
    signed(out, entry.stamp.changed_ns.wrapping_sub(entry.stamp.modified_ns));
    signed(out, entry.stamp.inode.wrapping_sub(inode).cast_signed());
}

/// Writes a number, seven bits a byte, the lowest first.
fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Writes a number that may be negative; small ones stay short.
fn signed(out: &mut Vec<u8>, value: i64) {
    number(out, (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned());
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What is still to be read.
struct UnreadBytes<'a>(&'a [u8]);

impl<'a> UnreadBytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads how many of something follow; each takes a byte or more.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    fn bytes(&mut self, max: usize) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok().filter(|count| *count <= max)?;
        self.take(count)
    }

    /// Reads a text that shares its beginning with the one before.
    fn shared(&mut self, text: &mut Vec<u8>, max: usize) -> Option<()> {
        let shared = usize::try_from(self.number()?).ok().filter(|shared| *shared <= text.len())?;
        let own = self.bytes(max.checked_sub(shared)?)?;
        text.truncate(shared);
        text.extend_from_slice(own);
        Some(())
    }

    /// Reads a file's facts; its definitions come after them.
    fn file(&mut self, inode: u64, modified_ns: i64) -> Option<Entry> {
        let language = match *self.take(1)?.first()? {
            0 => None,
            at => Some(*Language::ALL.get(usize::from(at) - 1)?),
        };
        let flags = *self.take(1)?.first()?;
        let size = self.number()?;
        let modified_ns = modified_ns.wrapping_add(self.signed()?);
        let changed_ns = modified_ns.wrapping_add(self.signed()?);
        let inode = inode.wrapping_add(self.signed()?.cast_unsigned());
        Some(Entry {
            stamp: Stamp { size, modified_ns, changed_ns, inode },
            language,
            outcome: *Outcome::ALL.get(usize::from(flags & 0x7f))?,
            several_names: flags & 0x80 != 0,
            seen: 0,
            symbols: Box::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner { root: FileId { device: 7, inode: 1 << 40 }, rules: [3; 32] };

    fn table() -> Table {
        let mut table = Table::default();
        for file in 0..50_u32 {
            let names: Vec<u32> = (0..20)
                .filter_map(|n| table.names.intern(&format!("größe_{}", (n * 7 + file) % 90)))
                .collect();
            let symbols = names.iter().zip(0_u32..).map(|(name, at)| Symbol {
                name: *name,
                line: (at * 13) % 40 + 1,
                within: match at % 3 {
                    0 => Container::File,
                    1 => Container::Definition(at - 1),
                    _ => Container::Named(names[0]),
                },
                kind: Kind::ALL[at as usize % Kind::ALL.len()],
                declared_only: at % 2 == 0,
            });
            let entry = Entry {
                stamp: Stamp {
                    size: u64::from(file) << 20,
                    modified_ns: i64::from(file) * 1_000_000_007,
                    changed_ns: i64::MAX - i64::from(file),
                    inode: u64::MAX - u64::from(file * 3),
                },
                language: Language::ALL.get(file as usize % 20).copied(),
                outcome: Outcome::ALL[file as usize % Outcome::ALL.len()],
                several_names: file % 5 == 0,
                seen: 0,
                symbols: symbols.collect(),
            };
            table.insert(format!("src/dir{}/file{file}.rs", file % 7).into_bytes().into(), entry);
        }
        // Used by nothing: it is not written.
        table.names.intern("forgotten");
        table
    }

    /// Everything in words, so that two tables with other numbers for names compare.
    fn words(table: &Table) -> Vec<String> {
        let name = |number: u32| table.names.get(number).to_owned();
        table
            .files
            .iter()
            .map(|(path, entry)| {
                let symbols: Vec<String> = entry
                    .symbols
                    .iter()
                    .map(|symbol| {
                        let within = match symbol.within {
                            Container::Named(number) => name(number),
                            other => format!("{other:?}"),
                        };
                        format!(
                            "{} {within} {:?}",
                            name(symbol.name),
                            (symbol.line, symbol.kind, symbol.declared_only)
                        )
                    })
                    .collect();
                format!(
                    "{path:?} {:?} {symbols:?}",
                    (entry.stamp, entry.language, entry.outcome, entry.several_names)
                )
            })
            .collect()
    }

    #[test]
    fn an_index_comes_back_as_it_was() {
        let table = table();
        let (read, rules) = decode(&encode(&table, &OWNER), OWNER.root).expect("it is whole");
        assert_eq!((words(&read), rules), (words(&table), OWNER.rules));
        assert_eq!(read.symbols(), table.symbols());
        assert!(read.names.iter().all(|(name, _)| name != "forgotten"));
    }

    #[test]
    fn what_is_cut_off_or_changed_or_of_another_root_is_no_index() {
        let content = encode(&table(), &OWNER);
        for end in (0..content.len()).step_by(97) {
            assert!(decode(&content[..end], OWNER.root).is_none(), "{end}");
        }
        for at in (0..content.len()).step_by(31) {
            let mut changed = content.clone();
            changed[at] ^= 0x10;
            assert!(decode(&changed, OWNER.root).is_none(), "{at}");
        }
        assert!(decode(&content, FileId { device: 8, ..OWNER.root }).is_none());
    }

    #[test]
    fn no_content_with_a_good_checksum_is_more_than_refused() {
        let content = encode(&table(), &OWNER);
        let body = &content[..content.len() - CHECKSUM_BYTES];
        for at in (0..body.len()).step_by(29) {
            for byte in [0, 0x7f, 0xff] {
                let mut changed = body.to_vec();
                changed[at] = byte;
                let checksum = Sha256::digest(&changed);
                changed.extend_from_slice(&checksum);
                if let Some((table, _)) = decode(&changed, OWNER.root) {
                    words(&table);
                }
            }
        }
    }
}
