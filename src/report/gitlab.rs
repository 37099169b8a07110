//! GitLab's code quality report: its documented subset of the Code Climate format.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::fingerprint::{of_findings, of_problem};
use super::paths::from_root;
use super::summary::{Entry, Weight, is_covered, problems, title};
use super::{Context, Report};

/// Writes a report.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    let open = of_findings(report, context.prefix)
        .filter(|(_, finding, _)| is_covered(finding) == report.inventory);
    let mut issues: Vec<Value> = open
        .map(|(file, finding, fingerprint)| {
            let span = finding.place();
            let entry = Entry::Finding(file, finding);
            json!({
                "check_name": title(finding),
                "description": entry.told(": "),
                "fingerprint": fingerprint,
                "severity": match entry.weight() {
                    Weight::Error => "major",
                    Weight::Warning => "minor",
                    Weight::Info => "info",
                },
                "location": {
                    "path": from_root(context.prefix, &file.source.path),
                    "lines": {
                        "begin": file.source.told_line(span.start),
                        "end": file.source.told_line(span.end.saturating_sub(1).max(span.start)),
                    },
                },
            })
        })
        .collect();
    issues.extend(problems(report).map(|problem| {
        let path = from_root(context.prefix, &problem.path);
        json!({
            "check_name": problem.id.name(),
            "description": problem.message,
            "fingerprint": of_problem(problem, &path),
            "severity": "major",
            "location": {
                "path": path,
                "lines": { "begin": problem.position.map_or(1, |at| at.line) },
            },
        })
    }));
    serde_json::to_writer_pretty(&mut *out, &issues)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn each_issue_has_the_documented_shape() {
        let mut out = Vec::new();
        let context = sample::context("sub");
        write(&mut out, &sample::report(), &context).unwrap();
        let issues: Vec<Value> = serde_json::from_slice(&out).unwrap();
        assert_eq!(issues.len(), 5);
        let mut seen = std::collections::BTreeSet::new();
        for issue in &issues {
            assert!(seen.insert(issue["fingerprint"].as_str().unwrap().to_owned()));
            assert!(
                issue["location"]["path"]
                    .as_str()
                    .unwrap()
                    .starts_with("sub/a/")
            );
            assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
            assert!(["major", "minor"].contains(&issue["severity"].as_str().unwrap()));
        }
    }
}
