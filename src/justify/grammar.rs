//! The grammar of a marker: `detached-spawn[new-session, pty-spawn](until=2027-06-30): the reason`.
//!
//! The order is fixed, case counts, and nothing stands between the word, its brackets and the colon.
//! The word is an input (`marker`): a configuration may choose another one than [`MARKER`].
//! What looks like a marker and breaks a rule is malformed; prose that mentions the word is not.

use super::date;
use crate::report::Date;
use crate::rules::ALL;

/// The word that opens a justification, unless the configuration says another one.
pub const MARKER: &str = "detached-spawn";

/// Edits by which a word may differ and still be meant as the marker.
pub const NEAR: usize = 2;

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
    fn new(marker: &str, message: impl Into<String>) -> Self {
        let help = format!(
            "write `{marker}: the reason`, or `{marker}[mechanism](until=YYYY-MM-DD): the reason`"
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
pub(super) fn read(marker: &str, text: &str) -> Reading {
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix(marker) else {
        return near(marker, text);
    };
    match rest.chars().next() {
        Some(':' | '[' | '(') => {
            parse(marker, rest).map_or_else(Reading::Malformed, Reading::Marker)
        }
        Some(char) if char.is_whitespace() => loose(marker, rest.trim_start()),
        None => Reading::Malformed(Malformed::new(
            marker,
            "the justification has no colon and no reason",
        )),
        Some('=' | ';' | '–' | '—' | '：') => Reading::Malformed(no_colon(marker)),
        Some(_) => near(marker, text),
    }
}

/// After the word and white space.
fn loose(marker: &str, rest: &str) -> Reading {
    match rest.chars().next() {
        None => Reading::Malformed(Malformed::new(
            marker,
            "the justification has no colon and no reason",
        )),
        Some(':') => Reading::Malformed(space_before(marker, "colon")),
        Some('[' | '(') if closed(rest) => Reading::Malformed(space_before(marker, "bracket")),
        Some('=' | '-' | '–' | '—' | '：') => Reading::Malformed(no_colon(marker)),
        Some(_) => Reading::Attempt(no_colon(marker)),
    }
}

fn space_before(marker: &str, what: &str) -> Malformed {
    Malformed::new(
        marker,
        format!("a space stands before the {what} of the justification"),
    )
}

fn no_colon(marker: &str) -> Malformed {
    Malformed::new(marker, "the justification has no colon before its reason")
}

/// Whether brackets are closed and followed by a colon or more brackets, as a marker's are.
fn closed(rest: &str) -> bool {
    let after = rest.find([']', ')']).and_then(|at| rest.get(at + 1..));
    after.is_some_and(|after| after.trim_start().starts_with([':', '[', '(']))
}

/// After the word: brackets, date, colon, reason.
fn parse(marker: &str, rest: &str) -> Result<Words, Malformed> {
    let (mechanisms, rest) = match rest.strip_prefix('[') {
        Some(inner) => mechanisms(marker, inner)?,
        None => (Vec::new(), rest),
    };
    let (until, rest) = match rest.strip_prefix('(') {
        Some(inner) => until(marker, inner)?,
        None => (None, rest),
    };
    let Some(reason) = rest.strip_prefix(':') else {
        return Err(missing_colon(marker, rest));
    };
    Ok(Words {
        mechanisms,
        until,
        reason: reason.trim().to_owned(),
    })
}

fn missing_colon(marker: &str, rest: &str) -> Malformed {
    match rest.trim_start().chars().next() {
        Some(':') => space_before(marker, "colon"),
        Some('[') => Malformed::new(
            marker,
            "the mechanisms of the justification come before its date, in one pair of brackets",
        ),
        _ => no_colon(marker),
    }
}

fn mechanisms<'a>(marker: &str, inner: &'a str) -> Result<(Vec<String>, &'a str), Malformed> {
    let Some((list, rest)) = inner.split_once(']') else {
        return Err(Malformed::new(
            marker,
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
    let nearest = nearest(id, ALL.iter().map(|rule| rule.id));
    let short: String = id.chars().take(40).collect();
    Malformed::with(
        format!("there is no mechanism `{short}`"),
        format!("the nearest one is `{nearest}`; `--list-rules` shows all of them"),
    )
}

/// The word among `known` that `written` was most likely meant to be.
pub(crate) fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    let written = fold(written);
    let near = known.map(|word| (distance(&written, word), word)).min();
    near.map_or("", |(_, word)| word)
}

fn until<'a>(marker: &str, inner: &'a str) -> Result<(Option<Date>, &'a str), Malformed> {
    let Some((inside, rest)) = inner.split_once(')') else {
        return Err(Malformed::new(
            marker,
            "the parentheses of the justification are not closed",
        ));
    };
    let help = format!(
        "write the last day on which it holds, as in `{marker}(until=2027-06-30): the reason`"
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
fn near(marker: &str, text: &str) -> Reading {
    let end = text.find([':', '[', '(', '：']).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let head = head.trim_end();
    if rest.is_empty()
        || head.len() > 2 * marker.len()
        || !(rest.starts_with([':', '：']) || closed(rest))
    {
        return inside(marker, text);
    }
    let key = fold(head);
    let hyphenated = key == head.to_lowercase().replace('_', "-");
    if key == marker
        || (hyphenated
            && key.starts_with(marker.get(..1).unwrap_or(marker))
            && head.contains(['-', '_'])
            && distance(&key, marker) <= NEAR)
    {
        return Reading::Malformed(Malformed::new(
            marker,
            format!("a justification is opened by `{marker}`, not by `{head}`"),
        ));
    }
    inside(marker, text)
}

/// A marker behind another comment: `type: ignore  # detached-spawn: …`.
fn inside(marker: &str, text: &str) -> Reading {
    let stacked = text.match_indices(marker).any(|(at, word)| {
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
