//! Changes that an editor offers: a marker put in, a stale one taken out.

use serde_json::{Value, json};

use super::diagnostics;
use super::document::Document;
use super::lines::Lines;
use super::protocol::{Asked, Range};
use crate::config::Rules;
use crate::edit::{self, Edit};
use crate::report::summary::{Entry, is_covered};
use crate::report::{Date, FileReport, Finding};
use crate::run;

/// The kind of all of them.
pub(super) const KIND: &str = "quickfix";

/// What is offered for the findings on the lines that are asked about.
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
    let only = asked.context.only.as_ref();
    let wanted = only.is_none_or(|kinds| kinds.iter().any(|kind| kind.is_empty() || kind == KIND));
    let Some((file, rules)) = document.file().filter(|_| wanted) else {
        return Ok(Vec::new());
    };
    let lines = Lines::new(&document.text);
    let uri = related.then_some(document.uri.as_str());
    let findings = file.findings.iter().enumerate();
    let met = findings.filter(|(_, own)| !is_covered(own) && is_met(own, asked.range, &lines));
    let offers = met.filter_map(|(index, finding)| {
        let (title, edit) = offer(file, index, rules, today)?;
        let change = json!({ "range": lines.range(edit.span), "newText": edit.with });
        Some(json!({
            "title": title,
            "kind": KIND,
            "diagnostics": [diagnostics::one(&Entry::Finding(file, finding), &lines, uri)],
            "edit": { "changes": { document.uri.as_str(): [change] } },
        }))
    });
    run::on_large_stack(|| offers.collect())
}

/// Whether a finding's place is on the lines of `range`: nobody aims at a column.
fn is_met(finding: &Finding, range: Range, lines: &Lines<'_>) -> bool {
    let place = finding.place();
    let [first, last] = [range.start.line, range.end.line].map(|line| line as usize);
    lines.line(place.start) <= last && first <= lines.line(place.end)
}

fn offer(file: &FileReport, index: usize, rules: &Rules, today: Date) -> Option<(String, Edit)> {
    let judge = |text: String| run::check_shown(file.source.with(text), rules, today);
    if let Some(edit) = edit::remove_one(file, index, judge) {
        return Some(("Take this justification out".to_owned(), edit));
    }
    let terms = &rules.config.policy.terms;
    let edit = edit::add_to(file, index, terms, judge)?;
    let title = format!("Put `{}:` here, for a reason that you give", terms.marker);
    Some((title, edit))
}
