//! What the rules for commands share: options of a command, words in program text, hits.

use std::collections::BTreeSet;

use super::{ALL, Certainty, Hit, Level, Way};
use crate::facts::{Command, Facts, HOLE, Word};
use crate::source::Span;

/// Evidence in a command, before the command's act is added.
pub(super) type Sign = (Span, Certainty, Way);

/// A hit for each sign that `find` sees in a command; the same place counts once.
pub(super) fn hits(facts: &Facts, find: fn(&Command) -> Vec<Sign>) -> Vec<Hit> {
    let mut out: Vec<Hit> = Vec::new();
    let mut known = BTreeSet::new();
    for command in &facts.commands {
        for (evidence, certainty, way) in find(command) {
            let started = if command.started {
                certainty
            } else {
                Certainty::May
            };
            if known.insert((command.act, evidence, way, started)) {
                let program = (evidence != command.head()).then(|| command.program.clone());
                out.push(Hit {
                    program,
                    ..Hit::new(command.act, evidence, way).with(started)
                });
            }
        }
    }
    out
}

/// A sure sign, if there is evidence.
pub(super) fn sure(evidence: Option<Span>, way: Way) -> Vec<Sign> {
    evidence
        .map(|span| (span, Certainty::Sure, way))
        .into_iter()
        .collect()
}

impl Command {
    /// The words behind the program.
    pub(super) fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The program's own word.
    pub(super) fn head(&self) -> Span {
        self.words.first().map_or(self.act, |word| word.span)
    }

    /// Its options before the first operand, and that operand's index among the arguments.
    /// `valued` are the letters of options that take the next word.
    pub(super) fn options(&self, valued: &str) -> (Vec<&Word>, usize) {
        options(self.args(), valued)
    }

    /// The first word after which the command only tells about itself.
    pub(super) fn only_asks(&self) -> bool {
        let asks = |word: &Word| {
            matches!(
                word.text.as_str(),
                "--help" | "--version" | "-h" | "-V" | "--usage"
            )
        };
        self.args().first().is_some_and(asks)
    }

    /// The argument that is one of `names`, or one of them with `=value`.
    pub(super) fn any(&self, names: &[&str]) -> Option<&Word> {
        self.args().iter().find(|word| is_option(word, "", names))
    }
}

/// The options that stand before the first operand, and its index. `--` ends them.
pub(super) fn options<'w>(args: &'w [Word], valued: &str) -> (Vec<&'w Word>, usize) {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(word) = args.get(at) {
        if word.text == "--" {
            at += 1;
            break;
        }
        let Some(letters) = word.text.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            break;
        };
        found.push(word);
        let first = letters.find(|letter| valued.contains(letter));
        let takes =
            !letters.starts_with('-') && first.is_some_and(|index| index + 1 == letters.len());
        at += 1 + usize::from(takes);
    }
    (found, at)
}

/// Whether the word is one of the long options, also with `=value`, or a cluster with one of the
/// letters.
pub(super) fn is_option(word: &Word, letters: &str, long: &[&str]) -> bool {
    let name = word
        .text
        .split_once('=')
        .map_or(word.text.as_str(), |(name, _)| name);
    let cluster = word
        .text
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'));
    long.contains(&name)
        || cluster.is_some_and(|own| own.contains(|letter| letters.contains(letter)))
}

/// The same, where letters in `valued` take the rest of their cluster as a value.
pub(super) fn flag(word: &Word, valued: &str, letters: &str, long: &[&str]) -> bool {
    let cluster = word
        .text
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))
        .unwrap_or_default();
    let mut own = cluster
        .chars()
        .take_while(|letter| !valued.contains(*letter));
    is_option(word, "", long) || own.any(|letter| letters.contains(letter))
}

/// Whether the word is nothing but a value known at run time, or several.
pub(super) fn is_hole(word: &Word) -> bool {
    word.text.chars().all(|ch| ch == HOLE) && !word.text.is_empty()
}

/// Whether the word may be any number of words: a spread list.
pub(super) fn is_spread(word: &Word) -> bool {
    is_hole(word) && word.text.chars().nth(1).is_some()
}

/// Where the whole word `name` stands in the program text.
pub(super) fn named(code: &Word, name: &str) -> Option<Span> {
    let part = |ch: char| ch.is_alphanumeric() || ch == '_';
    let mut places = code.text.match_indices(name);
    let (at, _) = places.find(|(at, found)| {
        let before = code.text.get(..*at).unwrap_or_default().chars().next_back();
        let after = code
            .text
            .get(at + found.len()..)
            .unwrap_or_default()
            .chars()
            .next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })?;
    Some(within(code, at, name.len()))
}

/// Where perl's function `name` is called: its brackets may be left out, so that what stands around it
/// must tell it from a pattern or a string.
pub(super) fn called_in_perl(code: &Word, name: &str) -> Option<Span> {
    let (before, after) = code.text.split_once(name)?;
    let quoted = before.ends_with(['/', '$', '%', '@', '\'', '"', '|']);
    let after = after.trim_start();
    let ends = after.is_empty() || after.starts_with(['(', ';', '}', ')', ',', '|', '&']);
    let worded = ["or ", "and ", "if ", "unless "]
        .iter()
        .any(|word| after.starts_with(word));
    (!quoted && (ends || worded))
        .then(|| named(code, name))
        .flatten()
}

/// A part of the word, if the word is written as it reads, else all of it.
fn within(code: &Word, at: usize, len: usize) -> Span {
    if code.span.len() != code.text.len() {
        return code.span;
    }
    let start = code.span.start as usize + at;
    Span::new(start, start + len)
}

/// Where `key: value` stands, blanks allowed around the colon, for a value in `values`.
pub(super) fn entry(code: &Word, key: &str, values: &[&str]) -> Option<Span> {
    let span = named(code, key)?;
    let (_, rest) = code.text.split_once(key)?;
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    let rest = rest
        .strip_prefix(':')
        .or_else(|| rest.strip_prefix("=>"))?
        .trim_start();
    values
        .iter()
        .any(|value| rest.starts_with(value))
        .then_some(span)
}

/// What a Python program that the command carries does, in the ways that `wanted` accepts.
pub(super) fn python(command: &Command, wanted: fn(Way) -> bool) -> Vec<Sign> {
    let (Some(facts), Some(code)) = (&command.python, &command.code) else {
        return Vec::new();
    };
    let rules = ALL.iter().filter(|rule| rule.level == Level::Deny);
    let found = rules
        .flat_map(|rule| (rule.check)(facts))
        .filter(|hit| wanted(hit.way));
    let place = |hit: &Hit| {
        if code.span.contains(hit.evidence) {
            hit.evidence
        } else {
            code.span
        }
    };
    found
        .map(|hit| (place(&hit), hit.certainty, hit.way))
        .collect()
}

#[cfg(test)]
pub(super) mod testing {
    //! Runs a check over shell text.

    use super::*;
    use crate::facts::shell::{Place, read};
    use crate::facts::{ScopeId, Text};
    use crate::source::Language;

    pub(in crate::rules) fn hits_in(
        check: fn(&Facts) -> Vec<Hit>,
        text: &str,
        shell: &str,
    ) -> Vec<Hit> {
        let mut facts = Facts::new(Language::Python);
        let parts = vec![(0, Span::new(0, text.len()))];
        let place = Place {
            act: Span::new(0, text.len()),
            scope: ScopeId(0),
        };
        facts.commands = read(
            &Text {
                text: text.to_owned(),
                parts,
            },
            shell,
            place,
        );
        check(&facts)
    }

    pub(in crate::rules) fn count(check: fn(&Facts) -> Vec<Hit>, text: &str) -> usize {
        hits_in(check, text, "sh").len()
    }

    pub(in crate::rules) fn ways(check: fn(&Facts) -> Vec<Hit>, text: &str) -> Vec<Way> {
        hits_in(check, text, "sh")
            .iter()
            .map(|hit| hit.way)
            .collect()
    }

    /// Whether all hits are sure; none if there is no hit.
    pub(in crate::rules) fn certain(
        check: fn(&Facts) -> Vec<Hit>,
        text: &str,
        shell: &str,
    ) -> Option<bool> {
        let hits = hits_in(check, text, shell);
        (!hits.is_empty()).then(|| hits.iter().all(|hit| hit.certainty == Certainty::Sure))
    }
}
