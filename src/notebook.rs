//! Jupyter notebooks: the code of their cells as one Python text, and where each line of it lies.
//!
//! What a notebook reads otherwise than Python (`%magics`, `!commands`, `help?`) stays in the text and is blanked
//! in the code that is parsed, byte for byte, so that places are the same in both. What of it a shell runs is
//! listed, to be read as shell text.
//! [nbformat](https://nbformat.readthedocs.io/en/latest/format_description.html)

mod magics;
#[cfg(test)]
mod tests;
mod written;

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::source::{Position, Span, Unit};

/// The code of a notebook, and how it lies in the file.
#[derive(Clone, Debug, Default)]
pub struct Notebook {
    /// The code of all code cells, as people see it there. Each cell ends with a line break.
    pub text: String,
    /// The same number of bytes, and the same lines, as Python: what is none is blanked.
    pub code: String,
    /// What a shell runs: its name, and its text in [`Notebook::text`].
    pub shell: Vec<(&'static str, Span)>,
    /// Where each line of the text lies.
    lines: Vec<Line>,
}

/// Where a line lies.
#[derive(Clone, Debug)]
struct Line {
    /// Its cell, and its line in that, both from 1. Cells of every kind count.
    cell: (u32, u32),
    /// The line of the file.
    row: u32,
    /// How much of that line stands before it: code points, UTF-16 units, bytes.
    before: [usize; 3],
    /// How it is written in the file, where that is not how we would write it.
    written: Option<Box<str>>,
}

/// Why a file cannot be read as a notebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where in the file.
    pub at: Position,
    /// Lower case, no full stop.
    pub why: String,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    cells: Option<Vec<Cell<'a>>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Cell<'a> {
    cell_type: Cow<'a, str>,
    #[serde(borrow)]
    source: &'a RawValue,
}

#[derive(Default, Deserialize)]
struct Metadata {
    language_info: Option<Info>,
    kernelspec: Option<Kernel>,
}

#[derive(Deserialize)]
struct Info {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Kernel {
    language: Option<String>,
}

impl Metadata {
    /// Whether the cells are Python, which they are where nothing is said.
    fn is_python(&self) -> bool {
        let info = self.language_info.as_ref();
        let said = info.and_then(|info| info.name.as_ref()).or_else(|| {
            let kernel = self.kernelspec.as_ref();
            kernel.and_then(|kernel| kernel.language.as_ref())
        });
        said.is_none_or(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("python") || name == "sage"
        })
    }
}

/// Whether a file is a notebook, by its suffix.
pub fn is_notebook(path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("ipynb"))
}

/// Reads a notebook; none if its cells are in another language.
///
/// # Errors
///
/// Where it is no JSON, or not of the shape of a notebook.
pub fn read(file: &str) -> Result<Option<Notebook>, Fault> {
    let json = file.trim_start_matches('\u{feff}');
    let skipped = file.len() - json.len();
    let read: File<'_> = serde_json::from_str(json).map_err(fault)?;
    if !read.metadata.is_python() {
        return Ok(None);
    }
    let Some(cells) = read.cells else {
        return Err(Fault {
            at: Position { line: 1, column: 1 },
            why: "no cells: a notebook of format 3 or older, or none at all; convert it (`jupyter nbconvert --to notebook`)".to_owned(),
        });
    };
    let mut reader = Reader::new(file);
    for (number, cell) in (1..).zip(cells) {
        if cell.cell_type == "code" {
            // Both are of one text.
            let at = cell.source.get().as_ptr().addr() - json.as_ptr().addr() + skipped;
            reader.cell(number, cell.source.get(), at)?;
        }
    }
    Ok(Some(reader.done()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn fault(error: serde_json::Error) -> Fault {
    let number = |number: usize| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or_default();
    Fault {
        at: Position {
            line: number(error.line()),
            column: number(error.column()),
        },
        why: format!("no notebook: {why}"),
    }
}

/// What is written from the byte `at` of the file on; a fault of it is told at its place in the file.
fn parsed<'a, T: Deserialize<'a>>(file: &str, written: &'a str, at: usize) -> Result<T, Fault> {
    serde_json::from_str(written).map_err(|error| {
        let mut fault = fault(error);
        let before = file.get(..at).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |found| found + 1);
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if fault.at.line == 1 {
            // The parser counts bytes, from 1.
            fault.at.column += number(before.len() - line);
        }
        fault.at.line += number(before.matches('\n').count());
        fault
    })
}

/// Puts the text together.
struct Reader<'a> {
    file: &'a str,
    /// Where each line of the file starts.
    starts: Vec<usize>,
    /// How much of its line stands before a byte of the file: the line's start, the byte, the widths. A file may
    /// be one line, and the next piece goes on from the last one.
    known: (usize, usize, [usize; 3]),
    notebook: Notebook,
}

impl<'a> Reader<'a> {
    fn new(file: &'a str) -> Self {
        let breaks = file.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            file,
            starts: std::iter::once(0).chain(breaks).collect(),
            known: (0, 0, [0; 3]),
            notebook: Notebook::default(),
        }
    }

    /// Adds the cell of this number, whose source is written as `raw` from the byte `at` of the file on: one
    /// string, or a list of them.
    fn cell(&mut self, number: u32, raw: &str, at: usize) -> Result<(), Fault> {
        let pieces: Vec<&RawValue> = if raw.starts_with('[') {
            parsed(self.file, raw, at)?
        } else {
            vec![parsed(self.file, raw, at)?]
        };
        let from = self.notebook.text.len();
        let mut row = 1;
        for piece in pieces {
            let at = at + piece.get().as_ptr().addr() - raw.as_ptr().addr();
            let text: String = parsed(self.file, piece.get(), at)?;
            // A line ends at each of these in Python, and in no notebook.
            row = self.piece((number, row), piece.get(), &text.replace('\r', " "), at);
        }
        let text = &mut self.notebook.text;
        if text.len() > from && !text.ends_with('\n') {
            text.push('\n');
        }
        let cell = text.get(from..).unwrap_or_default().to_owned();
        magics::blank(&cell, from, &mut self.notebook);
        self.end(&cell);
        Ok(())
    }

    /// A comment at the end of a cell speaks of nothing in the next one: a statement stands between them.
    fn end(&mut self, cell: &str) {
        let last = cell.trim_end().lines().next_back().unwrap_or_default();
        if last.trim_start().starts_with('#')
            && let Some(line) = self.notebook.lines.last().cloned()
        {
            self.notebook.text.push_str(" \n");
            self.notebook.code.push_str("0\n");
            self.notebook.lines.push(line);
        }
    }

    /// Adds text that is written, in quotes, from the byte `at` of the file on; the number of the cell's next
    /// line.
    fn piece(&mut self, (cell, mut row): (u32, u32), written: &str, text: &str, at: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        // With its quote.
        let (from, known) = match self.known {
            (line, until, known) if line == start && until <= at => (until, known),
            _ => (start, [0; 3]),
        };
        let more = self.file.get(from..=at).unwrap_or_default();
        let mut before = add(known, widths(more));
        self.known = (start, at + 1, before);
        let written = written.get(1..written.len().saturating_sub(1));
        let written = written::lines(written.unwrap_or_default());
        for (part, written) in text.split_inclusive('\n').zip(written) {
            if self.notebook.text.is_empty() || self.notebook.text.ends_with('\n') {
                self.notebook.lines.push(Line {
                    cell: (cell, row),
                    row: u32::try_from(line).unwrap_or(u32::MAX),
                    before,
                    written: (escaped(part) != written).then(|| written.into()),
                });
                row += 1;
            }
            self.notebook.text.push_str(part);
            before = add(before, widths(written));
        }
        row
    }

    fn done(self) -> Notebook {
        self.notebook
    }
}

/// How long a text is: in code points, UTF-16 units, bytes.
fn widths(text: &str) -> [usize; 3] {
    [
        text.chars().count(),
        text.encode_utf16().count(),
        text.len(),
    ]
}

fn add(a: [usize; 3], b: [usize; 3]) -> [usize; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// A text as it is written in JSON, without its quotes.
fn escaped(text: &str) -> String {
    let written = serde_json::Value::from(text).to_string();
    let inner = written.get(1..written.len().saturating_sub(1));
    inner.unwrap_or_default().to_owned()
}

impl Notebook {
    /// The cell of a line of the text (from 1), and its line in that, both from 1.
    pub fn cell(&self, line: u32) -> (u32, u32) {
        self.line(line).map_or((1, 1), |line| line.cell)
    }

    /// Where in the file the text of a line (from 1) goes on behind `before`, the beginning of that line.
    pub fn place(&self, line: u32, before: &str, unit: Unit) -> Position {
        let Some(line) = self.line(line) else {
            return Position { line: 1, column: 1 };
        };
        let escaped = escaped(before);
        let written = line.written.as_ref();
        let written = written.map_or(escaped.as_str(), |own| {
            written::beginning(own, before.len())
        });
        let columns = add(line.before, widths(written));
        let column = match unit {
            Unit::CodePoints => columns[0],
            Unit::Utf16 => columns[1],
            Unit::Bytes => columns[2],
        };
        Position {
            line: line.row,
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }

    /// A line of the text; the last one if there are not so many.
    fn line(&self, line: u32) -> Option<&Line> {
        let at = line.saturating_sub(1) as usize;
        self.lines.get(at).or_else(|| self.lines.last())
    }
}
