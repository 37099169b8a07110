//! Placement and verdicts, a case a text: what is expected stands beside it as `LINE verdict`.

mod above;
mod beside;
mod marks;
mod mini;

use super::*;
use crate::facts::tree::{Comment, CommentKind};
use crate::source::Language;

const TODAY: Date = Date {
    year: 2026,
    month: 11,
    day: 29,
};

fn judged(language: Language, text: &str) -> Vec<Finding> {
    let source = Source::new("x", language, text.to_owned());
    let tree = mini::tree(&source);
    judge(
        &source,
        &tree,
        mini::findings(&source, &tree),
        &Terms::default(),
        TODAY,
    )
}

/// `3 justified, 5 unjustified, 7 unused-justification`.
fn verdicts(language: Language, text: &str) -> String {
    let source = Source::new("x", language, text.to_owned());
    let said = judged(language, text).into_iter().map(|finding| {
        let word = match finding.id {
            FindingId::DetachingSpawn => finding.verdict.name(),
            fault => fault.name(),
        };
        format!("{} {word}", source.line(finding.evidence[0].start))
    });
    said.collect::<Vec<_>>().join(", ")
}

fn python(cases: &[(&str, &str)]) {
    every(Language::Python, cases);
}

fn rust(cases: &[(&str, &str)]) {
    every(Language::Rust, cases);
}

/// `M` stands for a good marker, `S` for a call that starts a session, `G` for one of a group.
fn every(language: Language, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let text = expand(language, text);
        let found = verdicts(language, &text);
        if found != *expected {
            wrong.push(format!(
                "{text}\n  is       {found}\n  expected {expected}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn expand(language: Language, text: &str) -> String {
    match language {
        Language::Python => text
            .replace("$M", "# detached-spawn: the updater must outlive us")
            .replace("$S", "Popen(a, start_new_session=True)")
            .replace("$G", "Popen(b, process_group=0)")
            .replace("$Q", "Popen(c, shell=\"x &\")"),
        Language::Rust => text
            .replace("$M", "// detached-spawn: the updater must outlive us")
            .replace("$G", "Command::new(\"x\").process_group(0).spawn()")
            .replace("$L", "libc::setsid()"),
    }
}
