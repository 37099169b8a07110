//! Reviewdog's diagnostics, one object a line. Its columns count bytes of UTF-8.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::paths::from_root;
use super::summary::{Entry, Weight, entries};
use super::{Context, Report};
use crate::source::{Source, Unit};

/// Writes a report.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    for entry in entries(report) {
        let mut location = json!({ "path": from_root(context.prefix, entry.path()) });
        match entry {
            Entry::Finding(file, finding) => {
                let span = finding.place();
                location["range"] = json!({
                    "start": position(&file.source, span.start),
                    "end": position(&file.source, span.end),
                });
            }
            Entry::Problem(_, problem) => {
                if let Some(at) = problem.position {
                    location["range"] = json!({ "start": { "line": at.line } });
                }
            }
        }
        let diagnostic = json!({
            "message": entry.told("\n"),
            "severity": match entry.weight() {
                Weight::Error => "ERROR",
                Weight::Warning => "WARNING",
                Weight::Info => "INFO",
            },
            "code": { "value": entry.title() },
            "location": location,
        });
        serde_json::to_writer(&mut *out, &diagnostic)?;
        writeln!(out)?;
    }
    Ok(())
}

fn position(source: &Source, at: u32) -> Value {
    let at = source.told(at, Unit::Bytes);
    json!({ "line": at.line, "column": at.column })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn columns_are_bytes() {
        let mut report = sample::report();
        report.problems.clear();
        report.files = vec![sample::file("é = f(setsid=True)\n", &["setsid=True"])];
        let mut out = Vec::new();
        let context = sample::context("");
        write(&mut out, &report, &context).unwrap();
        let line: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            line["location"]["range"],
            json!({"start": {"line": 1, "column": 8}, "end": {"line": 1, "column": 19}})
        );
        assert_eq!(line["severity"], "ERROR");
    }
}
