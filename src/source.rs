//! One file's text, and places in it: spans in bytes, positions in lines and code points.

use crate::notebook::Notebook;

/// A language that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// `.py`, `.pyw`, or a shebang that names Python.
    Python,
    /// `.rs`.
    Rust,
}

impl Language {
    /// The name in options and in machine output: `python` or `rust`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Rust => "rust",
        }
    }
}

/// Half-open range of byte offsets into [`Source::text`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, both in bytes; offsets past 4 GiB are clamped.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: clamp(start),
            end: clamp(end),
        }
    }

    /// Number of bytes.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether no byte is inside.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Whether `other` lies wholly inside.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// What of it lies inside `other`.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self {
            start: self.start.clamp(other.start, other.end),
            end: self.end.clamp(other.start, other.end),
        }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A place as people count it: both numbers from 1, the column in code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in code points, from 1.
    pub column: u32,
}

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Unicode code points, as people and most linters count.
    CodePoints,
    /// UTF-16 code units: SARIF and editors.
    Utf16,
    /// Bytes of UTF-8: reviewdog.
    Bytes,
}

/// A file as it is judged: decoded, never changed.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it was read, relative to the working directory, with `/`.
    pub path: String,
    /// How it is read.
    pub language: Language,
    /// The decoded text, a leading byte order mark included.
    pub text: String,
    /// Byte offset of the start of each line.
    lines: Vec<u32>,
    /// What the text was taken from, where that is not the file itself.
    notebook: Option<Box<Notebook>>,
}

impl Source {
    /// Wraps `text`. Lines end at LF, CRLF and, in Python, at a lone CR, as each language has it.
    pub fn new(path: impl Into<String>, language: Language, text: String) -> Self {
        let bytes = text.as_bytes();
        let mut lines = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => language == Language::Python && bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                lines.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
            }
        }
        Self {
            path: path.into(),
            language,
            text,
            lines,
            notebook: None,
        }
    }

    /// The code of a notebook's cells.
    pub fn of_notebook(path: impl Into<String>, mut notebook: Notebook) -> Self {
        let text = std::mem::take(&mut notebook.text);
        let mut source = Self::new(path, Language::Python, text);
        source.notebook = Some(Box::new(notebook));
        source
    }

    /// The text as its language's parser reads it: as long, and with the same lines.
    pub fn code(&self) -> &str {
        let notebook = self.notebook.as_ref();
        notebook.map_or(&self.text, |notebook| &notebook.code)
    }

    /// What a shell runs beside the code, by a notation that is not of the language: the shell, the place.
    pub fn shell_texts(&self) -> &[(&'static str, Span)] {
        let notebook = self.notebook.as_ref();
        notebook.map_or(&[], |notebook| &notebook.shell)
    }

    /// In a notebook the cell that holds the byte offset `at`, and the line in that, both from 1.
    pub fn cell(&self, at: u32) -> Option<(u32, u32)> {
        let notebook = self.notebook.as_ref()?;
        Some(notebook.cell(self.line(at)))
    }

    /// What people call a line of the text (from 1): its number, in a notebook that in its cell.
    pub fn called(&self, line: u32) -> String {
        match &self.notebook {
            None => line.to_string(),
            Some(notebook) => {
                let (cell, line) = notebook.cell(line);
                format!("{line} of cell {cell}")
            }
        }
    }

    /// Where in the file the byte offset `at` lies, as reports give it: of a notebook in its JSON.
    pub fn told(&self, at: u32, unit: Unit) -> Position {
        let line = self.line(at);
        match &self.notebook {
            None => Position {
                line,
                column: self.column(at, unit),
            },
            Some(notebook) => {
                let start = self.line_span(line).start;
                notebook.place(line, self.slice(Span { start, end: at }), unit)
            }
        }
    }

    /// The text of `span`; empty where it does not fall on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// The start of the code, at most `most` bytes of whole lines; of a longer line, a part. None if that
    /// is all of it.
    pub fn start(&self, most: usize) -> Option<&str> {
        let code = self.code();
        if code.len() <= most {
            return None;
        }
        let end = (0..=most).rev().find(|at| code.is_char_boundary(*at))?;
        let start = code.get(..end)?;
        let lines = start.rfind('\n').map_or(end, |at| at + 1);
        start.get(..lines)
    }

    /// Line number (from 1) of the byte offset `at`.
    pub fn line(&self, at: u32) -> u32 {
        u32::try_from(self.lines.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    /// Number of lines; a file that ends in a line break has an empty last one.
    pub fn line_count(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// The line before that of `at`, or that one where there is none in the same cell.
    pub fn line_before(&self, at: u32) -> u32 {
        let line = self.line(at);
        let first = self.cell(at).is_some_and(|(_, line)| line == 1);
        if first {
            line
        } else {
            line.saturating_sub(1).max(1)
        }
    }

    /// The line after that of `at`, or that one where there is none in the same cell.
    pub fn line_after(&self, at: u32) -> u32 {
        let line = self.line(at);
        let next = (line + 1).min(self.line_count());
        let cell = |line: u32| self.cell(self.line_span(line).start).map(|(cell, _)| cell);
        if cell(line) == cell(next) { next } else { line }
    }

    /// The line of the file (from 1) in which the byte offset `at` lies.
    pub fn told_line(&self, at: u32) -> u32 {
        self.told(at, Unit::CodePoints).line
    }

    /// The same file with another text; not of a notebook.
    #[must_use]
    pub fn with(&self, text: String) -> Self {
        Self::new(self.path.clone(), self.language, text)
    }

    /// The bytes of line `line` (from 1), its line break included; empty where there is none.
    pub fn line_span(&self, line: u32) -> Span {
        let index = line.saturating_sub(1) as usize;
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let start = self.lines.get(index).copied().unwrap_or(end);
        Span {
            start,
            end: self.lines.get(index + 1).copied().unwrap_or(end),
        }
    }

    /// Line and column of the byte offset `at`. A byte order mark takes no column.
    pub fn position(&self, at: u32) -> Position {
        Position {
            line: self.line(at),
            column: self.column(at, Unit::CodePoints),
        }
    }

    /// Column (from 1) of the byte offset `at`, as other tools count. A byte order mark takes none.
    pub fn column(&self, at: u32, unit: Unit) -> u32 {
        let start = self.line_span(self.line(at)).start as usize;
        let before = self
            .text
            .get(start..(at as usize).min(self.text.len()))
            .unwrap_or_default();
        let before = if start == 0 {
            before.trim_start_matches('\u{feff}')
        } else {
            before
        };
        let count = match unit {
            Unit::CodePoints => before.chars().count(),
            Unit::Utf16 => before.encode_utf16().count(),
            Unit::Bytes => before.len(),
        };
        u32::try_from(count + 1).unwrap_or(u32::MAX)
    }
}

/// Whether a byte is part of a name: a letter, a digit, `_`, or of a character outside of ASCII.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, language: Language, offset: u32) -> (u32, u32) {
        let position = Source::new("x", language, text.to_owned()).position(offset);
        (position.line, position.column)
    }

    #[test]
    fn lines_end_as_the_language_says() {
        assert_eq!(at("a\r\nb\nc", Language::Python, 5), (3, 1));
        assert_eq!(at("a\rb", Language::Python, 2), (2, 1));
        assert_eq!(at("a\rb", Language::Rust, 2), (1, 3));
    }

    #[test]
    fn a_start_is_whole_lines() {
        let start = |text: &str, most| {
            let source = Source::new("x", Language::Python, text.to_owned());
            source.start(most).map(str::to_owned)
        };
        assert_eq!(start("ab\ncd", 5), None);
        assert_eq!(start("ab\ncd", 4).as_deref(), Some("ab\n"));
        assert_eq!(start("é🦀x", 5).as_deref(), Some("é"));
    }

    #[test]
    fn columns_are_code_points_and_a_mark_takes_none() {
        assert_eq!(at("\u{feff}x = 1", Language::Python, 3), (1, 1));
        assert_eq!(at("é🦀x", Language::Rust, 6), (1, 3));
    }
}
