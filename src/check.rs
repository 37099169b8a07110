//! One file through the whole linter: read, gather, judge by rule, join, justify. Pure.

mod helpers;

use std::collections::BTreeMap;
use std::path::Path;

use crate::facts::outline::Outline;
use crate::facts::tree::{Statement, Tree};
use crate::justify::MARKER;
use crate::policy::{Policy, allow};
use crate::report::{
    Date, FileReport, Finding, FindingId, Justification, Origin, Problem, ProblemId, Verdict,
};
use crate::rules::{ALL, Certainty, Hit, Level, Rule, Way, is_replaced};
use crate::source::{Language, Source, Span, Unit};
use crate::{facts, justify};
use helpers::Helpers;

/// Which level each mechanism has in this run.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    /// `(mechanism, level)` in the order given; the last one that names it counts. `all` names all.
    pub set: Vec<(String, Level)>,
}

impl Levels {
    /// The level of one piece of evidence. What may detach is at most a warning, unless the level
    /// was set by name.
    pub fn of(&self, rule: &Rule, certainty: Certainty) -> Level {
        let named = self
            .set
            .iter()
            .rev()
            .find(|(id, _)| id == rule.id || id == "all");
        match named {
            Some((_, level)) => *level,
            None if certainty == Certainty::May => rule.level.min(Level::Warn),
            None => rule.level,
        }
    }
}

/// Judges one file, whose path is as the configuration's folder sees it.
pub fn check(source: Source, policy: &Policy, today: Date) -> FileReport {
    let inside = source.path.clone();
    check_inside(source, policy, today, Path::new(&inside))
}

/// Judges one file; `inside` is its path from the configuration's folder. Findings at level allow
/// are in the result: a marker may speak of them.
pub fn check_inside(source: Source, policy: &Policy, today: Date, inside: &Path) -> FileReport {
    let tree = match source.language {
        Language::Python => facts::python::read(&source),
        Language::Rust => facts::rust::read(&source),
    };
    let facts = facts::gather::gather(&source, &tree);
    let hits = ALL
        .iter()
        .flat_map(|rule| (rule.check)(&facts).into_iter().map(|hit| (*rule, hit)));
    let real = |(rule, hit): &(&'static Rule, Hit)| !is_replaced(&facts, rule, hit);
    let mut hits: Vec<(&'static Rule, Hit)> = hits.filter(real).collect();
    let helpers = Helpers::of(&source, &facts, policy, inside);
    let answered = helpers.map_or_else(Vec::new, |helpers| helpers.apply(&mut hits));
    let findings = join(&source, &tree, hits, policy);
    let findings = justify::judge(&source, &tree, findings, &policy.terms, today);
    let problems = tree.fault.iter().map(|fault| Problem {
        id: ProblemId::UnparsedFile,
        path: source.path.clone(),
        position: Some(source.told(fault.at.start, Unit::CodePoints)),
        message: in_cell(&source, fault.at.start, &fault.why),
    });
    let problems = problems.collect();
    let comments = tree.comments.iter().map(|comment| comment.span).collect();
    let mut file = FileReport {
        source,
        findings,
        problems,
        comments,
        file: inside.to_owned(),
    };
    for finding in &mut file.findings {
        finding.message = in_cell(&file.source, finding.place().start, &finding.message);
    }
    answer(&mut file.findings, &answered);
    allow(&mut file, inside, &policy.allows, today);
    file
}

/// A message with the cell of a notebook in which the byte offset `at` lies.
fn in_cell(source: &Source, at: u32, message: &str) -> String {
    match source.cell(at) {
        Some((cell, line)) => format!("cell {cell}, line {line}: {message}"),
        None => message.to_owned(),
    }
}

/// What detaches in a helper whose callers are findings is accounted for by them.
fn answer(findings: &mut [Finding], answered: &[(Span, String)]) {
    for finding in findings {
        let open = finding.verdict == Verdict::Unjustified;
        let place = finding.place();
        let body = answered.iter().find(|(body, _)| body.contains(place));
        if let (true, FindingId::DetachingSpawn, Some((_, name))) = (open, finding.id, body) {
            finding.verdict = Verdict::Allowed;
            finding.justification = Some(Justification {
                span: place,
                reason: format!("each call of `{name}` gives its own reason (`detaching-calls`)"),
                mechanisms: Vec::new(),
                until: None,
                origin: Origin::Configuration,
            });
        }
    }
}

/// Hits of one act become one finding. The same evidence is never said twice: a text that two calls
/// run is the finding of the first.
fn join(
    source: &Source,
    tree: &Tree,
    hits: Vec<(&'static Rule, Hit)>,
    policy: &Policy,
) -> Vec<Finding> {
    let mut acts: BTreeMap<Span, Vec<(&'static Rule, Hit)>> = BTreeMap::new();
    let mut told: BTreeMap<(Span, &'static str), Span> = BTreeMap::new();
    for (rule, hit) in hits {
        let first = *told.entry((hit.evidence, rule.id)).or_insert(hit.act);
        if first == hit.act {
            acts.entry(hit.act).or_default().push((rule, hit));
        }
    }
    if acts.is_empty() {
        return Vec::new();
    }
    let outline = Outline::new(tree);
    let mut findings: Vec<Finding> = acts
        .into_values()
        .map(|hits| finding(source, &outline, &hits, policy))
        .collect();
    findings.sort_by_key(|finding| (finding.evidence.first().copied(), finding.id));
    findings
}

fn finding(
    source: &Source,
    outline: &Outline,
    hits: &[(&'static Rule, Hit)],
    policy: &Policy,
) -> Finding {
    let mut rules: Vec<&'static Rule> = Vec::new();
    let mut evidence: Vec<Span> = Vec::new();
    let mut notes = Vec::new();
    for (rule, hit) in hits {
        if !rules.iter().any(|known| known.id == rule.id) {
            rules.push(rule);
        }
        evidence.push(hit.evidence);
        for note in &hit.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
    }
    evidence.sort();
    evidence.dedup();
    let act = hits.first().map(|(_, hit)| hit.act).unwrap_or_default();
    // What is written elsewhere (a constant that the call runs) is the place only if nothing in the
    // call itself is.
    if evidence.iter().any(|span| act.contains(*span)) {
        evidence.retain(|span| act.contains(*span));
    }
    let level = |(rule, hit): &(&'static Rule, Hit)| {
        (
            policy.levels.of(rule, hit.certainty),
            hit.certainty,
            rule.level,
        )
    };
    // The hit that decides: of the highest level, sure before unsure.
    let heaviest = hits.iter().max_by_key(|hit| level(hit));
    let (level, certainty) = heaviest.map_or((Level::Allow, Certainty::May), |hit| {
        (level(hit).0, level(hit).1)
    });
    let first = evidence.first().copied().unwrap_or_default();
    let act = if act.contains(first) { act } else { first };
    Finding {
        id: FindingId::DetachingSpawn,
        level,
        certainty,
        verdict: Verdict::Unjustified,
        act,
        statement: statement_of(outline, source, first),
        message: heaviest
            .map(|(_, hit)| message(source, hit))
            .unwrap_or_default(),
        help: heaviest
            .map(|(rule, _)| rule.help.replace(MARKER, &policy.terms.marker))
            .unwrap_or_default(),
        removable: None,
        justification: reason(hits),
        rules,
        evidence,
        notes,
    }
}

/// A reason that stands in the code itself: `spawn_detached(command, "reason")`.
fn reason(hits: &[(&'static Rule, Hit)]) -> Option<Justification> {
    let (reason, span) = hits.iter().find_map(|(_, hit)| hit.reason.clone())?;
    Some(Justification {
        span,
        reason,
        mechanisms: Vec::new(),
        until: None,
        origin: Origin::Argument,
    })
}

/// The innermost statement whose header holds `span`; its own line where there is none.
fn statement_of(outline: &Outline, source: &Source, span: Span) -> Statement {
    let inner = outline.innermost(span).and_then(|index| outline.get(index));
    inner.copied().unwrap_or_else(|| {
        let line = source.line_span(source.line(span.start));
        Statement {
            span: line.to(span),
            header: line.to(span),
        }
    })
}

/// What the evidence does, and what survives.
fn message(source: &Source, hit: &Hit) -> String {
    let token: String = source
        .slice(hit.evidence)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let token = if token.chars().count() > 60 {
        format!("{}…", token.chars().take(57).collect::<String>())
    } else {
        token
    };
    let may = if hit.certainty == Certainty::May {
        "may "
    } else {
        ""
    };
    let named = |program: &&String| !program.is_empty() && !token.contains(program.as_str());
    let of = hit.program.as_ref().filter(named);
    let of = of.map_or_else(String::new, |program| format!("of `{program}` "));
    format!("`{token}` {of}{may}{}", survives(hit.way, hit.certainty))
}

/// A clause for each way, and its form after "may".
fn survives(way: Way, certainty: Certainty) -> &'static str {
    let sure = certainty == Certainty::Sure;
    match (way, sure) {
        (Way::NewSession, true) => {
            "starts a new session: it survives a kill of the spawner's group, Ctrl-C and a closed terminal"
        }
        (Way::NewSession, false) => {
            "start a new session: it would survive a kill of the spawner's group, Ctrl-C and a closed terminal"
        }
        (Way::NewGroup, true) => {
            "leaves the process group: it survives a kill of the spawner's group and Ctrl-C"
        }
        (Way::NewGroup, false) => {
            "leave the process group: it would survive a kill of the spawner's group and Ctrl-C"
        }
        (Way::Daemonised, true) => {
            "daemonises: a new session, and no longer a child of the spawner, so no kill of the spawner or its group ends it"
        }
        (Way::Daemonised, false) => {
            "daemonise: a new session, and no longer a child of the spawner"
        }
        (Way::OtherService, true) => {
            "hands the work to another service: it is no descendant of the spawner, and nothing that cleans up after the spawner ends it"
        }
        (Way::OtherService, false) => {
            "hand the work to another service, which nothing that cleans up after the spawner ends"
        }
        (Way::Terminal, true) => {
            "starts a new session on a terminal of its own: it dies only while the spawner's side of the terminal closes and the hangup is honoured"
        }
        (Way::Terminal, false) => "start a new session on a terminal of its own",
        (Way::HangupProof, true) => "does not die of a hangup: it survives a closed terminal",
        (Way::HangupProof, false) => "survive a closed terminal",
        (Way::Reparented, true) => {
            "leaves a process that is no longer the spawner's child: it survives a kill of the spawner"
        }
        (Way::Reparented, false) => "leave a process that is no longer the spawner's child",
        (Way::Desktop, true) => {
            "hands the work to the desktop or a running browser, which nothing that cleans up after the spawner ends"
        }
        (Way::Desktop, false) => "hand the work to the desktop or a running browser",
        (Way::Declared, true) => {
            "detaches, as `detaching-calls` of the configuration says: what it starts outlives the spawner"
        }
        (Way::Declared, false) => "start what outlives the spawner",
        (Way::Windows, true) => {
            "leaves the console, group or job on Windows: it survives the spawner's end"
        }
        (Way::Windows, false) => "leave the console, group or job on Windows",
    }
}
