//! The prefilter: which files no rule can match, told from their bytes alone.
//!
//! It is sound: what it drops has none of the words that some rule needs. Its stated limit is a
//! word that stands in no single piece in the bytes: written with escapes (`"\x73etsid"`) or cut by
//! a line break inside a string. `--no-prefilter` reads every file.

use regex::bytes::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::decode::wide;
use crate::justify::{MARKER, NEAR};
use crate::policy::Policy;
use crate::rules;
use crate::source::Language;

/// Words that a comment has which speaks to this tool, well formed or misspelt.
const MARKERS: &[&[&str]] = &[
    &["etach", "spaw"],
    &["etach", "spwa"],
    &["etatch", "spaw"],
    &["ETACH", "SPAW"],
];

/// Words, and which of them must come together.
#[derive(Debug)]
pub struct Filter {
    /// Every word, the longest first; none if every file is wanted.
    words: Option<Regex>,
    /// The same words, as the pattern has them.
    list: Vec<String>,
    /// Groups of indices in `list`: one whole group makes a candidate.
    groups: Vec<Vec<usize>>,
    /// Pieces of which one stands in each near miss of a marker that the configuration chose.
    markers: Vec<Regex>,
}

impl Filter {
    /// The filter of all rules, and of what the configuration adds: its helpers and its markers.
    pub fn new<'a>(policies: impl Iterator<Item = &'a Policy>) -> Self {
        let mut helpers = Vec::new();
        let mut markers = Vec::new();
        for policy in policies {
            let own = policy.detaching.iter();
            helpers.extend(own.map(|helper| helper.name().to_owned()));
            markers.push(policy.terms.marker.clone());
        }
        markers.retain(|marker| marker != MARKER);
        markers.sort_unstable();
        markers.dedup();
        let pieces: Option<Vec<Regex>> = markers.iter().map(|marker| pieces(marker)).collect();
        let filter = Self::of(rules::ALL.iter().map(|rule| rule.words), &helpers);
        match pieces {
            Some(markers) if filter.words.is_some() => Self { markers, ..filter },
            _ => Self::open(),
        }
    }

    /// A filter that lets every file through.
    pub const fn open() -> Self {
        Self {
            words: None,
            list: Vec::new(),
            groups: Vec::new(),
            markers: Vec::new(),
        }
    }

    fn of<'a>(
        rules: impl Iterator<Item = &'static [&'static [&'static str]]>,
        helpers: &'a [String],
    ) -> Self {
        let mut groups: Vec<Vec<&'a str>> = MARKERS.iter().map(|group| group.to_vec()).collect();
        groups.extend(helpers.iter().map(|name| vec![name.as_str()]));
        for own in rules {
            if own.is_empty() || own.iter().any(|group| group.is_empty()) {
                return Self::open(); // This rule names no words: it may match anything.
            }
            groups.extend(own.iter().map(|group| group.to_vec()));
        }
        let mut list: Vec<&str> = groups.iter().flatten().copied().collect();
        list.sort_unstable();
        list.dedup();
        list.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let place = |word: &&str| list.iter().position(|other| other == word);
        let groups = groups
            .iter()
            .map(|group| group.iter().filter_map(place).collect())
            .collect();
        let pattern = list
            .iter()
            .map(|word| regex::escape(word))
            .collect::<Vec<_>>()
            .join("|");
        // Helpers may have names outside of ASCII, which are matched byte by byte too.
        let words = RegexBuilder::new(&pattern)
            .unicode(!pattern.is_ascii())
            .build();
        words.map_or_else(
            |_| Self::open(),
            |words| Self {
                words: Some(words),
                list: list.into_iter().map(str::to_owned).collect(),
                groups,
                markers: Vec::new(),
            },
        )
    }

    /// Whether some rule could match.
    pub fn wants(&self, language: Language, bytes: &[u8]) -> bool {
        let Some(words) = &self.words else {
            return true;
        };
        self.has_group(words, bytes)
            || self.markers.iter().any(|pieces| pieces.is_match(bytes))
            || wide(bytes).is_some()
            || language == Language::Python && may_hide(bytes)
    }

    fn has_group(&self, words: &Regex, bytes: &[u8]) -> bool {
        let mut seen = vec![false; self.list.len()];
        let mut from = 0;
        while let Some(hit) = words.find_at(bytes, from) {
            // Words overlap: the longest was found, and those that begin it are there as well. The
            // search goes on at the next byte, for those that begin inside it.
            let mut new = false;
            for (word, seen) in self.list.iter().zip(&mut seen) {
                if !*seen && hit.as_bytes().starts_with(word.as_bytes()) {
                    *seen = true;
                    new = true;
                }
            }
            let whole =
                |group: &Vec<usize>| group.iter().all(|word| seen.get(*word) == Some(&true));
            if new && self.groups.iter().any(whole) {
                return true;
            }
            from = hit.start() + 1;
        }
        false
    }
}

/// What stands in every word that may be meant as `marker`: each edit spoils one piece of it, so that
/// with one piece more than edits one is whole. A hyphen may be another sign, and case does not count.
fn pieces(marker: &str) -> Option<Regex> {
    let size = marker.len().div_ceil(NEAR + 1).max(1);
    let pieces = marker.as_bytes().chunks(size).map(|piece| {
        let piece = String::from_utf8_lossy(piece);
        piece.replace('-', "(?s-u:.{1,3})")
    });
    let pattern = pieces.collect::<Vec<_>>().join("|");
    RegexBuilder::new(&pattern)
        .case_insensitive(true)
        .build()
        .ok()
}

/// Whether Python may read words from these bytes that do not stand there: identifiers are
/// normalised (`ｓｅｔｓｉｄ` is `setsid`), and a declared encoding may hide ASCII.
fn may_hide(bytes: &[u8]) -> bool {
    if declares_other_encoding(bytes) {
        return true;
    }
    if bytes.is_ascii() {
        return false;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return true;
    };
    let ascii = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let folds = |char: char| !char.is_ascii() && std::iter::once(char).nfkc().any(ascii);
    text.chars().any(folds)
}

fn declares_other_encoding(bytes: &[u8]) -> bool {
    let plain = [
        "utf-8", "utf8", "utf_8", "ascii", "latin", "iso-8859", "8859",
    ];
    let lines = bytes
        .split(|byte| *byte == b'\n' || *byte == b'\r')
        .filter(|line| !line.is_empty());
    lines.take(2).any(|line| {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        line.contains('#')
            && line.contains("coding")
            && !plain.iter().any(|name| line.contains(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[&[&[&str]]] = &[
        &[&["setsid"], &["sid", "fork"]],
        &[&["start_new_session"]],
        &[&["news"]],
    ];

    fn wants(text: &[u8]) -> bool {
        Filter::of(RULES.iter().copied(), &[]).wants(Language::Python, text)
    }

    #[test]
    fn a_whole_group_is_wanted() {
        assert!(wants(b"os.setsid()"));
        assert!(wants(b"fork, then sid"));
        assert!(!wants(b"fork"));
        assert!(!wants(b"sid"));
        assert!(wants(b"# detached-spawn: reason"));
        assert!(wants(b"# Detached-spwan: reason"));
    }

    #[test]
    fn every_example_of_a_rule_is_wanted() {
        let filter = Filter::new(std::iter::empty());
        for rule in rules::ALL {
            let bad = rule.doc.split("## Bad").nth(1).unwrap_or_default();
            let bad = bad.split("## Good").next().unwrap_or_default();
            for (index, fence) in bad
                .split("```")
                .enumerate()
                .filter(|(index, _)| index % 2 == 1)
            {
                let (info, code) = fence.split_once('\n').unwrap_or_default();
                let language = if info.contains("rust") {
                    Language::Rust
                } else {
                    Language::Python
                };
                assert!(
                    filter.wants(language, code.as_bytes()),
                    "{} fence {index}: {code}",
                    rule.id
                );
            }
        }
    }

    #[test]
    fn words_inside_words_count() {
        let nested: &[&[&[&str]]] = &[&[&["ab", "bc"], &["abx", "ab", "zz"]]];
        let filter = Filter::of(nested.iter().copied(), &[]);
        assert!(filter.wants(Language::Rust, b"abc"));
        assert!(filter.wants(Language::Rust, b"abx zz"));
        assert!(!filter.wants(Language::Rust, b"ab zz"));
    }

    #[test]
    fn what_the_configuration_adds_is_wanted() {
        let mut policy = Policy::default();
        policy.terms.marker = "must-outlive".to_owned();
        policy.detaching = vec![crate::policy::Helper::new("team.proc.launch_far").unwrap()];
        let filter = Filter::new(std::iter::once(&policy));
        for text in [
            "launch_far()",
            "# must-outlive: x",
            "# MUST_OUTLIVE: x",
            "# mustoutlve: x",
            "# mst‐outlivee: x",
        ] {
            assert!(filter.wants(Language::Rust, text.as_bytes()), "{text}");
        }
        assert!(!filter.wants(Language::Rust, b"fn begin() {}"));
    }

    #[test]
    fn a_rule_without_words_wants_all() {
        let open: &[&[&[&str]]] = &[&[&["setsid"]], &[]];
        assert!(Filter::of(open.iter().copied(), &[]).wants(Language::Rust, b""));
    }

    #[test]
    fn what_python_would_fold_is_wanted() {
        assert!(wants("os.ｓｅｔｓｉｄ()".as_bytes()));
        assert!(wants("os.\u{17f}etsid()".as_bytes()));
        assert!(!wants("# äöü 日本語 “x”".as_bytes()));
        assert!(wants(b"\xff\xfeo\0s\0"));
        assert!(wants(b"# coding: utf-7\n+AG8-"));
        assert!(!wants(b"# coding: latin-1\nx = 1"));
    }
}
