//! The filter is sound: no file is left out in which something is found.
//!
//! Whole fixtures hold too much for that to be tested: one finding lets the others in. So each is cut
//! to its imports and one paragraph, and that is written in other ways: with escapes, cut lines, other
//! forms of letters, raw names, other encodings, cut off at any place. Wherever something is found
//! without the filter, the filter must want the bytes.

use std::collections::BTreeMap;

use check_detached_spawns::decode::decode;
use check_detached_spawns::filter::Filter;
use check_detached_spawns::source::Language;

use crate::run::{self, Fixture};

/// How many places of a text are changed by each way to change it.
const PLACES: usize = 2;

/// How many texts with a finding there must be at least, so that the test cannot quietly do nothing.
const FLOOR: usize = 4000;

/// A change at one place of a text; nothing where it does not apply. The place is a random number.
type Change = (&'static str, fn(Language, &str, usize) -> Option<Vec<u8>>);

const CHANGES: &[Change] = &[
    ("as it is", |_, text, _| Some(text.as_bytes().to_vec())),
    ("a letter as an escape", escaped),
    ("a line cut inside a literal", cut),
    ("a letter of a name in another form", folded),
    ("a name with its mark", raw),
    ("a line that goes on", continued),
    ("another encoding", |language, text, number| {
        Some(encoded(language, text, number))
    }),
    ("lines end as on Windows", |_, text, _| {
        Some(text.replace('\n', "\r\n").into_bytes())
    }),
    ("cut off", |_, text, place| {
        let mut ends = text.char_indices().map(|(at, _)| at);
        let at = ends.nth(place % text.chars().count().max(1))?;
        text.get(..at).map(|text| text.as_bytes().to_vec())
    }),
];

#[test]
fn no_file_is_left_out_in_which_something_is_found() {
    let filter = Filter::new(std::iter::empty());
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 16).unwrap_or(0)
    };
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for fixture in run::fixtures()
        .iter()
        .filter(|fixture| fixture.fault.is_none())
    {
        for text in parts(fixture) {
            for (name, change) in CHANGES {
                for _ in 0..PLACES {
                    let Some(bytes) = change(fixture.language, &text, next()) else {
                        continue;
                    };
                    let found = finds(fixture, &bytes);
                    *tried.entry(name).or_default() += usize::from(found);
                    if found && !filter.wants(fixture.language, &bytes) {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        faults.push(format!("{}: {name}:\n{text}", fixture.path));
                    }
                    if *name == "as it is" {
                        break;
                    }
                }
            }
        }
    }
    println!("texts with a finding: {tried:?}");
    assert!(
        faults.is_empty(),
        "{} texts are left out\n{}",
        faults.len(),
        faults.join("\n---\n")
    );
    assert!(
        tried.values().sum::<usize>() >= FLOOR && tried.len() == CHANGES.len(),
        "too little was tried: {tried:?}"
    );
}

/// The imports of a fixture with each of its paragraphs.
fn parts(fixture: &Fixture) -> Vec<String> {
    let imports = |line: &&str| {
        ["import ", "from ", "use ", "extern crate "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let head: Vec<&str> = fixture.text.lines().filter(imports).collect();
    let head = head.join("\n");
    let paragraphs = fixture
        .text
        .split("\n\n")
        .filter(|text| !text.trim().is_empty());
    paragraphs
        .map(|text| format!("{head}\n\n{text}\n"))
        .collect()
}

fn finds(fixture: &Fixture, bytes: &[u8]) -> bool {
    let varied = Fixture {
        text: decode(fixture.language, bytes).text,
        ..fixture.clone()
    };
    run::judge(&varied).is_ok_and(|report| !report.findings.is_empty())
}

/// The byte at one of the places for which `holds`, by number.
fn place(text: &str, number: usize, holds: impl Fn(usize, char) -> bool) -> Option<usize> {
    let places: Vec<usize> = text
        .char_indices()
        .filter(|(at, ch)| holds(*at, *ch))
        .map(|(at, _)| at)
        .collect();
    places.get(number % places.len().max(1)).copied()
}

/// Whether a place is inside of a literal that ends on its line.
fn in_literal(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |start| start + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    text[start..at].matches('"').count() % 2 == 1 && text[at..end].contains('"')
}

fn replaced(text: &str, at: usize, length: usize, new: &str) -> Vec<u8> {
    [&text[..at], new, &text[at + length..]]
        .concat()
        .into_bytes()
}

fn escaped(_: Language, text: &str, number: usize) -> Option<Vec<u8>> {
    let at = place(text, number, |at, ch| {
        ch.is_ascii_alphabetic() && in_literal(text, at)
    })?;
    let letter = text.as_bytes().get(at)?;
    Some(replaced(text, at, 1, &format!("\\x{letter:02x}")))
}

fn cut(_: Language, text: &str, number: usize) -> Option<Vec<u8>> {
    let at = place(text, number, |at, ch| {
        ch.is_ascii_alphabetic() && in_literal(text, at)
    })?;
    Some(replaced(text, at, 0, "\\\n"))
}

fn folded(language: Language, text: &str, number: usize) -> Option<Vec<u8>> {
    let at = place(text, number, |at, ch| ch == 's' && !in_literal(text, at))?;
    (language == Language::Python).then(|| replaced(text, at, 1, "ſ"))
}

fn raw(language: Language, text: &str, number: usize) -> Option<Vec<u8>> {
    let starts = |at: usize, ch: char| {
        let before = text[..at].chars().next_back();
        ch.is_ascii_alphabetic()
            && !in_literal(text, at)
            && !before.is_some_and(|ch| ch.is_alphanumeric() || ch == '_' || ch == '#')
    };
    let at = place(text, number, starts)?;
    (language == Language::Rust).then(|| replaced(text, at, 0, "r#"))
}

fn continued(language: Language, text: &str, number: usize) -> Option<Vec<u8>> {
    let at = place(text, number, |at, ch| ch == '.' && !in_literal(text, at))?;
    (language == Language::Python).then(|| replaced(text, at, 1, " . \\\n"))
}

fn encoded(language: Language, text: &str, number: usize) -> Vec<u8> {
    if language == Language::Rust {
        return [b"\xef\xbb\xbf", text.as_bytes()].concat();
    }
    match number % 3 {
        0 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        1 => [b"# coding: latin-1\nx = '\xe9'\n", text.as_bytes()].concat(),
        _ => [b"# coding: koi8-r\nx = '\xe9'\n", text.as_bytes()].concat(),
    }
}
