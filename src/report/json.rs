//! The report for machines. These structs are the contract, version 1: their fields and order stay.
//! `schema.json` beside this file describes them.

use std::io::{self, Write};

use serde::Serialize;

use super::fingerprint::of_findings;
use super::summary::{Counts, fails, is_covered, problems};
use super::{Context, FileReport, Finding, Origin, Report};
use crate::rules::{Certainty, Level};
use crate::source::Unit;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    tool: Tool,
    summary: Summary,
    findings: Vec<Item<'a>>,
    justified: Vec<Item<'a>>,
    problems: Vec<Trouble<'a>>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    scanned: usize,
    findings: usize,
    unjustified: usize,
    justified: usize,
    problems: usize,
}

#[derive(Serialize)]
struct Item<'a> {
    rule: &'static str,
    mechanisms: Vec<&'static str>,
    level: &'static str,
    certainty: &'static str,
    verdict: &'static str,
    path: &'a str,
    language: &'static str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    statement: Lines,
    evidence: Vec<&'a str>,
    message: &'a str,
    help: &'a str,
    fingerprint: String,
    justification: Option<Reason<'a>>,
}

#[derive(Serialize)]
struct Lines {
    line: u32,
    end_line: u32,
}

#[derive(Serialize)]
struct Reason<'a> {
    line: Option<u32>,
    #[serde(rename = "reason")]
    text: &'a str,
    mechanisms: &'a [String],
    until: Option<String>,
    source: &'static str,
}

#[derive(Serialize)]
struct Trouble<'a> {
    rule: &'static str,
    path: &'a str,
    line: Option<u32>,
    column: Option<u32>,
    message: &'a str,
}

/// One line of `jsonl`: what it is, and what it says.
#[derive(Serialize)]
struct Line<T> {
    kind: &'static str,
    #[serde(flatten)]
    content: T,
}

/// Writes a report.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &output(report, context))?;
    writeln!(out)
}

/// Writes a report with an object a line, of kind `finding`, `justified`, `problem`, and at the end
/// one `summary`.
///
/// # Errors
///
/// Those of `out`.
pub fn write_lines(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    let output = output(report, context);
    for content in &output.findings {
        line(out, "finding", content)?;
    }
    for content in &output.justified {
        line(out, "justified", content)?;
    }
    for content in &output.problems {
        line(out, "problem", content)?;
    }
    line(out, "summary", &output.summary)
}

fn line(out: &mut dyn Write, kind: &'static str, content: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Line { kind, content })?;
    writeln!(out)
}

fn output<'a>(report: &'a Report, context: &Context<'_>) -> Output<'a> {
    let counts = Counts::of(report);
    let mut output = Output {
        version: 1,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        summary: Summary {
            files: report.seen,
            scanned: report.scanned,
            findings: counts.findings(),
            unjustified: counts.unjustified,
            justified: counts.justified,
            problems: counts.problems,
        },
        findings: Vec::new(),
        justified: Vec::new(),
        problems: problems(report).map(trouble).collect(),
    };
    for (file, finding, fingerprint) in of_findings(report, context.prefix) {
        let list = if is_covered(finding) {
            &mut output.justified
        } else {
            &mut output.findings
        };
        list.push(item(file, finding, fingerprint));
    }
    output
}

fn item<'a>(file: &'a FileReport, finding: &'a Finding, fingerprint: String) -> Item<'a> {
    let source = &file.source;
    let first = finding.place();
    let told = |at: u32| source.told(at, Unit::CodePoints);
    let (start, end) = (told(first.start), told(first.end));
    let all = finding.statement.span;
    Item {
        rule: finding.id.name(),
        mechanisms: finding.rules.iter().map(|rule| rule.id).collect(),
        level: level(finding),
        certainty: match finding.certainty {
            Certainty::May => "may",
            Certainty::Sure => "sure",
        },
        verdict: finding.verdict.name(),
        path: &source.path,
        language: source.language.name(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        statement: Lines {
            line: source.told_line(all.start),
            end_line: source.told_line(all.end.saturating_sub(1).max(all.start)),
        },
        evidence: finding
            .evidence
            .iter()
            .map(|span| source.slice(*span))
            .collect(),
        message: &finding.message,
        help: &finding.help,
        fingerprint,
        justification: finding.justification.as_ref().map(|given| Reason {
            line: (given.origin != Origin::Configuration)
                .then(|| source.told_line(given.span.start)),
            text: &given.reason,
            mechanisms: &given.mechanisms,
            until: given.until.map(|date| date.to_string()),
            source: given.origin.name(),
        }),
    }
}

/// A fault of a justification fails whatever the level of its spawn is.
fn level(finding: &Finding) -> &'static str {
    if fails(finding) {
        return "deny";
    }
    match finding.level {
        Level::Deny => "deny",
        Level::Warn => "warn",
        Level::Allow => "allow",
    }
}

fn trouble(problem: &super::Problem) -> Trouble<'_> {
    Trouble {
        rule: problem.id.name(),
        path: &problem.path,
        line: problem.position.map(|at| at.line),
        column: problem.position.map(|at| at.column),
        message: &problem.message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const CONTEXT: Context<'_> = sample::context("sub");

    #[test]
    fn lines_hold_what_the_whole_holds() {
        let (mut whole, mut lines) = (Vec::new(), Vec::new());
        write(&mut whole, &sample::report(), &CONTEXT).unwrap();
        write_lines(&mut lines, &sample::report(), &CONTEXT).unwrap();
        let whole: serde_json::Value = serde_json::from_slice(&whole).unwrap();
        let mut first: Option<serde_json::Value> = None;
        let mut kinds = Vec::new();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let mut line: serde_json::Value = serde_json::from_slice(line).unwrap();
            let kind = line.as_object_mut().unwrap().remove("kind").unwrap();
            kinds.push(kind.as_str().unwrap().to_owned());
            first.get_or_insert(line);
        }
        let expected = [
            "finding",
            "finding",
            "finding",
            "justified",
            "problem",
            "problem",
            "summary",
        ];
        assert_eq!(kinds, expected);
        assert_eq!(first.unwrap(), whole["findings"][0]);
    }

    #[test]
    fn the_contract_holds() {
        let mut out = Vec::new();
        write(&mut out, &sample::report(), &CONTEXT).unwrap();
        let text = String::from_utf8(out).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let summary = serde_json::json!({"files": 3, "scanned": 1, "findings": 3, "unjustified": 2, "justified": 1, "problems": 2});
        assert_eq!(report["summary"], summary);
        let finding = &report["findings"][1];
        assert_eq!(
            (&finding["line"], &finding["column"], &finding["end_column"]),
            (&2.into(), &7.into(), &18.into())
        );
        assert_eq!(finding["evidence"], serde_json::json!(["setsid=True"]));
        assert_eq!(report["findings"][0]["level"], "deny");
        assert_eq!(report["findings"][2]["level"], "warn");
        let justification = serde_json::json!({"line": 4, "reason": "it must", "mechanisms": [], "until": "2030-01-02", "source": "comment"});
        assert_eq!(report["justified"][0]["justification"], justification);
        assert_eq!(report["problems"][1]["line"], serde_json::Value::Null);
        // The order of fields is part of the contract: people read it too.
        let order = [
            "\"version\"",
            "\"tool\"",
            "\"summary\"",
            "\"findings\": [",
            "\"rule\"",
            "\"mechanisms\"",
            "\"level\"",
        ];
        let places: Vec<_> = order.iter().map(|field| text.find(field)).collect();
        assert!(
            places.is_sorted() && places.iter().all(Option::is_some),
            "{text}"
        );
    }
}
