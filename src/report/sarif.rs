//! SARIF 2.1.0: one run, columns in UTF-16 units, paths from the repository's root; what is
//! justified stays in it as a suppressed result with its reason. No more results than code scanning
//! takes of a run; what is left out is said.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::fingerprint::of_findings;
use super::paths::uri;
use super::summary::{Counts, fails, is_covered, problems, title, why};
use super::{Context, FileReport, Finding, Problem, Report, Verdict};
use crate::explain;
use crate::rules::{ALL, Level};
use crate::source::{Source, Span, Unit};

const HOME: &str = "https://docs.rs/check-detached-spawns";
/// Results of a run, at most: code scanning refuses a file that holds more.
const MOST: usize = 25_000;

/// Writes a report.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &log(report, context, MOST))?;
    writeln!(out)
}

/// The whole of it, with `most` results.
fn log(report: &Report, context: &Context<'_>, most: usize) -> Value {
    let rules = explain::ids();
    let mut room = Room::of(report, most);
    let results: Vec<Value> = of_findings(report, context.prefix)
        .filter(|(_, finding, _)| room.takes(finding))
        .map(|(file, finding, fingerprint)| result(file, finding, &fingerprint, &rules, context))
        .collect();
    let unread = problems(report).map(|problem| notification(problem, &rules, context));
    let notifications: Vec<Value> = unread.chain(room.notification()).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "check-detached-spawns",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": HOME,
                "rules": rules.iter().map(|id| descriptor(id)).collect::<Vec<_>>(),
            }},
            "automationDetails": { "id": "check-detached-spawns/" },
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                "SRCROOT": { "description": { "text": "The root of the repository." } },
            },
            "invocations": [{
                "executionSuccessful": Counts::of(report).problems == 0,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

/// How many results there is room for: what is open goes before what is accounted for.
struct Room {
    open: usize,
    covered: usize,
    left_out: usize,
}

impl Room {
    fn of(report: &Report, most: usize) -> Self {
        let findings = report.files.iter().flat_map(|file| &file.findings);
        let open = findings.filter(|own| !is_covered(own)).count().min(most);
        Self {
            open,
            covered: most - open,
            left_out: 0,
        }
    }

    fn takes(&mut self, finding: &Finding) -> bool {
        let room = if is_covered(finding) {
            &mut self.covered
        } else {
            &mut self.open
        };
        let taken = *room > 0;
        *room -= usize::from(taken);
        self.left_out += usize::from(!taken);
        taken
    }

    fn notification(&self) -> Option<Value> {
        let text = format!(
            "{} more results are not in this file: code scanning takes {MOST} of a run. The other formats hold all.",
            self.left_out,
        );
        (self.left_out > 0).then(|| json!({ "level": "warning", "message": { "text": text } }))
    }
}

/// What a rule is, for the page that shows its results.
fn descriptor(id: &str) -> Value {
    let page = explain::page(id).unwrap_or_default();
    let summary = explain::summary(id).unwrap_or_default();
    json!({
        "id": id,
        "name": name(id),
        "shortDescription": { "text": sentence(summary) },
        "fullDescription": { "text": sentence(summary) },
        "help": { "text": page, "markdown": page },
        "helpUri": HOME,
        "defaultConfiguration": { "level": "error" },
        "properties": { "tags": ["process", "reliability"] },
    })
}

fn result(
    file: &FileReport,
    finding: &Finding,
    fingerprint: &str,
    rules: &[&str],
    context: &Context<'_>,
) -> Value {
    // A spawn is a result of its first mechanism, a fault of a reason one of its own id.
    let id = finding
        .rules
        .first()
        .map_or(finding.id.name(), |rule| rule.id);
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": rules.iter().position(|own| *own == id),
        "level": level(finding),
        "message": {
            "text": format!("{} {}", sentence(&finding.message), sentence(&finding.help)),
            "markdown": format!("**{}**: {}\n\n{}", title(finding), sentence(&finding.message), sentence(&finding.help)),
        },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(context.prefix, &file.source.path), "uriBaseId": "SRCROOT" },
            "region": region(&file.source, finding.place(), true),
            "contextRegion": region(&file.source, lines_around(&file.source, finding), false),
        }}],
        "partialFingerprints": { "detachedSpawn/v1": fingerprint },
    });
    if is_covered(finding) {
        let kind = if finding.verdict == Verdict::Justified {
            "inSource"
        } else {
            "external"
        };
        result["suppressions"] = json!([{
            "kind": kind,
            "justification": why(finding),
        }]);
    } else {
        result["suppressions"] = json!([]);
    }
    result
}

fn level(finding: &Finding) -> &'static str {
    if fails(finding) || is_covered(finding) && finding.level == Level::Deny {
        "error"
    } else {
        "warning"
    }
}

fn notification(problem: &Problem, rules: &[&str], context: &Context<'_>) -> Value {
    let id = problem.id.name();
    let mut place = json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(context.prefix, &problem.path), "uriBaseId": "SRCROOT" },
    }});
    if let Some(at) = problem.position {
        place["physicalLocation"]["region"] = json!({ "startLine": at.line });
    }
    json!({
        "level": "error",
        "message": { "text": sentence(&problem.message) },
        "associatedRule": { "id": id, "index": rules.iter().position(|own| *own == id) },
        "locations": [place],
    })
}

/// A region; its end is one past the last character.
fn region(source: &Source, span: Span, exact: bool) -> Value {
    let (start, end) = (span.start, span.end);
    let last = source.told_line(end.saturating_sub(1).max(start));
    let mut region = json!({
        "startLine": source.told_line(start),
        "endLine": last,
        "snippet": { "text": source.slice(span) },
    });
    if exact {
        let end = source.told(end, Unit::Utf16);
        region["startColumn"] = source.told(start, Unit::Utf16).column.into();
        region["endColumn"] = end.column.into();
        region["endLine"] = end.line.into();
    }
    region
}

/// The lines of the evidence and one on each side, as people see them.
fn lines_around(source: &Source, finding: &Finding) -> Span {
    let place = finding.place();
    let last = place.end.saturating_sub(1).max(place.start);
    let first = source.line_span(source.line_before(place.start)).start;
    let end = source.line_span(source.line_after(last)).end;
    Span { start: first, end }
}

/// The name of a rule for people: `NewSessionSpawn`. It must not be the id in other letters.
fn name(id: &str) -> String {
    let mechanism = ALL.iter().any(|rule| rule.id == id);
    pascal(id) + if mechanism { "Spawn" } else { "" }
}

/// `new-session` as `NewSession`.
fn pascal(id: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| {
            first.to_ascii_uppercase().to_string() + chars.as_str()
        })
    };
    id.split('-').map(word).collect()
}

/// A message as a sentence: a capital at its start, a full stop at its end.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    let text = first.unwrap_or_default() + chars.as_str();
    if text.ends_with(['.', '!', '?']) {
        text
    } else {
        text + "."
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_log_has_what_code_scanning_reads() {
        let mut out = Vec::new();
        let context = sample::context("sub dir");
        write(&mut out, &sample::report(), &context).unwrap();
        let log: Value = serde_json::from_slice(&out).unwrap();
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 4);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(
                run["tool"]["driver"]["rules"][index]["id"],
                result["ruleId"]
            );
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "sub%20dir/a/b.py");
        }
        let covered = &results[3]["suppressions"][0];
        assert_eq!(
            covered,
            &json!({"kind": "inSource", "justification": "it must"})
        );
        assert_eq!(results[1]["suppressions"], json!([]));
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
        assert_eq!(
            run["invocations"][0]["toolExecutionNotifications"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }

    const AT_ROOT: Context<'static> = sample::context("");

    /// C 48: code scanning takes no more than so many results, tags and locations.
    #[test]
    fn a_run_is_cut_where_code_scanning_ends() {
        assert_eq!(MOST, 25_000);
        let mut file = sample::file("spawn(setsid=True)\n", &["setsid=True"]);
        let finding = |index| {
            let mut finding = sample::finding(&file.source, &["setsid=True"]);
            // Some of what is accounted for stands before what is not.
            if !(10..250).contains(&index) {
                finding.verdict = Verdict::Baselined;
            }
            finding
        };
        file.findings = (0..260).map(finding).collect();
        let report = Report {
            files: vec![file],
            ..Report::default()
        };
        let cut = |most| log(&report, &AT_ROOT, most)["runs"][0].take();
        let run = cut(245);
        let results = run["results"].as_array().unwrap();
        let open = results
            .iter()
            .filter(|own| own["suppressions"] == json!([]));
        assert_eq!((results.len(), open.count()), (245, 240));
        let said = &run["invocations"][0]["toolExecutionNotifications"];
        let text = said[0]["message"]["text"].as_str().unwrap();
        assert!(text.starts_with("15 more results"), "{said}");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        assert_eq!(cut(7)["results"].as_array().unwrap().len(), 7);
        let whole = cut(260);
        assert_eq!(whole["results"].as_array().unwrap().len(), 260);
        let said = &whole["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(said, &json!([]));
        for rule in run["tool"]["driver"]["rules"].as_array().unwrap() {
            assert!(rule["properties"]["tags"].as_array().unwrap().len() <= 10);
            let name = rule["name"].as_str().unwrap();
            assert!(!name.eq_ignore_ascii_case(rule["id"].as_str().unwrap()));
        }
    }

    #[test]
    fn columns_are_utf16_units() {
        let report = Report {
            files: vec![sample::file("x = '𝕏', f(setsid=True)\n", &["setsid=True"])],
            ..Report::default()
        };
        let region = &log(&report, &AT_ROOT, MOST)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
            ["region"];
        assert_eq!(
            (&region["startColumn"], &region["endColumn"]),
            (&13.into(), &24.into())
        );
        assert_eq!(region["snippet"]["text"], "setsid=True");
    }
}
