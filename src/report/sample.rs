//! Findings made by hand, for the tests of the writers.

use super::{
    Context, FileReport, Finding, FindingId, Justification, Problem, ProblemId, Report, Verdict,
};
use crate::facts::tree::Statement;
use crate::rules::{ALL, Certainty, Level};
use crate::source::{Language, Source, Span};

/// What writers know besides, in the folder `prefix` of a repository.
pub(crate) const fn context(prefix: &str) -> Context<'_> {
    Context {
        prefix,
        max_annotations: 10,
        counts: true,
    }
}

/// A finding of the first rule whose evidence is the first place of each of `tokens`.
pub(crate) fn finding(source: &Source, tokens: &[&str]) -> Finding {
    let span = |token: &&str| {
        let start = source.text.find(*token).expect("the token is in the text");
        Span::new(start, start + token.len())
    };
    let evidence: Vec<Span> = tokens.iter().map(span).collect();
    let act = evidence
        .iter()
        .copied()
        .reduce(Span::to)
        .expect("there is a token");
    Finding {
        id: FindingId::DetachingSpawn,
        rules: vec![ALL[0]],
        level: Level::Deny,
        certainty: Certainty::Sure,
        verdict: Verdict::Unjustified,
        evidence,
        act,
        statement: Statement {
            span: act,
            header: act,
        },
        message: "it leaves".to_owned(),
        help: "do not".to_owned(),
        notes: Vec::new(),
        justification: None,
        removable: None,
    }
}

/// A file with one such finding.
pub(crate) fn file(text: &str, tokens: &[&str]) -> FileReport {
    let source = Source::new("a/b.py", Language::Python, text.to_owned());
    let findings = vec![finding(&source, tokens)];
    FileReport {
        source,
        findings,
        problems: Vec::new(),
        comments: Vec::new(),
        file: "a/b.py".into(),
    }
}

/// A report with a file of each verdict, a fault and a problem.
pub(crate) fn report() -> Report {
    let mut file = file(
        "x = 1\nspawn(setsid=True)\nwarn()\nwhy()\n",
        &["setsid=True"],
    );
    let mut warned = finding(&file.source, &["warn()"]);
    warned.level = Level::Warn;
    let mut justified = finding(&file.source, &["why()"]);
    justified.verdict = Verdict::Justified;
    justified.justification = Some(Justification {
        span: justified.act,
        reason: "it must".to_owned(),
        mechanisms: Vec::new(),
        until: crate::justify::parse_date("2030-01-02").ok(),
        origin: super::Origin::Comment,
    });
    let mut fault = finding(&file.source, &["x = 1"]);
    fault.id = FindingId::UnusedJustification;
    fault.verdict = Verdict::Fault;
    fault.rules.clear();
    file.findings.insert(0, fault);
    file.findings.extend([warned, justified]);
    file.problems.push(Problem {
        id: ProblemId::UnparsedFile,
        path: file.source.path.clone(),
        position: Some(file.source.position(6)),
        message: "unclosed".to_owned(),
    });
    let problem = Problem {
        id: ProblemId::UnreadablePath,
        path: "a/c.py".to_owned(),
        position: None,
        message: "shut".to_owned(),
    };
    Report {
        files: vec![file],
        problems: vec![problem],
        seen: 3,
        scanned: 1,
        inventory: false,
    }
}
