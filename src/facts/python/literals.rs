//! A Python text by a pass over its bytes alone, for those who ask what it may hold before it is parsed:
//! its code, and its string literals with what can be told of where they stand.

pub(super) mod ends;
mod inert;

use self::ends::{end, is_prefix};
use super::literal::{Hole, cook, holes_and_rest, open};
use crate::facts::MAX_ITEMS;
use crate::facts::tree::Piece;
use crate::source::{Span, is_word};

/// A string literal.
#[derive(Debug)]
pub(crate) struct Found {
    /// Its text, escapes resolved; holes of formats as they are written.
    pub(crate) text: String,
    /// Whether it stands side by side with the one before it, or is added to it.
    pub(crate) joins: bool,
    /// Whether something else is joined before it.
    pub(crate) follows: bool,
    /// What it can be.
    pub(crate) role: Role,
}

/// What a literal can be, by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A value that goes anywhere.
    Value,
    /// The name of what is taken from something, as `local["nohup"]` takes a program.
    Member,
    /// A message, a key, what is compared: nothing that goes anywhere.
    Inert,
}

/// All of a text.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    /// In order; those that are statements of their own are left out.
    pub(crate) all: Vec<Found>,
    /// The text without comments and without what stands in literals.
    pub(crate) code: String,
    /// Calls, by name, with more than a few positions, or with a spread behind so many.
    pub(crate) calls: Vec<(Span, usize, bool)>,
    /// The most items of a list or tuple whose last is no string.
    pub(crate) longest: usize,
    /// Whether brackets or quotes do not fit, so that none of this can be relied on.
    pub(crate) odd: bool,
}

/// Fewer positions than this are not told of.
const FEW: usize = 8;

/// Words behind which a value begins.
const KEYWORDS: &[&str] = &[
    "and", "assert", "await", "case", "del", "elif", "else", "exec", "from", "if", "in", "is",
    "lambda", "match", "not", "or", "print", "raise", "return", "while", "with", "yield",
];

/// How deep formats are followed into each other.
const DEEPEST: usize = 8;

/// An open bracket.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a bracket may be or hold, and any may come together"
)]
struct Level {
    opener: u8,
    /// What is called with it, if anything.
    callee: Option<Span>,
    commas: usize,
    /// The keyword whose value is being given.
    keyword: Option<Span>,
    /// Whether any was: behind it no position counts.
    named: bool,
    /// How many items came when the last one was seen that is no string.
    other: usize,
    /// Whether it holds parameters with their defaults, which are no arguments.
    defines: bool,
    /// Whether it indexes what stands before it.
    indexes: bool,
    /// Whether something in it gets a name.
    names: bool,
}

struct Pass<'t> {
    text: &'t str,
    at: usize,
    /// Where it ends: the text, or the hole of a format.
    until: usize,
    /// How many formats are around.
    depth: usize,
    levels: Vec<Level>,
    /// The last byte that is neither blank nor comment, and the one before it; a line break where a
    /// statement ends.
    last: [u8; 2],
    word: Span,
    /// Whether that is the name of what is defined here.
    defined: bool,
    /// Whether but for a `+` nothing stands between here and the last literal.
    beside: bool,
    found: Literals,
}

/// Reads them. Total.
pub(crate) fn literals(text: &str) -> Literals {
    let mut pass = Pass::new(text, 0, text.len());
    while pass.step() {}
    pass.found.odd |= !pass.levels.is_empty();
    pass.found
}

impl Level {
    const fn new(opener: u8) -> Self {
        Self {
            opener,
            callee: None,
            commas: 0,
            keyword: None,
            named: false,
            other: 0,
            defines: false,
            indexes: false,
            names: false,
        }
    }
}

impl<'t> Pass<'t> {
    fn new(text: &'t str, at: usize, until: usize) -> Self {
        Self {
            text,
            at,
            until,
            depth: 0,
            levels: Vec::new(),
            last: [b'\n'; 2],
            word: Span::default(),
            defined: false,
            beside: false,
            found: Literals::default(),
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn slice(&self, span: Span) -> &'t str {
        let text = self.text.get(span.start as usize..span.end as usize);
        text.unwrap_or_default()
    }

    /// Goes on by one token; false at the end.
    fn step(&mut self) -> bool {
        let Some(byte) = self.byte(self.at).filter(|_| self.at < self.until) else {
            return false;
        };
        let start = self.at;
        self.at += 1;
        match byte {
            b' ' | b'\t' | b'\x0c' => self.found.code.push(' '),
            b'\n' | b'\r' => {
                self.found.code.push('\n');
                if self.levels.is_empty() {
                    self.note(b'\n');
                } else if self.last[1] == b'=' {
                    // The marks of a merge that failed compare nothing.
                    self.last[0] = b' ';
                }
            }
            b'#' => self.at = self.line_end(start),
            b'\\' => self.skip_break(),
            b'\'' | b'"' => self.literal(start, start),
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            _ if is_word(byte) => self.take_word(start),
            _ => self.sign(byte),
        }
        true
    }

    /// Notes what is neither blank nor a literal.
    fn note(&mut self, byte: u8) {
        self.beside &= byte == b'+' && self.last[1] != b'+';
        self.last = [self.last[1], byte];
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr2(b'\n', b'\r', rest).map_or(self.text.len(), |length| from + length)
    }

    /// A line break behind a backslash ends nothing.
    fn skip_break(&mut self) {
        self.found.code.push(' ');
        self.at += match (self.byte(self.at), self.byte(self.at + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(b'\n' | b'\r'), _) => 1,
            _ => 0,
        };
        // What follows goes on with the line, even where it is the first thing of it.
        if self.last[1] == b'\n' {
            self.last[1] = b'\\';
        }
    }

    fn open(&mut self, byte: u8) {
        let called = byte == b'(' && matches!(self.last[1], b'a' | b')' | b']' | b'}' | b'"');
        let name = if self.last[1] == b'a' {
            self.word
        } else {
            Span::default()
        };
        self.levels.push(Level {
            callee: called.then_some(name),
            defines: self.defined && byte == b'(',
            indexes: byte == b'[' && self.is_value(),
            ..Level::new(byte)
        });
        self.found.code.push(char::from(byte));
        self.note(byte);
    }

    /// Whether a value stands before what opens here, which may be indexed.
    fn is_value(&self) -> bool {
        match self.last[1] {
            b')' | b']' | b'}' | b'"' => true,
            b'a' => !KEYWORDS.contains(&self.slice(self.word)),
            _ => false,
        }
    }

    fn close(&mut self, byte: u8) {
        let opener = match byte {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        match self.levels.pop() {
            Some(level) => {
                self.found.odd |= level.opener != opener;
                self.count(level, false);
            }
            None => self.found.odd = true,
        }
        self.found.code.push(char::from(byte));
        self.note(byte);
    }

    fn count(&mut self, level: Level, spreads: bool) {
        match level.callee {
            Some(name) if level.commas + 1 >= FEW || spreads => {
                self.found.calls.push((name, level.commas + 1, spreads));
            }
            Some(_) => {}
            None if level.opener == b'{' => {}
            None => self.found.longest = self.found.longest.max(level.other),
        }
    }

    fn sign(&mut self, byte: u8) {
        let next = self.byte(self.at);
        if byte == b'=' && self.last[1] == b':' {
            self.change(|level| level.names = true);
        }
        if let Some(level) = self.levels.last().copied() {
            let call = level.callee.is_some();
            let spreads = call && matches!(self.last[1], b'(' | b',') && next != Some(b'*');
            match byte {
                b'*' if spreads => self.count(level, true),
                b'=' if call && next != Some(b'=') && self.last[1] == b'a' => {
                    let word = self.word;
                    self.change(|level| {
                        level.keyword = Some(word);
                        level.named = true;
                    });
                }
                b',' => self.change(|level| {
                    level.keyword = None;
                    level.commas += usize::from(!level.named);
                }),
                _ => {}
            }
        }
        self.found.code.push(char::from(byte));
        self.note(byte);
    }

    fn change(&mut self, with: impl FnOnce(&mut Level)) {
        if let Some(level) = self.levels.last_mut() {
            with(level);
        }
    }

    fn take_word(&mut self, start: usize) {
        while self.byte(self.at).is_some_and(is_word) {
            self.at += 1;
        }
        let span = Span::new(start, self.at);
        let word = self.slice(span);
        if is_prefix(word.as_bytes()) && matches!(self.byte(self.at), Some(b'\'' | b'"')) {
            let quote = self.at;
            self.at += 1;
            self.literal(start, quote);
            return;
        }
        self.found.code.push_str(word);
        self.defined = matches!(self.slice(self.word), "def" | "class") && self.last[1] == b'a';
        self.word = span;
        self.change(|level| {
            level.other = level.commas + 1;
            level.defines |= word == "lambda";
        });
        self.note(b'a');
    }

    /// Takes the literal whose prefix starts at `start` and whose first quote is at `quote`.
    fn literal(&mut self, start: usize, quote: usize) {
        let prefix = self.text.get(start..quote).unwrap_or_default();
        let format = prefix.contains(['f', 'F', 't', 'T']);
        let (end, closed) = end(self.text.as_bytes(), quote, format);
        self.at = end;
        self.found.odd |= !closed;
        let literal = open(self.text, Span::new(start, end));
        self.found.code.push_str("\"\"");
        let (holes, unclosed) = holes_and_rest(self.text, literal);
        self.found.odd |= unclosed;
        for hole in holes {
            self.hole(&hole);
        }
        // The next one, on a line of its own too, is no part of one that is a statement.
        if self.last[1] == b'\n' && self.levels.is_empty() && self.ends_line() {
            return;
        }
        if self.is_beyond() {
            self.last = [self.last[1], b'"'];
            self.beside = true;
            return;
        }
        let mut pieces = Vec::new();
        cook(self.text, literal, literal.body, &mut pieces);
        let text = pieces.into_iter().filter_map(|piece| match piece {
            Piece::Text { text, .. } => Some(text),
            Piece::Hole { .. } => None,
        });
        let found = Found {
            text: text.collect(),
            joins: self.beside,
            // What is added to a variable may go on with it.
            follows: self.last[1] == b'+' || self.last == *b"+=",
            role: self.role(),
        };
        self.found.all.push(found);
        self.last = [self.last[1], b'"'];
        self.beside = true;
    }

    /// Whether it stands where no list is read any more: tables of words are long.
    fn is_beyond(&self) -> bool {
        let level = self.levels.last();
        let item = level.filter(|level| level.callee.is_none() && level.commas >= MAX_ITEMS);
        // Of a dictionary each key is looked at.
        item.is_some_and(|level| {
            level.opener != b'{' || self.last[1] == b',' && self.next() != Some(b':')
        })
    }

    /// Reads the code that a format puts in: it is code like any other.
    fn hole(&mut self, hole: &Hole) {
        if self.depth >= DEEPEST {
            self.found.odd = true;
            return;
        }
        let mut inner = Pass {
            depth: self.depth + 1,
            levels: vec![Level::new(b'(')],
            last: [b'\n', b'('],
            found: std::mem::take(&mut self.found),
            ..Pass::new(
                self.text,
                hole.value.start as usize,
                hole.value.end as usize,
            )
        };
        inner.found.code.push('(');
        while inner.step() {}
        inner.found.code.push(')');
        inner.found.odd |= inner.levels.len() != 1;
        self.found = inner.found;
        for nested in &hole.nested {
            self.hole(nested);
        }
    }

    /// What follows, behind blanks.
    fn rest(&self) -> &'t [u8] {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
        rest.get(blanks.count()..).unwrap_or_default()
    }

    /// The next byte that is no blank.
    fn next(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// Whether nothing but a comment follows on this line.
    fn ends_line(&self) -> bool {
        matches!(self.next(), None | Some(b'\n' | b'\r' | b'#'))
    }
}
