//! rustpython's tokens: what its syntax tree leaves out (comments, keywords, colons, literals), and
//! whether its parser can take the file without running out of stack.

use rustpython_parser::lexer::{LexResult, lex_starts_at};
use rustpython_parser::text_size::{TextRange, TextSize};
use rustpython_parser::{Mode, Tok};

use crate::source::Span;

/// `CPython` itself opens no more brackets than this.
const BRACKETS: usize = 200;
/// `CPython` itself indents no deeper than this.
const INDENTS: usize = 100;
/// How many tokens may follow one another without a comma, or clauses without a new statement:
/// a bound for the depth of the syntax tree, whose `drop` recurses.
const CHAIN: usize = 2000;

/// Places of tokens, each kind in source order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Comments.
    pub(super) comments: Vec<Span>,
    /// String literals, one for each even if adjacent.
    pub(super) strings: Vec<Span>,
    /// Ends of the colons that open a body.
    colons: Vec<u32>,
    /// Those of them that a comma stands before.
    commas: Vec<u32>,
    /// Starts of `else`, `except`, `finally`, `case`.
    clauses: Vec<u32>,
    /// Starts of the `@` of decorators.
    decorators: Vec<u32>,
    /// Names after `def` and `class`.
    names: Vec<Span>,
}

impl Marks {
    /// The end of the first colon at or after `start` that opens a body.
    pub(super) fn colon(&self, start: u32) -> Option<u32> {
        let index = self.colons.partition_point(|end| *end <= start);
        self.colons.get(index).copied()
    }

    /// Whether a comma stands before the colon that opens the body of the statement at `start`.
    pub(super) fn ends_in_comma(&self, start: u32) -> bool {
        let colon = self.colon(start);
        colon.is_some_and(|end| self.commas.binary_search(&end).is_ok())
    }

    /// The start of the last clause before `body`.
    pub(super) fn clause(&self, body: u32) -> Option<u32> {
        before(&self.clauses, body)
    }

    /// The start of the decorator whose expression starts at `expression`.
    pub(super) fn decorator(&self, expression: u32) -> Option<u32> {
        before(&self.decorators, expression)
    }

    /// The name that is defined by the statement that starts at `start`.
    pub(super) fn name(&self, start: u32) -> Option<Span> {
        let index = self.names.partition_point(|span| span.start < start);
        self.names.get(index).copied()
    }

    /// The string literals inside `span`, those in holes of others left out.
    pub(super) fn literals(&self, span: Span) -> Vec<Span> {
        let first = self.strings.partition_point(|own| own.start < span.start);
        let mut end = span.start;
        let mut found = Vec::new();
        for own in self
            .strings
            .iter()
            .skip(first)
            .take_while(|own| own.end <= span.end)
        {
            if own.start >= end {
                end = own.end;
                found.push(*own);
            }
        }
        found
    }
}

fn before(places: &[u32], at: u32) -> Option<u32> {
    let index = places.partition_point(|place| *place < at);
    places.get(index.checked_sub(1)?).copied()
}

/// `range` as a span.
pub(super) fn span(range: TextRange) -> Span {
    Span {
        start: range.start().into(),
        end: range.end().into(),
    }
}

/// Lexes `text`, which starts at `offset` of the file, and notes its marks. `None` if it is no
/// Python, or too deep.
pub(super) fn lex(
    text: &str,
    mode: Mode,
    offset: u32,
    marks: &mut Marks,
) -> Option<Vec<LexResult>> {
    let mut tokens = Vec::new();
    let mut state = State::default();
    for token in lex_starts_at(text, mode, TextSize::from(offset)) {
        let (kind, range) = token.ok()?;
        state.see(&kind, span(range), marks)?;
        if !matches!(kind, Tok::Comment(_) | Tok::NonLogicalNewline) {
            tokens.push(Ok((kind, range)));
        }
    }
    Some(tokens)
}

struct State {
    /// Tokens since the last comma, for each open bracket.
    runs: Vec<usize>,
    total: usize,
    /// Clauses in a row, for each open indent.
    chains: Vec<usize>,
    chained: usize,
    lambdas: Vec<usize>,
    line_start: bool,
    define: bool,
    /// Whether the token before was a comma.
    comma: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            runs: vec![0],
            total: 0,
            chains: vec![0],
            chained: 0,
            lambdas: Vec::new(),
            line_start: true,
            define: false,
            comma: false,
        }
    }
}

impl State {
    fn see(&mut self, token: &Tok, span: Span, marks: &mut Marks) -> Option<()> {
        match token {
            Tok::Comment(_) => {
                marks.comments.push(span);
                return Some(());
            }
            Tok::NonLogicalNewline => return Some(()),
            _ => {}
        }
        self.mark(token, span, marks);
        self.measure(token);
        self.line_start = matches!(token, Tok::Newline | Tok::Indent | Tok::Dedent);
        let shallow = self.runs.len() <= BRACKETS + 1 && self.chains.len() <= INDENTS + 1;
        (shallow && self.total <= CHAIN && self.chained <= CHAIN / 4).then_some(())
    }

    fn mark(&mut self, token: &Tok, span: Span, marks: &mut Marks) {
        let depth = self.runs.len();
        match token {
            Tok::String { .. } => marks.strings.push(span),
            Tok::Lambda => self.lambdas.push(depth),
            Tok::Colon if self.lambdas.last() == Some(&depth) => {
                self.lambdas.pop();
            }
            Tok::Colon if depth == 1 => {
                marks.colons.push(span.end);
                if self.comma {
                    marks.commas.push(span.end);
                }
            }
            Tok::Else | Tok::Except | Tok::Finally | Tok::Case if self.line_start => {
                marks.clauses.push(span.start);
            }
            Tok::At if self.line_start => marks.decorators.push(span.start),
            Tok::Name { .. } if self.define => marks.names.push(span),
            _ => {}
        }
        self.define = matches!(token, Tok::Def | Tok::Class);
        self.comma = matches!(token, Tok::Comma);
    }

    fn measure(&mut self, token: &Tok) {
        if self.line_start && !matches!(token, Tok::Newline | Tok::Indent | Tok::Dedent) {
            let clause = matches!(token, Tok::Elif | Tok::Else | Tok::Except | Tok::Finally);
            let own = self.chains.last().copied().unwrap_or_default();
            self.chained = self.chained.saturating_sub(own);
            let next = if clause { own + 1 } else { 0 };
            if let Some(last) = self.chains.last_mut() {
                *last = next;
            }
            self.chained += next;
        }
        match token {
            Tok::Lpar | Tok::Lsqb | Tok::Lbrace => {
                self.count();
                self.runs.push(0);
            }
            Tok::Rpar | Tok::Rsqb | Tok::Rbrace => {
                if self.runs.len() > 1 {
                    self.total -= self.runs.pop().unwrap_or_default();
                }
            }
            Tok::Comma | Tok::Newline | Tok::Semi => {
                if let Some(last) = self.runs.last_mut() {
                    self.total -= *last;
                    *last = 0;
                }
            }
            Tok::Indent => self.chains.push(0),
            Tok::Dedent => {
                if self.chains.len() > 1 {
                    self.chained -= self.chains.pop().unwrap_or_default();
                }
            }
            _ => self.count(),
        }
    }

    fn count(&mut self) {
        self.total += 1;
        if let Some(last) = self.runs.last_mut() {
            *last += 1;
        }
    }
}
