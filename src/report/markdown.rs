//! A page for people who review: what was found, what is justified and why, what was not read.
//! GitHub shows it as a job summary.

use std::io::{self, Write};

use super::paths::from_root;
use super::summary::{Weight, entries, is_covered, line, title, why};
use super::{Context, Report};

/// Writes a report.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    writeln!(out, "## Detached spawns\n\n{}", line(report))?;
    let mut entries = entries(report);
    entries.retain(|entry| entry.weight() != Weight::Info);
    if !entries.is_empty() {
        writeln!(out, "\n### To be looked at\n")?;
        writeln!(out, "| | Where | What | Why |\n| --- | --- | --- | --- |")?;
    }
    for entry in &entries {
        let sign = if entry.fails() { "error" } else { "warning" };
        let line = entry.position().map(|at| at.line);
        let place = place(context, entry.path(), line);
        let (id, why) = (code(&entry.title()), cell(entry.message()));
        writeln!(out, "| {sign} | {place} | {id} | {why} |")?;
    }
    justified(out, report, context)
}

/// Everything that outlives its parent on purpose, and why.
fn justified(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    let mut first = true;
    for file in &report.files {
        for finding in file.findings.iter().filter(|own| is_covered(own)) {
            if std::mem::take(&mut first) {
                writeln!(out, "\n### Justified\n")?;
                writeln!(
                    out,
                    "| Where | What | Reason | Until |\n| --- | --- | --- | --- |"
                )?;
            }
            let given = finding.justification.as_ref();
            let until = given.and_then(|own| own.until);
            let row = file.source.told_line(finding.place().start);
            writeln!(
                out,
                "| {} | {} | {} | {} |",
                place(context, &file.source.path, Some(row)),
                code(&title(finding)),
                cell(why(finding)),
                until.map_or_else(String::new, |date| date.to_string()),
            )?;
        }
    }
    Ok(())
}

fn place(context: &Context<'_>, path: &str, line: Option<u32>) -> String {
    let path = from_root(context.prefix, path);
    code(&line.map_or_else(|| path.clone(), |line| format!("{path}:{line}")))
}

/// Text in a cell: nothing in it is markup, and it stays one line.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\r' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '@' => {
                safe.push('\\');
                safe.push(char);
            }
            char if char.is_control() || super::summary::is_bidi(char) => {
                safe.extend(char.escape_default());
            }
            char => safe.push(char),
        }
    }
    safe
}

/// Text as code in a cell, where a bar ends the cell and a backtick the code.
fn code(text: &str) -> String {
    let text = super::summary::plain(text);
    let longest = text
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_page_lists_findings_and_reasons() {
        let mut report = sample::report();
        if let Some(given) = &mut report.files[0].findings[3].justification {
            given.reason = "it <must> | `live`".to_owned();
        }
        let mut out = Vec::new();
        let context = sample::context("sub");
        write(&mut out, &report, &context).unwrap();
        let text = String::from_utf8(out).unwrap();
        let id = crate::rules::ALL[0].id;
        let row = format!("| error | `sub/a/b.py:2` | `detaching-spawn[{id}]` | it leaves |");
        assert!(text.contains(&row), "{text}");
        assert!(text.contains("| warning | `sub/a/b.py:3` |"), "{text}");
        let reason = r"| it &lt;must&gt; \| \`live\` | 2030-01-02 |";
        assert!(text.contains(reason), "{text}");
    }

    #[test]
    fn code_survives_bars_and_backticks() {
        assert_eq!(code("a|b.py:1"), r"`a\|b.py:1`");
        assert_eq!(code("a``b"), "``` a``b ```");
    }
}
