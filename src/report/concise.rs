//! One line for each finding and problem: `path:line:col: id: message`.

use std::io::{self, Write};

use super::summary::{Entry, entries, is_covered, line, plain};
use super::{Context, Report};

/// Writes a report and its counts.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report, context: &Context<'_>) -> io::Result<()> {
    for entry in entries(report) {
        write!(out, "{}:", plain(entry.path()))?;
        if let Some(at) = entry.position() {
            write!(out, "{}:{}:", at.line, at.column)?;
        }
        let verdict = match entry {
            Entry::Finding(_, finding) if is_covered(finding) => {
                format!(" {}:", finding.verdict.name())
            }
            Entry::Finding(..) | Entry::Problem(..) => String::new(),
        };
        let (title, message) = (entry.title(), plain(entry.message()));
        writeln!(out, " {title}:{verdict} {message}")?;
    }
    if context.counts {
        writeln!(out, "{}", line(report))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn each_entry_is_one_line() {
        let mut out = Vec::new();
        let context = sample::context("");
        write(&mut out, &sample::report(), &context).unwrap();
        let id = crate::rules::ALL[0].id;
        let expected = format!(
            "a/b.py:1:1: unused-justification: it leaves\n\
             a/b.py:2:1: unparsed-file: unclosed\n\
             a/b.py:2:7: detaching-spawn[{id}]: it leaves\n\
             a/b.py:3:1: detaching-spawn[{id}]: it leaves\n\
             a/c.py: unreadable-path: shut\n\
             3 files, 3 findings (2 denied, 1 warning), 1 justified, 2 problems\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
