//! Words in bytes: which groups of them are there, told in one pass.

mod anchors;
mod module;
mod reach;
mod word;

use std::collections::BTreeMap;

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, MatchKind};

use self::anchors::{Anchor, anchors};
pub(super) use self::reach::{UNREACHED, asking};
pub(super) use self::word::Bytes;
use self::word::{In, Word};
use super::escapes;
use crate::rules::WIDE;
use crate::source::Language;

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
    /// The bytes are not what is read: words may be written with escapes, or be cut.
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

/// A word with which groups begin.
#[derive(Debug)]
struct Start {
    /// At which of its bytes the letters stand that are found.
    offset: usize,
    word: Word,
    /// What must come to it.
    rest: Vec<Rest>,
}

/// Some of the anchors, and what finds them.
#[derive(Debug)]
struct Part {
    search: Search,
    /// For all letters that are found: the words that they may be of.
    starts: Vec<Vec<Start>>,
}

/// What finds words: the fast way needs instructions that not every processor has.
#[derive(Debug)]
enum Search {
    Packed(Searcher),
    Plain(AhoCorasick),
}

/// The fast way ends at 64 anchors, and slows down with their number.
const PER_PART: usize = 48;

/// Groups of words.
#[derive(Debug)]
pub(super) struct Terms {
    language: Language,
    parts: Vec<Part>,
    /// How many groups there are.
    groups: usize,
}

/// Groups that are being gathered.
#[derive(Debug)]
pub(super) struct Gathered {
    language: Language,
    words: BTreeMap<Word, Vec<Rest>>,
    groups: usize,
}

impl Gathered {
    /// None yet, to be found in files of this language.
    pub(super) const fn new(language: Language) -> Self {
        Self {
            language,
            words: BTreeMap::new(),
            groups: 0,
        }
    }

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
        let mut anchors = anchors(&letters);
        // As many first bytes are looked at as the shortest has: short ones are looked for apart.
        anchors.sort_by_key(Anchor::is_short);
        let parts = anchors.chunk_by(|a, b| a.is_short() == b.is_short());
        let parts = parts.flat_map(|own| {
            let parts = own.len().div_ceil(PER_PART).max(1);
            own.chunks(own.len().div_ceil(parts).max(1))
        });
        let parts = parts.map(|own| self.part(&letters, own));
        Some(Terms {
            language: self.language,
            parts: parts.collect::<Option<_>>()?,
            groups: self.groups,
        })
    }

    fn part(&self, letters: &[&str], anchors: &[Anchor<'_>]) -> Option<Part> {
        let found = anchors.iter().map(|anchor| anchor.letters);
        let mut fast = packed::Config::new();
        fast.match_kind(packed::MatchKind::LeftmostLongest);
        let fast = fast.builder().extend(found.clone()).build();
        let search = if let Some(fast) = fast {
            Search::Packed(fast)
        } else {
            let mut plain = AhoCorasick::builder();
            let plain = plain.match_kind(MatchKind::LeftmostLongest);
            Search::Plain(plain.build(found).ok()?)
        };
        let starting = |found: &Anchor<'_>| {
            // Of two that stand at one place the longer is found.
            let within = |anchor: &&Anchor<'_>| found.letters.starts_with(anchor.letters);
            let words = anchors
                .iter()
                .filter(within)
                .flat_map(|anchor| &anchor.words);
            let words =
                words.filter_map(|(number, offset)| Some((*letters.get(*number)?, *offset)));
            words
                .flat_map(|(letters, offset)| self.starts(letters, offset))
                .collect()
        };
        let starts = anchors.iter().map(starting).collect();
        Some(Part { search, starts })
    }

    /// The words of these letters.
    fn starts<'w>(&'w self, letters: &'w str, offset: usize) -> impl Iterator<Item = Start> + 'w {
        let words = self
            .words
            .iter()
            .filter(move |(word, _)| word.letters == letters);
        words.map(move |(word, rest)| Start {
            offset,
            word: word.clone(),
            rest: rest.clone(),
        })
    }
}

impl Terms {
    /// What the bytes say, read until that is `enough`.
    pub(super) fn read(&self, bytes: &[u8], kind: Bytes, enough: fn(&Said) -> bool) -> Said {
        let mut said = Said {
            hides: kind == Bytes::Raw && escapes::may_hide(bytes),
            ..Said::default()
        };
        // What else a group needs is looked for once, however often its first word is there.
        let mut tried = vec![false; self.groups];
        let of = In::new(bytes, kind, self.language);
        for part in &self.parts {
            let mut from = 0;
            while let Some((word, at)) = part.search.next(bytes, from) {
                // Anchors overlap: the search goes on at the next byte, for those that begin inside this one.
                from = at + 1;
                for start in part.starts.get(word).into_iter().flatten() {
                    let told = |rest: &Rest| tried.get(rest.number).copied().unwrap_or(true);
                    let there = || {
                        let at = at.checked_sub(start.offset);
                        at.is_some_and(|at| start.word.stands_at(&of, at))
                    };
                    if start.rest.iter().all(told) || !there() {
                        continue;
                    }
                    for rest in &start.rest {
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
