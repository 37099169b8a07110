//! Words in bytes: which groups of them are there, told in one pass.

mod word;

use std::collections::BTreeMap;

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, MatchKind};

pub(super) use self::word::{Bytes, UNREACHED};
use self::word::{In, Word};
use crate::rules::WIDE;
use crate::source::is_word;

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
    /// The file is wanted: a comment may speak to this tool, or a helper of the configuration is named.
    Wanted,
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
    /// [`Says::Wanted`].
    pub(super) wanted: bool,
    /// [`Says::Hides`].
    pub(super) hides: bool,
}

impl Said {
    /// Whether no rule can match.
    pub(super) fn is_nothing(&self) -> bool {
        !(self.matches
            || self.spawns
            || self.hides
            || self.wanted
            || self.names
            || self.wide.is_some())
    }

    /// Whether nothing but escapes and cut lines is there.
    pub(super) fn only_hides(&self) -> bool {
        let other = Self {
            hides: false,
            shell: false,
            ..*self
        };
        self.hides && other.is_nothing()
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
            Says::Wanted => self.wanted = true,
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
            .map(|word| word.split('|').flat_map(Word::all).collect::<Vec<_>>());
        let Some(first) = words.next() else {
            return false;
        };
        let rest = words.collect();
        if first.iter().any(|word| word.letters.is_empty()) {
            return false;
        }
        self.push(first, rest, says);
        true
    }

    /// Adds a word as it stands, whatever signs it has.
    pub(super) fn plain(&mut self, letters: &str, says: Says) {
        self.push(vec![Word::plain(letters)], Vec::new(), says);
    }

    /// Adds a group: one of `first`, and of each of `words` one.
    fn push(&mut self, first: Vec<Word>, words: Vec<Vec<Word>>, says: Says) {
        let rest = Rest {
            number: self.groups,
            words,
            says,
        };
        self.groups += 1;
        for word in first {
            self.words.entry(word).or_default().push(rest.clone());
        }
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
    pub(super) fn read(&self, bytes: &[u8], kind: Bytes, enough: fn(&Said) -> bool) -> Said {
        let mut said = Said {
            hides: is_cut(bytes),
            ..Said::default()
        };
        // What else a group needs is looked for once, however often its first word is there.
        let mut tried = vec![false; self.groups];
        let of = In::new(bytes, kind);
        for part in &self.parts {
            let mut from = 0;
            while let Some((word, at)) = part.search.next(bytes, from) {
                // Words overlap: the longest was found, and those that begin it are there as well.
                // The search goes on at the next byte, for those that begin inside it.
                from = at + 1;
                let words = part.starts.get(word).into_iter().flatten();
                for (_, groups) in words.filter(|(word, _)| word.is_at(&of, at)) {
                    for rest in groups {
                        let has = |one: &Vec<Word>| one.iter().any(|word| word.is_in(&of));
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

/// Whether a line ends inside of a word (`systemd-run` is one), and goes on with the next one.
fn is_cut(bytes: &[u8]) -> bool {
    let of_word = |byte: u8| is_word(byte) || byte == b'-';
    memchr::memchr_iter(b'\\', bytes).any(|at| {
        let (before, after) = bytes.split_at_checked(at).unwrap_or_default();
        let next = after.get(1..).unwrap_or_default();
        matches!(next.first(), Some(b'\n' | b'\r'))
            && before.last().copied().is_some_and(of_word)
            && next
                .trim_ascii_start()
                .first()
                .copied()
                .is_some_and(of_word)
    })
}
