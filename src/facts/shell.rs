//! Shell text and argv to commands in command position.
//!
//! A text is a row of characters, each with its place in the file, and stays one while quotes come
//! off and inner texts come out. So the words of `bash -c "nohup 'x'"` still know where they stand.

mod code;
mod expand;
mod lex;
mod parse;
mod special;
#[cfg(test)]
mod tests;
mod unfold;
mod wrappers;

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Command, HOLE, ScopeId, Text, Word};
use crate::source::Span;

/// Deepest nesting of texts, substitutions and wrappers that is followed.
const MAX_DEPTH: usize = 24;

/// Where a text or argv stands: goes into every command read from it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The act of spawning.
    pub act: Span,
    /// The body in which it stands.
    pub scope: ScopeId,
}

/// Reads shell text as `shell` (`sh`, `bash`, …) would.
pub fn read(text: &Text, shell: &str, place: Place) -> Vec<Command> {
    let chars = chars(text);
    let mut reader = Reader::new(chars.len(), place);
    reader.text(&chars, shell);
    reader.done()
}

/// Reads an argv: the program, then its arguments.
pub fn argv(words: &[Word], place: Place) -> Vec<Command> {
    simple(words, None, place)
}

/// Reads an argv whose program is fed `stdin`.
pub fn fed(words: &[Word], stdin: &Text, place: Place) -> Vec<Command> {
    simple(words, Some(&chars(stdin)), place)
}

fn simple(words: &[Word], stdin: Option<&[Char]>, place: Place) -> Vec<Command> {
    let tokens: Vec<Token> = words.iter().map(Token::of).collect();
    let length: usize = tokens.iter().map(|token| token.chars.len()).sum();
    let mut reader = Reader::new(length + stdin.map_or(0, <[Char]>::len), place);
    reader.simple(&tokens, stdin);
    reader.done()
}

/// Names of the programs that a shell would run for this text.
pub(crate) fn programs(text: &str) -> Vec<String> {
    let parts = vec![(0, Span::new(0, text.len()))];
    let text = Text {
        text: text.to_owned(),
        parts,
    };
    let place = Place {
        act: Span::default(),
        scope: ScopeId(0),
    };
    let commands = read(&text, "sh", place).into_iter();
    commands.map(|command| command.program).collect()
}

/// Names of the programs that run others which are named among their arguments.
pub(crate) fn carriers() -> impl Iterator<Item = &'static str> {
    wrappers::names().chain(readers())
}

/// Names of those among them that may read an argument as a text.
pub(crate) fn readers() -> impl Iterator<Item = &'static str> {
    special::NAMES.split_whitespace()
}

/// A character and where it is written.
#[derive(Clone, Copy, Debug)]
struct Char {
    ch: char,
    span: Span,
}

fn chars(text: &Text) -> Vec<Char> {
    let place = |(at, ch): (usize, char)| Char {
        ch,
        span: text.span(at, at + ch.len_utf8()),
    };
    text.text.char_indices().map(place).collect()
}

/// The characters as a string.
fn string(chars: &[Char]) -> String {
    chars.iter().map(|own| own.ch).collect()
}

/// From the first character to the last.
fn cover(chars: &[Char]) -> Option<Span> {
    let (first, last) = (chars.first()?, chars.last()?);
    Some(first.span.to(last.span))
}

/// A word as the program gets it: quotes gone, places kept.
#[derive(Clone, Debug, Default)]
struct Token {
    chars: Vec<Char>,
    /// Where it is written, quotes included.
    span: Span,
    /// How many of the first characters stand there without quote or expansion.
    bare: usize,
}

impl Token {
    fn of(word: &Word) -> Self {
        let text = Text {
            text: word.text.clone(),
            parts: if word.parts.is_empty() {
                vec![(0, word.span)]
            } else {
                word.parts.clone()
            },
        };
        Self {
            chars: chars(&text),
            span: word.span,
            bare: 0,
        }
    }

    fn text(&self) -> String {
        string(&self.chars)
    }

    fn word(&self) -> Word {
        Word {
            text: self.text(),
            span: cover(&self.chars).unwrap_or(self.span),
            parts: Vec::new(),
        }
    }
}

/// What is known while a text is read, inner texts included.
struct Reader {
    place: Place,
    out: Vec<Command>,
    /// Variables that hold a constant.
    vars: BTreeMap<String, Vec<Char>>,
    /// Functions that hide programs of their name.
    functions: BTreeSet<String>,
    /// Characters that may still be read, so that no text takes for ever.
    budget: usize,
    depth: usize,
    shell: String,
}

impl Reader {
    fn new(size: usize, place: Place) -> Self {
        Self {
            place,
            out: Vec::new(),
            vars: BTreeMap::new(),
            functions: BTreeSet::new(),
            budget: size.saturating_mul(32).saturating_add(65_536),
            depth: 0,
            shell: String::new(),
        }
    }

    /// Takes `amount` from the budget; false when there is not so much left.
    fn afford(&mut self, amount: usize) -> bool {
        let left = self.budget.checked_sub(amount);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }

    /// Reads an inner text as `shell` would.
    fn text(&mut self, chars: &[Char], shell: &str) {
        if self.depth >= MAX_DEPTH || !self.afford(chars.len()) {
            return;
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.shell, shell.to_owned());
        parse::run(self, chars);
        self.shell = outer;
        self.depth -= 1;
    }

    /// Commands with an unknown program count only for the `&` behind them.
    fn done(mut self) -> Vec<Command> {
        self.out
            .retain(|command| !command.program.contains(HOLE) || command.background.is_some());
        self.out
    }
}
