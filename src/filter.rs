//! The prefilter: which files no rule can match, told without a parser.
//!
//! Most files end at one pass over their bytes: none of the rules' words is there. Where one is, a
//! lexer's pass tells words from what merely looks so: in Rust comments and the names of functions
//! where they are defined do not count, and for what is only wanted because it may run a command, one
//! of its string literals must name a program that some rule knows.
//!
//! It is sound: what it drops cannot be found. Names in other forms of their letters, escapes and
//! lines that are cut inside a literal are seen through. Its stated limit is a word that the program
//! itself puts together from several names or literals (`"set" + SID`), or writes with blanks
//! or comments where nobody does (`open :: that`, `import os, \` with a module on the next line), the
//! number of a system call written otherwise than as `112` or `0x70`, `getattr` of a module under another
//! name, and options that are given by their position to a `Popen` under another name. `--no-prefilter`
//! reads every file.

mod escapes;
mod named;
mod programs;
mod terms;
mod texts;

use std::borrow::Cow;

use regex::bytes::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::decode::{decode, wide};
use crate::justify::{MARKER, NEAR};
use crate::policy::Policy;
use crate::rules::{self, Rule, Words};
use crate::source::Language;
use named::Named;
use programs::{BACKGROUND, Programs};
use terms::{Bytes, Said, Terms};

/// The number of positions with which `Popen` is told of a shell.
const SHELL_AT: usize = 9;

/// Which files are wanted.
#[derive(Debug)]
pub struct Filter {
    /// What the rules name; none if every file is wanted.
    named: Option<Named>,
    programs: Programs,
    /// Pieces of which one stands in each near miss of a marker that the configuration chose.
    markers: Vec<Regex>,
}

impl Filter {
    /// The filter of all rules, and of what the configuration adds: its helpers and its markers. Rules lean on each
    /// other's words; only what runs in the background asks for a file by itself where somebody is told of it.
    pub fn new<'a>(policies: impl Iterator<Item = &'a Policy>) -> Self {
        let policies: Vec<&Policy> = policies.collect();
        let mut helpers = Vec::new();
        let mut markers = Vec::new();
        for policy in &policies {
            // Whether a helper is met at all is told, too.
            let own = policy.detaching.iter().chain(&policy.owning);
            helpers.extend(own.map(|helper| helper.name().to_owned()));
            markers.push(policy.terms.marker.clone());
        }
        markers.retain(|marker| marker != MARKER);
        markers.sort_unstable();
        markers.dedup();
        let pieces: Option<Vec<Regex>> = markers.iter().map(|marker| pieces(marker)).collect();
        let told = |rule: &Rule| {
            policies.is_empty() || policies.iter().any(|policy| policy.tells_of(rule))
        };
        let background = rules::ALL
            .iter()
            .any(|rule| rule.words.programs.contains(&BACKGROUND) && told(rule));
        let all: Vec<&'static Words> = rules::ALL.iter().map(|rule| &rule.words).collect();
        match (pieces, Self::of(all, helpers)) {
            (Some(markers), Some(filter)) => Self {
                markers,
                programs: filter.programs.telling_of_background(background),
                ..filter
            },
            _ => Self::open(),
        }
    }

    /// A filter that lets every file through.
    pub fn open() -> Self {
        Self {
            named: None,
            programs: Programs::default(),
            markers: Vec::new(),
        }
    }

    /// The filter of these rules and helpers; none if one of them may match anything.
    fn of(rules: Vec<&'static Words>, helpers: Vec<String>) -> Option<Self> {
        if rules.iter().any(|words| words.is_empty()) {
            return None;
        }
        let programs = Programs::new(rules.iter().flat_map(|words| words.programs));
        Some(Self {
            named: Some(Named::new(rules, helpers)),
            programs,
            markers: Vec::new(),
        })
    }

    /// Whether some rule could match.
    pub fn wants(&self, language: Language, bytes: &[u8]) -> bool {
        // The mark of the encoding is no part of the first word.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let Some(terms) = self.named.as_ref().and_then(|named| named.terms(language)) else {
            return true;
        };
        if self.markers.iter().any(|pieces| pieces.is_match(bytes)) || wide(bytes).is_some() {
            return true;
        }
        match language {
            Language::Python => self.wants_python(terms, bytes),
            Language::Rust => self.wants_rust(terms, bytes),
        }
    }

    fn wants_python(&self, terms: &Terms, bytes: &[u8]) -> bool {
        // What cannot be decoded is said, whatever it holds.
        let Some(bytes) = plain(bytes) else {
            return true;
        };
        let said = terms.read(&bytes, Bytes::Raw, |said| said.wanted);
        if said.wanted || said.is_nothing() || hides_nothing(terms, said, &bytes) {
            return said.wanted;
        }
        let text = decode(Language::Python, &bytes).text;
        let Some(mut read) = texts::python(&text) else {
            // Brackets or quotes do not fit: what is code and what is text is anybody's guess.
            return true;
        };
        let whole = terms.read(read.whole().as_bytes(), Bytes::Code, |said| said.matches);
        let named = terms.read(read.named().as_bytes(), Bytes::Code, |_| false);
        if named.names {
            read.members_are_values();
        }
        let wide = || named.wide.is_some_and(|positions| read.is_wide(positions));
        let runs = || {
            let shell = whole.shell || named.shell || read.is_wide(SHELL_AT);
            let programs = self.programs.of(&read.texts);
            named.names && programs.are_named_in(&read.code)
                || programs.are_run(shell, read.splits("split"))
        };
        whole.matches || named.matches || wide() || named.spawns && runs()
    }

    fn wants_rust(&self, terms: &Terms, bytes: &[u8]) -> bool {
        let said = terms.read(bytes, Bytes::Raw, |said| said.wanted);
        if said.wanted {
            return true;
        }
        if said.is_nothing() || hides_nothing(terms, said, bytes) {
            return false;
        }
        let text = decode(Language::Rust, bytes).text;
        let read = texts::rust(&text);
        let said = terms.read(read.whole().as_bytes(), Bytes::Code, |said| said.matches);
        // The tokens of a macro may be a shell's text.
        said.matches
            || said.names
            || said.spawns
                && self
                    .programs
                    .of(&read.texts)
                    .are_run(said.shell, read.splits("shlex"))
    }
}

/// Whether a file that is only looked at because escapes may hide a word hides none.
fn hides_nothing(terms: &Terms, said: Said, bytes: &[u8]) -> bool {
    said.only_hides()
        && escapes::with_resolved(bytes).is_some_and(|bytes| {
            let said = terms.read(&bytes, Bytes::Raw, |said| !said.only_hides());
            said.only_hides()
        })
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

/// The bytes as Python reads their names: identifiers are normalised (`ｓｅｔｓｉｄ` is `setsid`), and a
/// declared encoding may hide ASCII.
///
/// None if some of them stand for nothing.
fn plain(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let other = declares_other_encoding(bytes);
    if bytes.is_ascii() && !other {
        return Some(Cow::Borrowed(bytes));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !other => Cow::Borrowed(text),
        _ => {
            let decoded = decode(Language::Python, bytes);
            if decoded.fault.is_some() {
                return None;
            }
            Cow::Owned(decoded.text)
        }
    };
    if beyond_ascii(&text).any(|char| may_fold(char) && folds(char)) {
        return Some(Cow::Owned(text.nfkc().collect::<String>().into_bytes()));
    }
    Some(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

/// The characters of a text that are not ASCII.
fn beyond_ascii(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        // Most of it is: by chunks this takes no time.
        let chunks = bytes.chunks(32).take_while(|chunk| chunk.is_ascii());
        let ascii = chunks.map(<[u8]>::len).sum::<usize>();
        let tail = bytes.get(ascii..).unwrap_or_default();
        let start = ascii + tail.iter().position(|byte| !byte.is_ascii())?;
        let char = rest.get(start..)?.chars().next()?;
        rest = rest.get(start + char.len_utf8()..)?;
        Some(char)
    })
}

/// Whether normalisation makes ASCII of a character.
fn folds(char: char) -> bool {
    let ascii = |char: char| char.is_ascii_alphanumeric() || char == '_';
    !char.is_ascii() && std::iter::once(char).nfkc().any(ascii)
}

/// The same, wider and at once: normalising takes its time, and text in other scripts is common.
fn may_fold(char: char) -> bool {
    let block = u32::from(char) >> 8;
    match char {
        '\0'..='\u{7f}' | 'À'..='ÿ' | '\u{2010}'..='\u{2022}' => false,
        _ => FOLDING.contains(&block),
    }
}

/// Which blocks of 256 characters hold one that folds.
const FOLDING: &[u32] = &[
    0x00, 0x01, 0x02, 0x1d, 0x1e, 0x20, 0x21, 0x24, 0x2c, 0x32, 0x33, 0xa7, 0xfb, 0xfe, 0xff,
    0x107, 0x1cc, 0x1d4, 0x1d5, 0x1d6, 0x1d7, 0x1f1, 0x1fb,
];

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
mod tests;
