//! Finding to text: source excerpt, evidence, what survives, what to do.

mod excerpt;

use std::fmt;
use std::io::{self, Write};

use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, ReportHandler, Severity, SourceCode};

use self::excerpt::{Excerpt, Mark};
use super::summary::{Entry, Weight, entries, is_covered, line, plain, title};
use super::{Context, FileReport, Finding, Problem, Report};
use crate::source::Span;

/// What the place of output can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Colours.
    pub color: bool,
    /// Line drawing beyond ASCII.
    pub unicode: bool,
    /// A terminal, whose width counts; else lines are wrapped at 100.
    pub terminal: bool,
}

/// Writes a report and its counts.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    out: &mut dyn Write,
    report: &Report,
    context: &Context<'_>,
    look: &Look,
) -> io::Result<()> {
    let mut options = MietteHandlerOpts::new()
        .force_graphical(true)
        .color(look.color)
        .unicode(look.unicode)
        .terminal_links(false)
        .context_lines(1)
        .break_words(false)
        // The marker has a hyphen in it, and is to be copied.
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .tab_width(4);
    if !look.terminal {
        options = options.width(100);
    }
    let handler = options.build();
    for entry in entries(report) {
        let shown = match entry {
            Entry::Finding(file, finding) => of_finding(file, finding),
            Entry::Problem(file, problem) => of_problem(file, problem),
        };
        writeln!(out, "{}", Rendered(&handler, &shown))?;
    }
    if context.counts {
        writeln!(out, "{}", line(report))?;
    }
    Ok(())
}

/// A finding or problem in the form that is drawn.
#[derive(Debug)]
struct Shown {
    title: String,
    message: String,
    help: Option<String>,
    weight: Weight,
    excerpt: Option<Excerpt>,
    notes: Vec<Self>,
}

fn of_finding(file: &FileReport, finding: &Finding) -> Shown {
    let evidence = if finding.evidence.is_empty() {
        vec![finding.act]
    } else {
        finding.evidence.clone()
    };
    let marks = evidence
        .iter()
        .map(|span| Mark {
            span: *span,
            label: None,
        })
        .collect();
    let note = |(span, text): &(Span, String)| Shown {
        title: "note".to_owned(),
        message: plain(text),
        help: None,
        weight: Weight::Info,
        excerpt: Excerpt::new(
            &file.source,
            vec![Mark {
                span: *span,
                label: None,
            }],
        ),
        notes: Vec::new(),
    };
    let entry = Entry::Finding(file, finding);
    let (message, help) = if is_covered(finding) {
        (plain(&entry.told("")), None)
    } else {
        let help = (!finding.help.is_empty()).then(|| plain(&finding.help));
        (plain(&finding.message), help)
    };
    Shown {
        title: title(finding),
        message,
        help,
        weight: entry.weight(),
        excerpt: Excerpt::new(&file.source, marks),
        notes: finding.notes.iter().map(note).collect(),
    }
}

fn of_problem(file: Option<&FileReport>, problem: &Problem) -> Shown {
    // A notebook's problem says its cell, and lies in the file.
    let shown = file.filter(|file| file.source.cell(0).is_none());
    let excerpt = shown.zip(problem.position).and_then(|(file, at)| {
        let line = file.source.line_span(at.line);
        let text = file.source.slice(line);
        let column = at.column.saturating_sub(1) as usize;
        let start = text
            .char_indices()
            .nth(column)
            .map_or(text.trim_end().len(), |(start, _)| start);
        let start = line.start as usize + start;
        let span = Span::new(start, start + 1);
        Excerpt::new(&file.source, vec![Mark { span, label: None }])
    });
    let mut message = plain(&problem.message);
    if excerpt.is_none() {
        let at = problem
            .position
            .map(|at| format!("{}:{}:", at.line, at.column))
            .unwrap_or_default();
        message = format!("{}:{at} {message}", plain(&problem.path));
    }
    Shown {
        title: problem.id.name().to_owned(),
        message,
        help: None,
        weight: Weight::Error,
        excerpt,
        notes: Vec::new(),
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.title))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.weight {
            Weight::Error => Severity::Error,
            Weight::Warning => Severity::Warning,
            Weight::Info => Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display + 'a>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt
            .as_ref()
            .map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.excerpt.as_ref().map(Excerpt::labels)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.notes.is_empty() {
            return None;
        }
        Some(Box::new(
            self.notes.iter().map(|note| note as &dyn Diagnostic),
        ))
    }
}

/// Draws when it is displayed, which is the only way that miette offers.
struct Rendered<'a>(&'a dyn ReportHandler, &'a Shown);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(self.1, f)
    }
}

#[cfg(test)]
mod tests;
