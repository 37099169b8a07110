//! Workflow commands of GitHub Actions, which become annotations.
//!
//! The runner takes ten errors and ten warnings of a step and drops the rest without a word, so the
//! gravest come first, and the last line says how many are missing. Escapes are those of the
//! runner's toolkit; columns cannot be sent for a place of several lines.

use std::io::{self, Write};

use super::paths::from_root;
use super::summary::{Entry, Weight, entries, line};
use super::{Context, Report};
use crate::source::Unit;

/// Writes a report.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    let mut entries = entries(report);
    entries.sort_by_key(|entry| !entry.fails());
    for entry in entries.iter().take(context.max_annotations) {
        writeln!(out, "{}", command(entry, context))?;
    }
    let left = entries.len().saturating_sub(context.max_annotations);
    if left > 0 {
        let text = format!("{left} more are not shown here; {}", line(report));
        writeln!(out, "::notice title=check-detached-spawns::{}", data(&text))?;
    }
    Ok(())
}

fn command(entry: &Entry<'_>, context: &Context<'_>) -> String {
    let kind = match entry.weight() {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Info => "notice",
    };
    format!(
        "::{kind} title={},file={}{}::{}",
        property(&entry.title()),
        property(&from_root(context.prefix, entry.path())),
        place(entry),
        data(&entry.told("\n")),
    )
}

/// Lines and columns, as far as there are any.
fn place(entry: &Entry<'_>) -> String {
    let Some(start) = entry.position() else {
        return String::new();
    };
    let Entry::Finding(file, finding) = entry else {
        return format!(",line={},col={}", start.line, start.column);
    };
    let end = file.source.told(finding.place().end, Unit::CodePoints);
    let columns = if start.line == end.line {
        format!(",col={},endColumn={}", start.column, end.column)
    } else {
        String::new()
    };
    format!(",line={},endLine={}{columns}", start.line, end.line)
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn written(max_annotations: usize) -> String {
        let mut out = Vec::new();
        let context = Context {
            max_annotations,
            ..sample::context("sub")
        };
        write(&mut out, &sample::report(), &context).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn errors_come_first_and_the_rest_is_counted() {
        let all = written(100);
        let kinds: Vec<&str> = all
            .lines()
            .map(|line| line.split(' ').next().unwrap_or_default())
            .collect();
        assert_eq!(
            kinds,
            ["::error", "::error", "::error", "::error", "::warning"]
        );
        assert!(
            all.contains(
                ",file=sub/a/b.py,line=2,endLine=2,col=7,endColumn=18::it leaves%0Ado not"
            ),
            "{all}"
        );
        let some = written(2);
        assert_eq!(some.lines().count(), 3);
        assert!(some.ends_with("2 problems\n") && some.contains("::3 more are not shown here;"));
    }

    #[test]
    fn what_ends_a_command_is_escaped() {
        assert_eq!(data("50%\r\n::x"), "50%25%0D%0A::x");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
