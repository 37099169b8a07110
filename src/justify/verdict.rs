//! Which marker speaks for which finding, and what it is worth.

use super::comments::Note;
use super::grammar::Words;
use super::place::{Page, Place, Reach};
use super::{Terms, reason};
use crate::report::{Date, Finding, FindingId, Justification, Origin, Verdict};
use crate::rules::Level;
use crate::source::Source;

/// A marker, and the findings of which it speaks: one, or several if it is ambiguous.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    pub(super) note: &'a Note,
    pub(super) words: &'a Words,
    pub(super) reach: Reach,
    pub(super) spawns: Vec<usize>,
}

impl<'a> Claim<'a> {
    /// Chooses among the findings in reach. Brackets that fit exactly one select it. Above and after
    /// a statement what is allowed by default does not count, unless there is nothing else.
    pub(super) fn new(
        page: &Page<'_>,
        findings: &[Finding],
        note: &'a Note,
        words: &'a Words,
    ) -> Self {
        let mut reach = page.reach(&note.comment);
        let spawn = |index: &usize| page.spawns.get(*index);
        let argued = reach
            .spawns
            .iter()
            .any(|index| spawn(index).is_some_and(|it| it.argued));
        let open = |index: &usize| spawn(index).is_some_and(|it| !it.argued);
        let all: Vec<usize> = reach.spawns.iter().copied().filter(open).collect();
        if !argued {
            reach.spawns.clear();
        }
        let fitting: Vec<usize> = all
            .iter()
            .copied()
            .filter(|index| findings.get(*index).is_some_and(|it| fits(words, it)))
            .collect();
        let loud: Vec<usize> = all
            .iter()
            .copied()
            .filter(|index| spawn(index).is_some_and(|it| !it.quiet))
            .collect();
        let spawns = if !words.mechanisms.is_empty() && fitting.len() == 1 {
            fitting
        } else if matches!(reach.place, Place::Above | Place::After) && !loud.is_empty() {
            loud
        } else {
            all
        };
        Self {
            note,
            words,
            reach,
            spawns,
        }
    }

    /// Whether the spawn in its reach gives its reason as an argument.
    pub(super) fn needless(&self) -> bool {
        !self.reach.spawns.is_empty()
    }

    /// How near it is to a finding: the least wins.
    fn rank(&self, page: &Page<'_>, spawn: usize) -> (bool, u32, Place) {
        (
            self.spawns.len() > 1,
            page.distance(spawn, self.line()),
            self.reach.place,
        )
    }

    fn line(&self) -> u32 {
        self.note.last_line
    }
}

/// Whether the brackets name exactly the finding's mechanisms.
fn fits(words: &Words, finding: &Finding) -> bool {
    let mut named: Vec<&str> = words.mechanisms.iter().map(String::as_str).collect();
    let mut had: Vec<&str> = finding.rules.iter().map(|rule| rule.id).collect();
    named.sort_unstable();
    named.dedup();
    had.sort_unstable();
    named == had
}

/// For each finding the claim that is nearest to it.
pub(super) fn winners(page: &Page<'_>, claims: &[Claim<'_>]) -> Vec<Option<usize>> {
    let mut won: Vec<Option<usize>> = vec![None; page.spawns.len()];
    for (number, claim) in claims.iter().enumerate() {
        for spawn in &claim.spawns {
            let Some(place) = won.get_mut(*spawn) else {
                continue;
            };
            let holder = place.and_then(|holder| claims.get(holder));
            if holder.is_none_or(|holder| claim.rank(page, *spawn) < holder.rank(page, *spawn)) {
                *place = Some(number);
            }
        }
    }
    won
}

/// Gives `finding` the verdict of the marker that speaks for it.
pub(super) fn settle(
    source: &Source,
    page: &Page<'_>,
    finding: &mut Finding,
    claim: &Claim<'_>,
    terms: &Terms,
    today: Date,
) {
    let words = claim.words;
    finding.justification = Some(Justification {
        span: claim.note.span,
        reason: words.reason.clone(),
        mechanisms: words.mechanisms.clone(),
        until: words.until,
        origin: Origin::Comment,
    });
    let line = source.called(source.line(claim.note.span.start));
    match fault(page, finding, claim, terms, today) {
        None => finding.verdict = Verdict::Justified,
        Some(fault) => {
            finding
                .notes
                .push((claim.note.span, "the justification".to_owned()));
            fault.put(finding, &line);
        }
    }
}

/// Judges a reason that the spawn itself gives as an argument.
pub(super) fn settle_argument(source: &Source, finding: &mut Finding, terms: &Terms) {
    let given = finding.justification.as_ref();
    let Some(given) = given.filter(|it| it.origin == Origin::Argument) else {
        return;
    };
    let line = source.called(source.line(given.span.start));
    match reason::fault(&given.reason, terms) {
        None => finding.verdict = Verdict::Justified,
        Some(fault) => empty(&fault, "as its argument", terms).put(finding, &line),
    }
}

/// A fault of a marker that replaces the finding's id.
struct Fault {
    id: FindingId,
    message: String,
    help: String,
}

impl Fault {
    /// A faulty justification fails the run at every level.
    fn put(self, finding: &mut Finding, line: &str) {
        finding.id = self.id;
        finding.level = Level::Deny;
        finding.verdict = Verdict::Unjustified;
        finding.message = format!("{} (line {line})", self.message);
        finding.help = self.help;
    }
}

fn fault(
    page: &Page<'_>,
    finding: &Finding,
    claim: &Claim<'_>,
    terms: &Terms,
    today: Date,
) -> Option<Fault> {
    let words = claim.words;
    if claim.spawns.len() > 1 {
        return Some(ambiguous(page, claim));
    }
    if !words.mechanisms.is_empty() && !fits(words, finding) {
        return Some(mismatch(words, finding, terms));
    }
    if words.mechanisms.is_empty() && terms.require_mechanism {
        return Some(unnamed(finding, terms));
    }
    if let Some(fault) = reason::fault(&words.reason, terms) {
        return Some(empty(&fault, &format!("after `{}:`", terms.marker), terms));
    }
    words.until.filter(|until| *until < today).map(expired)
}

fn ambiguous(page: &Page<'_>, claim: &Claim<'_>) -> Fault {
    let mut lines: Vec<u32> = claim.spawns.iter().map(|spawn| page.line(*spawn)).collect();
    lines.sort_unstable();
    let count = lines.len();
    lines.dedup();
    let lines = lines.iter().take(8).map(|line| page.called(*line));
    let lines: Vec<String> = lines.collect();
    Fault {
        id: FindingId::AmbiguousJustification,
        message: format!("the justification could speak of {count} detaching spawns, on line {}", lines.join(", ")),
        help: "give each its own: on a line of its own directly above the argument that detaches, or at the end of \
               a line of the call"
            .to_owned(),
    }
}

fn mismatch(words: &Words, finding: &Finding, terms: &Terms) -> Fault {
    let had = mechanisms(finding);
    Fault {
        id: FindingId::MechanismMismatch,
        message: format!(
            "the justification names {}, the spawn has {had}",
            words.mechanisms.join(", "),
        ),
        help: format!(
            "if the reason still holds, write `{}[{had}]`; else write a new one",
            terms.marker
        ),
    }
}

/// A marker without brackets, where the configuration wants them.
fn unnamed(finding: &Finding, terms: &Terms) -> Fault {
    let had = mechanisms(finding);
    Fault {
        id: FindingId::MechanismMismatch,
        message: format!(
            "the justification names no mechanism, as `require-mechanism` wants it; the spawn has {had}"
        ),
        help: format!("write `{}[{had}]: the reason`", terms.marker),
    }
}

fn mechanisms(finding: &Finding) -> String {
    let had: Vec<&str> = finding.rules.iter().map(|rule| rule.id).collect();
    had.join(", ")
}

fn empty(fault: &str, place: &str, terms: &Terms) -> Fault {
    Fault {
        id: FindingId::EmptyJustification,
        message: format!("the reason {fault}"),
        help: format!(
            "say {place} what must outlive what, and who ends it, in at least {} characters; or start it owned",
            terms.min_reason_length
        ),
    }
}

fn expired(until: Date) -> Fault {
    Fault {
        id: FindingId::ExpiredJustification,
        message: format!("the justification held until {until}"),
        help: "end the detaching, or look at the reason again and give it a new day".to_owned(),
    }
}
