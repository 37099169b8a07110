//! The page of a rule, where its finding is pointed at.

use serde_json::{Value, json};

use super::document::Document;
use super::lines::Lines;
use super::protocol::Position;
use crate::explain;
use crate::report::Finding;
use crate::report::summary::Entry;
use crate::source::Span;

/// What is said of the finding at `position`; accounted for or not.
pub(super) fn hover(document: &Document, position: Position, markdown: bool) -> Option<Value> {
    let (file, _) = document.file()?;
    let lines = Lines::new(&document.text);
    let at = lines.offset(position);
    let (finding, place) = file.findings.iter().find_map(|finding| {
        let at = spans(finding).find(|span| span.start <= at && at <= span.end)?;
        Some((finding, at))
    })?;
    let mut text = Entry::Finding(file, finding).told("\n\n");
    let mechanisms = finding.rules.iter().map(|rule| rule.id);
    let fault = finding.rules.is_empty().then(|| finding.id.name());
    for page in mechanisms.chain(fault).filter_map(explain::page) {
        let (head, rest) = page.split_once('\n').unwrap_or((&page, ""));
        let head = if markdown {
            format!("# {head}\n")
        } else {
            head.to_owned()
        };
        text = format!("{text}\n\n{head}\n{rest}");
    }
    let kind = if markdown { "markdown" } else { "plaintext" };
    Some(json!({
        "contents": { "kind": kind, "value": text },
        "range": lines.range(place),
    }))
}

/// Where a finding can be pointed at: at what says so, and at the comment that speaks of it.
fn spans(finding: &Finding) -> impl Iterator<Item = Span> {
    let comment = finding.justification.as_ref().map(|given| given.span);
    finding.evidence.iter().copied().chain(comment)
}
