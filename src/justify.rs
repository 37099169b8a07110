//! Comments to justifications, and which finding each speaks of.
//!
//! `comments` takes the text out of comments, `grammar` reads it, `place` finds the spawns in a
//! marker's reach, `verdict` chooses one marker for each finding and says what it is worth. A marker
//! changes a finding's verdict and never removes a finding.

mod comments;
mod date;
mod grammar;
mod lex;
mod place;
pub mod reason;
mod verdict;

#[cfg(test)]
mod tests;

pub use date::parse as parse_date;
pub use grammar::{MARKER, NEAR};

pub(crate) use grammar::nearest;

use crate::facts::tree::{Statement, Tree};
use crate::report::{Date, Finding, FindingId, Verdict};
use crate::rules::{Certainty, Level};
use crate::source::{Source, Span};
use comments::Note;
use grammar::{Malformed, Reading, Words};
use place::Page;
use regex::Regex;
use verdict::Claim;

/// A marker within so many lines of a spawn was meant for it, though it does not reach it.
const CLOSE: u32 = 4;

/// What a justification must be.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The word that opens it.
    pub marker: String,
    /// Fewest characters (code points) of its reason.
    pub min_reason_length: usize,
    /// What its reason must match somewhere: a ticket's number.
    pub reason_pattern: Option<Regex>,
    /// Whether it must name the mechanisms in brackets.
    pub require_mechanism: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            marker: MARKER.to_owned(),
            min_reason_length: reason::MINIMUM,
            reason_pattern: None,
            require_mechanism: false,
        }
    }
}

/// Whether `word` may open justifications: it is no identifier, no annotation and no word of prose,
/// and no other tool reads it.
///
/// # Errors
///
/// Says what is wrong with it.
pub fn check_marker(word: &str) -> Result<(), String> {
    let letters = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !part.is_empty() && part.bytes().all(plain)
    };
    if !word.contains('-') || !word.split('-').all(letters) {
        return Err(format!(
            "the marker `{word}` must be words of lower-case letters joined by hyphens, as `{MARKER}` is"
        ));
    }
    let other = |pragma: &&&str| word.starts_with(**pragma) || pragma.starts_with(word);
    let others = comments::PRAGMAS.iter().chain(&OTHER_TOOLS);
    match others.into_iter().find(other) {
        Some(pragma) => Err(format!(
            "the marker `{word}` would be read by the tool whose comments open with `{pragma}`"
        )),
        None => Ok(()),
    }
}

/// Hyphenated words that open comments of other tools, besides those that are cut from reasons.
const OTHER_TOOLS: [&str; 8] = [
    "ast-grep",
    "cargo-deny",
    "clippy-",
    "eslint-",
    "flake8-",
    "gitleaks-",
    "noqa-",
    "shellcheck-",
];

/// Gives each finding its verdict, and adds the faults of markers. The findings come with verdict
/// unjustified; those with a reason from an argument already have a justification.
pub fn judge(
    source: &Source,
    tree: &Tree,
    mut findings: Vec<Finding>,
    terms: &Terms,
    today: Date,
) -> Vec<Finding> {
    let page = Page::new(source, tree, &findings);
    let notes = comments::notes(source, tree, &terms.marker);
    let claims: Vec<Claim<'_>> = markers(&notes)
        .map(|(note, words)| Claim::new(&page, &findings, note, words))
        .collect();
    let winners = verdict::winners(&page, &claims);
    let mut faults = malformed(source, tree, &page, &notes, &terms.marker);
    for (finding, winner) in findings.iter_mut().zip(&winners) {
        verdict::settle_argument(source, finding, terms);
        if let Some(claim) = winner.and_then(|winner| claims.get(winner)) {
            verdict::settle(source, &page, finding, claim, terms, today);
        }
    }
    // After recovery from a syntax error the spawn of a marker may be among what was not understood.
    if tree.fault.is_none() {
        let used: std::collections::BTreeSet<usize> = winners.iter().flatten().copied().collect();
        for (_, claim) in claims
            .iter()
            .enumerate()
            .filter(|(number, _)| !used.contains(number))
        {
            let winner = claim.spawns.first().and_then(|spawn| winners.get(*spawn));
            let winner = winner.and_then(|winner| claims.get((*winner)?));
            faults.push(unused(source, &page, &mut findings, claim, winner));
        }
    }
    findings.extend(faults);
    findings.sort_by(|left, right| (&left.evidence, left.id).cmp(&(&right.evidence, right.id)));
    findings
}

fn markers(notes: &[Note]) -> impl Iterator<Item = (&Note, &Words)> {
    notes.iter().filter_map(|note| match &note.reading {
        Reading::Marker(words) => Some((note, words)),
        _ => None,
    })
}

fn malformed(
    source: &Source,
    tree: &Tree,
    page: &Page<'_>,
    notes: &[Note],
    marker: &str,
) -> Vec<Finding> {
    let mut faults = Vec::new();
    for note in notes {
        match &note.reading {
            Reading::Malformed(malformed) => faults.push(broken(source, note.span, malformed)),
            Reading::Attempt(malformed) if !page.reach(&note.comment).spawns.is_empty() => {
                faults.push(broken(source, note.span, malformed));
            }
            Reading::Attempt(_) | Reading::Other | Reading::Marker(_) => {}
        }
    }
    for (span, end) in comments::documented(source, tree, marker) {
        if !page.below(end).is_empty() {
            faults.push(broken(
                source,
                span,
                &Malformed {
                    message: "documentation is no justification".to_owned(),
                    help: "write it as a plain comment, with `#` in Python and `//` in Rust"
                        .to_owned(),
                },
            ));
        }
    }
    faults
}

fn broken(source: &Source, span: Span, malformed: &Malformed) -> Finding {
    fault(
        source,
        span,
        FindingId::MalformedMarker,
        malformed.message.clone(),
        malformed.help.clone(),
    )
}

/// The fault of a marker that speaks for nothing; `winner` is the one that speaks for its spawn. If
/// a spawn is near, both say so.
///
/// It can be deleted by a program if nothing is lost: not where it should be moved, nor where it
/// says something else than the winner, nor where its reason seems to go on over further comments:
/// those may be somebody else's words.
fn unused(
    source: &Source,
    page: &Page<'_>,
    findings: &mut [Finding],
    claim: &Claim<'_>,
    winner: Option<&Claim<'_>>,
) -> Finding {
    let span = claim.note.span;
    let alone = |whole: &Span| source.line(whole.start) == source.line(whole.end.saturating_sub(1));
    let said = |message: &str, help: String, deletable: bool| Finding {
        removable: claim.note.whole.filter(|whole| deletable && alone(whole)),
        ..fault(
            source,
            span,
            FindingId::UnusedJustification,
            message.to_owned(),
            help,
        )
    };
    if !claim.spawns.is_empty() {
        return said(
            "another justification is nearer to the same spawn",
            "keep one of them".to_owned(),
            winner.is_some_and(|winner| winner.words == claim.words),
        );
    }
    if claim.needless() {
        return said(
            "the spawn gives its reason as an argument",
            "delete this comment".to_owned(),
            true,
        );
    }
    let open = |index: usize| {
        let finding = findings.get(index);
        finding.is_some_and(|it| it.justification.is_none())
    };
    // Behind a spawn it was meant for that one only where it stands on the next line.
    let line = claim.note.last_line;
    let meant = |index: usize| page.line(index) + 2 > claim.note.last_line;
    let close = page
        .near(line, CLOSE)
        .filter(|(_, index)| open(*index) && meant(*index))
        .min();
    let Some((_, index)) = close else {
        return said(
            "no detaching spawn is in reach of this justification",
            "delete it".to_owned(),
            true,
        );
    };
    if let Some(finding) = findings.get_mut(index) {
        finding.notes.push((
            span,
            "this justification is near, but does not reach the spawn".to_owned(),
        ));
    }
    let line = page.called(page.line(index));
    said(
        &format!("the justification does not reach the detaching spawn on line {line}"),
        "move it directly above the statement, with no blank line or code between, directly above the argument that \
         detaches, or to the end of a line of the call"
            .to_owned(),
        false,
    )
}

/// A fault that stands alone.
fn fault(source: &Source, span: Span, id: FindingId, message: String, help: String) -> Finding {
    let line = source.line_span(source.line(span.start));
    let end = line.start as usize + source.slice(line).trim_end().len();
    let line = Span::new(line.start as usize, end);
    Finding {
        id,
        rules: Vec::new(),
        level: Level::Deny,
        certainty: Certainty::Sure,
        verdict: Verdict::Fault,
        evidence: vec![span],
        act: span,
        statement: Statement {
            span: line,
            header: line,
        },
        message,
        help,
        notes: Vec::new(),
        justification: None,
        removable: None,
    }
}
