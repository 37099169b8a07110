//! Words in bytes: which groups of them are there, told in one pass.

use std::collections::BTreeMap;

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use crate::rules::WIDE;

/// What must stand beside a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    /// Anything.
    Any,
    /// No letter, digit or `_`.
    Whole,
    /// The same, and something that reaches it before.
    Reached,
}

/// A word of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    letters: String,
    border: Border,
    /// What must stand close behind it; often nothing.
    near: String,
}

impl Word {
    fn new(written: &str) -> Self {
        let (written, near) = written.split_once('…').unwrap_or((written, ""));
        let whole = written
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        let reached = written.strip_prefix('.').filter(|rest| !rest.is_empty());
        let (letters, border) = match (whole, reached) {
            (Some(letters), _) => (letters, Border::Whole),
            (None, Some(letters)) => (letters, Border::Reached),
            (None, None) => (written, Border::Any),
        };
        Self {
            letters: letters.to_owned(),
            border,
            near: near.to_owned(),
        }
    }

    /// Whether it stands at `at`, where its letters are.
    fn is_at(&self, bytes: &[u8], at: usize, starred: &dyn Fn() -> bool) -> bool {
        let before = bytes.get(..at).unwrap_or_default();
        let after = bytes.get(at + self.letters.len()..).unwrap_or_default();
        let letters = self.letters.as_bytes();
        let apart = |inside: Option<&u8>, outside: Option<&u8>| {
            !inside.copied().is_some_and(is_part) || !outside.copied().is_some_and(is_part)
        };
        let whole =
            || apart(letters.first(), before.last()) && apart(letters.last(), after.first());
        let close = after.get(..NEAR).unwrap_or(after);
        if !self.near.is_empty() && memmem::find(close, self.near.as_bytes()).is_none() {
            return false;
        }
        match self.border {
            Border::Any => true,
            Border::Whole => whole(),
            Border::Reached => whole() && (is_reached(before) || starred()),
        }
    }

    fn is_in(&self, bytes: &[u8], starred: &dyn Fn() -> bool) -> bool {
        memmem::find_iter(bytes, self.letters.as_bytes()).any(|at| self.is_at(bytes, at, starred))
    }
}

/// How many bytes behind a word are close to it.
const NEAR: usize = 32;

/// Letters, digits, `_`, and all of a character outside of ASCII.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether what ends here reaches the name that follows: `os.`, `libc::`, `import `, `(`, `"`.
fn is_reached(before: &[u8]) -> bool {
    ends_in_reach(before) || ends_in_reach(without_comments(before))
}

fn ends_in_reach(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    // A line that goes on.
    let before = before
        .strip_suffix(b"\\")
        .unwrap_or(before)
        .trim_ascii_end();
    let Some(last) = before.last() else {
        return false;
    };
    let quoted = before
        .strip_suffix(b"\"")
        .or_else(|| before.strip_suffix(b"'"));
    if let Some(before) = quoted {
        // As in `getattr(os, "fork")` and `libc["fork"]`: any literal that is not said to be no name.
        return !before.ends_with(UNREACHED);
    }
    b".:,({[".contains(last) || before.ends_with(b"import")
}

/// What stands before a literal that names nothing.
pub(super) const UNREACHED: &[u8] = b";\n";

/// The bytes without the comments that end them, each on the end of its line or on one of its own.
fn without_comments(before: &[u8]) -> &[u8] {
    let mut rest = before;
    while let Some(end) = memchr::memrchr2(b'\n', b'\r', rest) {
        // What stands behind the last break is no comment's line: it holds the name.
        if !rest.get(end..).unwrap_or_default().trim_ascii().is_empty() {
            break;
        }
        let lines = rest.get(..end).unwrap_or_default();
        let start = memchr::memrchr2(b'\n', b'\r', lines).map_or(0, |at| at + 1);
        let line = lines.get(start..).unwrap_or_default();
        let comment = memchr::memchr(b'#', line).or_else(|| memmem::find(line, b"//"));
        rest = match comment {
            Some(at) => lines.get(..start + at).unwrap_or_default(),
            None if line.trim_ascii().is_empty() => lines,
            None => break,
        };
        let code = comment.and_then(|at| line.get(..at)).unwrap_or_default();
        if !code.trim_ascii().is_empty() {
            break;
        }
    }
    rest
}

/// Modules whose names a rule wants to be reached, and that are known to be imported whole.
const STARRED: &[&str] = &[
    "os",
    "posix",
    "pty",
    "click",
    "typer",
    "debugpy",
    "executor",
    "ctypes",
    "cmd",
    "gevent.os",
];

/// Whether the names of such a module are reached without it: `from os import *`, `use open::*`.
fn is_starred(bytes: &[u8]) -> bool {
    let python = || {
        memmem::find_iter(bytes, b"import *").any(|at| {
            let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
            STARRED
                .iter()
                .any(|name| before.ends_with(format!("from {name}").as_bytes()))
        })
    };
    python()
        || memmem::find(bytes, b"open::*").is_some()
        || memmem::find(bytes, b"opener::*").is_some()
}

/// What a group of words says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// A rule may match.
    Match,
    /// The same, if a call has so many positions.
    Wide(usize),
    /// A text or argv may be run.
    Spawns,
    /// Such a text may be read as a shell does.
    Shell,
    /// A name of the code may be that of a program.
    Names,
    /// A comment may speak to this tool.
    Speaks,
    /// The bytes are not what is read: words may be written with escapes, or be cut.
    Hides,
}

/// All that a file says.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a file may say, and they are asked for one by one"
)]
pub(super) struct Said {
    /// [`Says::Match`].
    pub(super) matches: bool,
    /// [`Says::Wide`], the smallest number.
    pub(super) wide: Option<usize>,
    /// [`Says::Spawns`].
    pub(super) spawns: bool,
    /// [`Says::Shell`].
    pub(super) shell: bool,
    /// [`Says::Names`].
    pub(super) names: bool,
    /// [`Says::Speaks`].
    pub(super) speaks: bool,
    /// [`Says::Hides`].
    pub(super) hides: bool,
}

impl Said {
    /// Whether no rule can match.
    pub(super) fn is_nothing(&self) -> bool {
        !(self.matches
            || self.spawns
            || self.hides
            || self.speaks
            || self.names
            || self.wide.is_some())
    }

    fn note(&mut self, says: Says) {
        match says {
            Says::Match => self.matches = true,
            Says::Wide(positions) => {
                self.wide = Some(self.wide.map_or(positions, |own| own.min(positions)));
            }
            Says::Spawns => self.spawns = true,
            Says::Shell => self.shell = true,
            Says::Names => self.names = true,
            Says::Speaks => self.speaks = true,
            Says::Hides => self.hides = true,
        }
    }
}

/// A group without its first word.
#[derive(Clone, Debug)]
struct Rest {
    /// Its number among all.
    number: usize,
    /// Of each of these one must be there.
    words: Vec<Vec<Word>>,
    says: Says,
}

/// A word with which groups begin, and what must come to it.
type Start = (Word, Vec<Rest>);

/// Some of the words, and what finds them.
#[derive(Debug)]
struct Part {
    search: Search,
    /// For all letters that are found: the words that start so.
    starts: Vec<Vec<Start>>,
}

/// What finds words: the fast way needs instructions that not every processor has.
#[derive(Debug)]
enum Search {
    Packed(Searcher),
    Plain(AhoCorasick),
}

/// The fast way ends at 64 words, and slows down with their number.
const PER_PART: usize = 48;
/// It looks at the first bytes of words, as many as the shortest has: short ones are looked for apart.
const SHORT: usize = 4;

/// Groups of words.
#[derive(Debug)]
pub(super) struct Terms {
    parts: Vec<Part>,
    /// How many groups there are.
    groups: usize,
}

/// Groups that are being gathered.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    words: BTreeMap<Word, Vec<Rest>>,
    groups: usize,
}

impl Gathered {
    /// Adds a group in the rules' own notation; false if it is empty, so that every file has it.
    pub(super) fn add(&mut self, group: &[&str], says: Says) -> bool {
        let wide = |word: &&str| word.strip_prefix(WIDE)?.parse().ok();
        let says = group.iter().find_map(wide).map_or(says, Says::Wide);
        let mut words = group
            .iter()
            .filter(|word| !word.starts_with(WIDE))
            .map(|word| word.split('|').map(Word::new).collect::<Vec<_>>());
        let Some(first) = words.next() else {
            return false;
        };
        let rest = Rest {
            number: self.groups,
            words: words.collect(),
            says,
        };
        self.groups += 1;
        for word in first {
            if word.letters.is_empty() {
                return false;
            }
            self.words.entry(word).or_default().push(rest.clone());
        }
        true
    }

    /// Adds a word as it stands, whatever signs it has.
    pub(super) fn plain(&mut self, letters: &str, says: Says) {
        let word = Word {
            letters: letters.to_owned(),
            border: Border::Any,
            near: String::new(),
        };
        let rest = Rest {
            number: self.groups,
            words: Vec::new(),
            says,
        };
        self.groups += 1;
        self.words.entry(word).or_default().push(rest);
    }

    /// All of it, ready; none if that cannot be made.
    pub(super) fn done(self) -> Option<Terms> {
        let mut letters: Vec<&str> = self
            .words
            .keys()
            .map(|word| word.letters.as_str())
            .collect();
        letters.dedup();
        letters.sort_by_key(|letters| letters.len() < SHORT);
        let parts = letters.chunk_by(|a, b| (a.len() < SHORT) == (b.len() < SHORT));
        let parts = parts.flat_map(|own| own.chunks(PER_PART));
        let parts = parts.map(|own| self.part(own)).collect::<Option<_>>()?;
        Some(Terms {
            parts,
            groups: self.groups,
        })
    }

    fn part(&self, letters: &[&str]) -> Option<Part> {
        let mut fast = packed::Config::new();
        fast.match_kind(packed::MatchKind::LeftmostLongest);
        let fast = fast.builder().extend(letters).build();
        let search = if let Some(fast) = fast {
            Search::Packed(fast)
        } else {
            let mut plain = AhoCorasick::builder();
            let plain = plain.match_kind(MatchKind::LeftmostLongest);
            Search::Plain(plain.build(letters).ok()?)
        };
        let starting = |found: &&str| {
            let words = self.words.iter();
            let words = words.filter(|(word, _)| found.starts_with(&word.letters));
            words
                .map(|(word, rest)| (word.clone(), rest.clone()))
                .collect()
        };
        let starts = letters.iter().map(starting).collect();
        Some(Part { search, starts })
    }
}

impl Terms {
    /// What the bytes say, read until that is `enough`.
    pub(super) fn read(&self, bytes: &[u8], enough: fn(&Said) -> bool) -> Said {
        let mut said = Said {
            hides: is_cut(bytes),
            ..Said::default()
        };
        // What else a group needs is looked for once, however often its first word is there.
        let mut tried = vec![false; self.groups];
        let cell = std::cell::OnceCell::new();
        let starred = || *cell.get_or_init(|| is_starred(bytes));
        for part in &self.parts {
            let mut from = 0;
            while let Some((word, at)) = part.search.next(bytes, from) {
                // Words overlap: the longest was found, and those that begin it are there as well.
                // The search goes on at the next byte, for those that begin inside it.
                from = at + 1;
                let words = part.starts.get(word).into_iter().flatten();
                for (_, groups) in words.filter(|(word, _)| word.is_at(bytes, at, &starred)) {
                    for rest in groups {
                        let has =
                            |one: &Vec<Word>| one.iter().any(|word| word.is_in(bytes, &starred));
                        let new = tried
                            .get_mut(rest.number)
                            .is_some_and(|tried| !std::mem::replace(tried, true));
                        if new && rest.words.iter().all(has) {
                            said.note(rest.says);
                        }
                    }
                }
                if enough(&said) {
                    return said;
                }
            }
        }
        said
    }
}

impl Search {
    /// The next word from `from` on: which, and where it stands.
    fn next(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = match self {
            Self::Packed(search) => search.find_in(bytes, (from..bytes.len()).into()),
            Self::Plain(search) => search.find(aho_corasick::Input::new(bytes).range(from..)),
        };
        found.map(|found| (found.pattern().as_usize(), found.start()))
    }
}

/// Whether a line ends inside of a word, and goes on with the next one.
fn is_cut(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', bytes).any(|at| {
        let (before, after) = bytes.split_at_checked(at).unwrap_or_default();
        let next = after.get(1..).unwrap_or_default();
        matches!(next.first(), Some(b'\n' | b'\r'))
            && before.last().copied().is_some_and(is_part)
            && next
                .trim_ascii_start()
                .first()
                .copied()
                .is_some_and(is_part)
    })
}
