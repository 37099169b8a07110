//! Changes that an editor offers: a marker put in, a stale one taken out, all of them taken out.

use serde_json::{Value, json};

use super::diagnostics;
use super::document::Document;
use super::lines::Lines;
use super::protocol::{Asked, Kinds, Range};
use crate::edit::{self, Edit};
use crate::justify::Terms;
use crate::report::summary::{Entry, is_covered};
use crate::report::{Date, FileReport, Finding};
use crate::run;
use crate::source::Span;

/// Of a change for one finding.
const QUICK: &str = "quickfix";
/// Of what `--fix` does: an editor may do it whenever a file is saved.
const ALL: &str = concat!("source.fixAll.", env!("CARGO_PKG_NAME"));
/// The kinds of all of them.
pub(super) const KINDS: [&str; 2] = [QUICK, ALL];

/// What is offered for the findings on the lines that are asked about, and for the whole file.
///
/// # Errors
///
/// Says that it is a fault of ours.
pub(super) fn actions(
    document: &Document,
    asked: &Asked,
    today: Date,
    related: bool,
) -> Result<Vec<Value>, String> {
    let Some((file, rules)) = document.file() else {
        return Ok(Vec::new());
    };
    let judge = |text: String| run::check_shown(file.source.with(text), &file.file, rules, today);
    let lines = Lines::new(&document.text);
    let uri = related.then_some(document.uri.as_str());
    let mut offers = Vec::new();
    if is_wanted(QUICK, &asked.context) {
        let findings = file.findings.iter().enumerate();
        let met = findings.filter(|(_, own)| !is_covered(own) && is_met(own, asked.range, &lines));
        let one = |(index, finding)| {
            let (title, edit) = offer(file, index, &rules.config.policy.terms, judge)?;
            let mut action = action(QUICK, &title, document, &lines.range(edit.span), &edit.with);
            let told = diagnostics::one(&Entry::Finding(file, finding), &lines, uri);
            action["diagnostics"] = json!([told]);
            Some(action)
        };
        offers = run::on_large_stack(|| met.filter_map(one).collect())?;
    }
    if is_wanted(ALL, &asked.context) {
        let edited = run::on_large_stack(|| edit::remove(file, judge))?;
        if edited.changes > 0 {
            let (span, with) = difference(&document.text, &edited.text);
            let title = "Take all justifications of nothing out";
            offers.push(action(ALL, title, document, &lines.range(span), with));
        }
    }
    Ok(offers)
}

/// Whether an editor asks for a kind, by its own name or by one that it is a part of.
fn is_wanted(kind: &str, asked: &Kinds) -> bool {
    let holds = |outer: &String| {
        let rest = kind.strip_prefix(outer.as_str());
        outer.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    asked
        .only
        .as_ref()
        .is_none_or(|kinds| kinds.iter().any(holds))
}

fn action(kind: &str, title: &str, document: &Document, range: &Value, with: &str) -> Value {
    let change = json!({ "range": range, "newText": with });
    json!({
        "title": title,
        "kind": kind,
        "edit": { "changes": { document.uri.as_str(): [change] } },
    })
}

/// The one place in which two texts differ, and what stands there in the second one.
fn difference<'a>(old: &str, new: &'a str) -> (Span, &'a str) {
    let same = |(a, b): &(char, char)| a == b;
    let length = |chars: &mut dyn Iterator<Item = (char, char)>| -> usize {
        chars.map(|(char, _)| char.len_utf8()).sum()
    };
    let start = length(&mut old.chars().zip(new.chars()).take_while(same));
    let (old, new) = (
        old.get(start..).unwrap_or_default(),
        new.get(start..).unwrap_or_default(),
    );
    let ends = old.chars().rev().zip(new.chars().rev());
    let end = length(&mut ends.take_while(same));
    let with = new.get(..new.len() - end).unwrap_or_default();
    (Span::new(start, start + old.len() - end), with)
}

/// Whether a finding's place is on the lines of `range`: nobody aims at a column.
fn is_met(finding: &Finding, range: Range, lines: &Lines<'_>) -> bool {
    let place = finding.place();
    let [first, last] = [range.start.line, range.end.line].map(|line| line as usize);
    lines.line(place.start) <= last && first <= lines.line(place.end)
}

fn offer(
    file: &FileReport,
    index: usize,
    terms: &Terms,
    judge: impl Fn(String) -> FileReport,
) -> Option<(String, Edit)> {
    if let Some(edit) = edit::remove_one(file, index, &judge) {
        return Some(("Take this justification out".to_owned(), edit));
    }
    let edit = edit::add_to(file, index, terms, judge)?;
    let title = format!("Put `{}:` here, for a reason that you give", terms.marker);
    Some((title, edit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_one_place() {
        for (old, new, start, end, with) in [
            ("", "", 0, 0, ""),
            ("abc", "abc", 3, 3, ""),
            ("aéxéb", "aéb", 3, 6, ""),
            ("aaa", "aa", 2, 3, ""),
            ("a🦀b", "a🦁b", 1, 5, "🦁"),
            ("x", "axa", 0, 1, "axa"),
        ] {
            assert_eq!(difference(old, new), (Span::new(start, end), with), "{old}");
        }
    }

    #[test]
    fn kinds_hold_their_parts() {
        let wanted = |only: Option<&[&str]>| {
            let only = only.map(|kinds| kinds.iter().map(|kind| (*kind).to_owned()).collect());
            KINDS.map(|kind| is_wanted(kind, &Kinds { only: only.clone() }))
        };
        assert_eq!(wanted(None), [true, true]);
        assert_eq!(wanted(Some(&[])), [false, false]);
        assert_eq!(wanted(Some(&["source.fixAll"])), [false, true]);
        assert_eq!(wanted(Some(&["source.fix", "refactor"])), [false, false]);
        assert_eq!(
            wanted(Some(&["source.fixAll.ruff", "quickfix"])),
            [true, false]
        );
    }
}
