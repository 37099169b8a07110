//! The grammar of a marker: `detached-spawn[new-session, pty-spawn](until=2027-06-30): the reason`.
//!
//! The order is fixed, case counts, and nothing stands between the word, its brackets and the colon.
//! What looks like a marker and breaks a rule is malformed; prose that mentions the word is not.

use super::date;
use crate::report::Date;
use crate::rules::ALL;

/// The word that opens a justification.
pub const MARKER: &str = "detached-spawn";

/// Edits by which a word may differ and still be meant as [`MARKER`].
const NEAR: usize = 2;

/// What a comment's text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Something else.
    Other,
    /// A marker, its reason not yet judged.
    Marker(Words),
    /// Meant as a marker, wherever it stands.
    Malformed(Malformed),
    /// Meant as a marker only if a detaching spawn is in its reach; else prose.
    Attempt(Malformed),
}

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The mechanisms in its brackets, in order.
    pub(super) mechanisms: Vec<String>,
    /// The last day on which it holds.
    pub(super) until: Option<Date>,
    /// The rest, trimmed.
    pub(super) reason: String,
}

/// What is wrong with a marker, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    /// One sentence, no full stop.
    pub(super) message: String,
    /// What to write.
    pub(super) help: String,
}

impl Malformed {
    fn new(message: impl Into<String>) -> Self {
        let help = format!(
            "write `{MARKER}: the reason`, or `{MARKER}[mechanism](until=YYYY-MM-DD): the reason`"
        );
        Self {
            message: message.into(),
            help,
        }
    }

    fn with(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Reads the text of a comment, its sign taken off and its lines joined by one space.
pub(super) fn read(text: &str) -> Reading {
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix(MARKER) else {
        return near(text);
    };
    match rest.chars().next() {
        Some(':' | '[' | '(') => parse(rest).map_or_else(Reading::Malformed, Reading::Marker),
        Some(char) if char.is_whitespace() => loose(rest.trim_start()),
        None => Reading::Malformed(Malformed::new(
            "the justification has no colon and no reason",
        )),
        Some('=' | ';' | '–' | '—' | '：') => Reading::Malformed(no_colon()),
        Some(_) => near(text),
    }
}

/// After the word and white space.
fn loose(rest: &str) -> Reading {
    match rest.chars().next() {
        None => Reading::Malformed(Malformed::new(
            "the justification has no colon and no reason",
        )),
        Some(':') => Reading::Malformed(space_before("colon")),
        Some('[' | '(') if closed(rest) => Reading::Malformed(space_before("bracket")),
        Some('=' | '-' | '–' | '—' | '：') => Reading::Malformed(no_colon()),
        Some(_) => Reading::Attempt(no_colon()),
    }
}

fn space_before(what: &str) -> Malformed {
    Malformed::new(format!(
        "a space stands before the {what} of the justification"
    ))
}

fn no_colon() -> Malformed {
    Malformed::new("the justification has no colon before its reason")
}

/// Whether brackets are closed and followed by a colon or more brackets, as a marker's are.
fn closed(rest: &str) -> bool {
    let after = rest.find([']', ')']).and_then(|at| rest.get(at + 1..));
    after.is_some_and(|after| after.trim_start().starts_with([':', '[', '(']))
}

/// After the word: brackets, date, colon, reason.
fn parse(rest: &str) -> Result<Words, Malformed> {
    let (mechanisms, rest) = match rest.strip_prefix('[') {
        Some(inner) => mechanisms(inner)?,
        None => (Vec::new(), rest),
    };
    let (until, rest) = match rest.strip_prefix('(') {
        Some(inner) => until(inner)?,
        None => (None, rest),
    };
    let Some(reason) = rest.strip_prefix(':') else {
        return Err(missing_colon(rest));
    };
    Ok(Words {
        mechanisms,
        until,
        reason: reason.trim().to_owned(),
    })
}

fn missing_colon(rest: &str) -> Malformed {
    match rest.trim_start().chars().next() {
        Some(':') => space_before("colon"),
        Some('[') => Malformed::new(
            "the mechanisms of the justification come before its date, in one pair of brackets",
        ),
        _ => no_colon(),
    }
}

fn mechanisms(inner: &str) -> Result<(Vec<String>, &str), Malformed> {
    let Some((list, rest)) = inner.split_once(']') else {
        return Err(Malformed::new(
            "the brackets of the justification are not closed",
        ));
    };
    let ids: Vec<&str> = list.split(',').map(str::trim).collect();
    if ids.iter().all(|id| id.is_empty()) {
        return Err(Malformed::with(
            "the brackets of the justification are empty",
            "name the mechanisms of the spawn, or leave the brackets out",
        ));
    }
    let unknown = ids
        .iter()
        .find(|id| !ALL.iter().any(|rule| rule.id == **id));
    match unknown {
        Some(id) => Err(unknown_mechanism(id)),
        None => Ok((ids.into_iter().map(str::to_owned).collect(), rest)),
    }
}

fn unknown_mechanism(id: &str) -> Malformed {
    let written = fold(id);
    let nearest = ALL
        .iter()
        .map(|rule| (distance(&written, rule.id), rule.id))
        .min();
    let nearest = nearest.map_or("", |(_, id)| id);
    let short: String = id.chars().take(40).collect();
    Malformed::with(
        format!("there is no mechanism `{short}`"),
        format!("the nearest one is `{nearest}`; `--list-rules` shows all of them"),
    )
}

fn until(inner: &str) -> Result<(Option<Date>, &str), Malformed> {
    let Some((inside, rest)) = inner.split_once(')') else {
        return Err(Malformed::new(
            "the parentheses of the justification are not closed",
        ));
    };
    let help = format!(
        "write the last day on which it holds, as in `{MARKER}(until=2027-06-30): the reason`"
    );
    let Some(day) = inside.strip_prefix("until=") else {
        return Err(Malformed::with(
            "only `until=YYYY-MM-DD` may stand in the parentheses of a justification",
            help,
        ));
    };
    match date::parse(day) {
        Ok(date) => Ok((Some(date), rest)),
        Err(message) => Err(Malformed::with(message, help)),
    }
}

/// A comment that opens with something like the word.
fn near(text: &str) -> Reading {
    let end = text.find([':', '[', '(', '：']).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let head = head.trim_end();
    if rest.is_empty()
        || head.len() > 2 * MARKER.len()
        || !(rest.starts_with([':', '：']) || closed(rest))
    {
        return inside(text);
    }
    let key = fold(head);
    let hyphenated = key == head.to_lowercase().replace('_', "-");
    if key == MARKER
        || (hyphenated
            && key.starts_with('d')
            && head.contains(['-', '_'])
            && distance(&key, MARKER) <= NEAR)
    {
        return Reading::Malformed(Malformed::new(format!(
            "a justification is opened by `{MARKER}`, not by `{head}`"
        )));
    }
    inside(text)
}

/// A marker behind another comment: `type: ignore  # detached-spawn: …`.
fn inside(text: &str) -> Reading {
    let stacked = text.match_indices(MARKER).any(|(at, word)| {
        let (before, after) = (
            text.get(..at).unwrap_or_default().trim_end(),
            text.get(at + word.len()..),
        );
        (before.ends_with('#') || before.ends_with("//"))
            && after.is_some_and(|after| after.starts_with([':', '[', '(']))
    });
    if !stacked {
        return Reading::Other;
    }
    Reading::Attempt(Malformed::with(
        "a justification must be the first thing in its comment",
        "put it before the other comment, or on a line of its own above",
    ))
}

/// Lower case, with a hyphen for every character that is meant as one.
fn fold(text: &str) -> String {
    let hyphen = |char: char| {
        char.is_whitespace() || matches!(char, '_' | '\u{2010}'..='\u{2015}' | '\u{2212}')
    };
    text.to_lowercase()
        .chars()
        .map(|char| if hyphen(char) { '-' } else { char })
        .collect()
}

/// Edits between two words, by insertion, removal and replacement; only the first 40 characters count.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(40).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (number, from) in left.chars().take(40).enumerate() {
        let mut next = vec![number + 1];
        for (to, pair) in right.iter().zip(row.windows(2)) {
            let [diagonal, above] = *pair else { continue };
            let before = next.last().copied().unwrap_or_default();
            next.push(
                (diagonal + usize::from(from != *to))
                    .min(above + 1)
                    .min(before + 1),
            );
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
