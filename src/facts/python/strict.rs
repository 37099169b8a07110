//! rustpython's syntax tree to the small tree: the judge, where it understands the file.
//!
//! Each match names every variant, so that a new one fails to compile instead of being skipped.

mod definitions;
mod expressions;
mod patterns;
mod statements;

use std::collections::{BTreeMap, VecDeque};

use rustpython_parser::ast::{self, Expr, Ranged, Stmt};
use rustpython_parser::{Mode, Parse};

use super::build::{Build, DEEPEST, SHALLOW};
use super::tokens::{Marks, lex, span};
use super::{Code, build, literal};
use crate::facts::tree::{Id, Kind, Tree};
use crate::source::Span;

/// Reads it; `None` if it is not what rustpython takes for Python.
pub(super) fn read(code: &Code<'_>) -> Option<Tree> {
    let parsed = parse(code)?;
    let mut strict = Strict {
        b: Build::new(code.text),
        parsed: &parsed,
        late: VecDeque::new(),
    };
    for comment in code.comments.iter().chain(&parsed.marks.comments) {
        strict.b.comment(*comment);
    }
    let root = strict.body(&parsed.body);
    Some(strict.b.finish(root, None))
}

/// A file, parsed.
struct Parsed {
    body: Vec<Stmt>,
    marks: Marks,
    /// The values in f-strings by where they start. The parser's own have unreliable places.
    holes: BTreeMap<u32, Expr>,
}

fn parse(code: &Code<'_>) -> Option<Parsed> {
    let text = code.text;
    let mut marks = Marks::default();
    let tokens = lex(&code.parsed, Mode::Module, 0, &mut marks)?;
    let body = ast::Suite::parse_tokens(tokens, "").ok()?;
    let mut holes = BTreeMap::new();
    let mut seen = 0;
    // The literals inside holes are found on the way and visited in their turn.
    while let Some(own) = marks.strings.get(seen).copied() {
        seen += 1;
        let mut todo = literal::holes(text, literal::open(text, own));
        while let Some(hole) = todo.pop() {
            holes.insert(hole.value.start, expression(text, hole.value, &mut marks)?);
            todo.extend(hole.nested);
        }
    }
    marks.strings.sort();
    Some(Parsed { body, marks, holes })
}

/// Parses the expression at `span`, in brackets so that it may hold line breaks.
fn expression(text: &str, span: Span, marks: &mut Marks) -> Option<Expr> {
    let code = format!("({})", text.get(span.start as usize..span.end as usize)?);
    let tokens = lex(&code, Mode::Expression, span.start.checked_sub(1)?, marks)?;
    Expr::parse_tokens(tokens, "").ok()
}

/// What was too deep to stand in its place.
enum Late<'a> {
    Value(&'a Expr),
    Body(&'a [Stmt]),
}

struct Strict<'a> {
    b: Build<'a>,
    parsed: &'a Parsed,
    late: VecDeque<Late<'a>>,
}

impl<'a> Strict<'a> {
    /// A body that may be documented.
    fn body(&mut self, body: &'a [Stmt]) -> Id {
        let id = self.block(body);
        if let (Some(Stmt::Expr(_)), Kind::Block(nodes)) =
            (body.first(), &self.b.tree.node(id).kind)
        {
            let first = nodes.first().copied();
            self.b.doc(first);
        }
        id
    }

    fn block(&mut self, body: &'a [Stmt]) -> Id {
        let ends = body.first().zip(body.last());
        let start = ends.map_or(0, |(first, _)| self.start(first));
        let end = ends.map_or(start, |(_, last)| span(last.range()).end);
        let mut nodes = Vec::new();
        if self.b.depth >= DEEPEST {
            self.late.push_back(Late::Body(body));
        } else {
            self.b.depth += 1;
            for statement in body {
                self.statement(statement, &mut nodes);
            }
            self.take_late(&mut nodes);
            self.b.depth -= 1;
        }
        self.b.add(Kind::Block(nodes), Span { start, end })
    }

    fn take_late(&mut self, nodes: &mut Vec<Id>) {
        while self.b.depth <= SHALLOW {
            match self.late.pop_front() {
                Some(Late::Value(value)) => nodes.push(self.value(value)),
                Some(Late::Body(body)) => {
                    for statement in body {
                        self.statement(statement, nodes);
                    }
                }
                None => return,
            }
        }
    }

    /// Where a statement starts, its decorators included.
    fn start(&self, statement: &Stmt) -> u32 {
        let decorators = match statement {
            Stmt::FunctionDef(own) => own.decorator_list.first(),
            Stmt::AsyncFunctionDef(own) => own.decorator_list.first(),
            Stmt::ClassDef(own) => own.decorator_list.first(),
            _ => None,
        };
        let first = decorators.map(|first| span(first.range()).start);
        let sign = first.and_then(|first| self.parsed.marks.decorator(first));
        sign.unwrap_or(span(statement.range()).start)
    }

    /// Notes a compound statement whose keyword stands at `keyword`.
    fn compound(&mut self, start: u32, keyword: u32, end: u32) {
        let header = self.parsed.marks.colon(keyword).unwrap_or(end);
        self.b
            .statement(Span { start, end }, Span { start, end: header });
    }

    /// Lowers the body of an `else`, `finally` or `case`, which is a statement of its own.
    fn clause(&mut self, body: &'a [Stmt]) -> Option<Id> {
        self.open_clause(body)?;
        Some(self.block(body))
    }

    /// Notes the clause that opens `body`, and gives its span.
    fn open_clause(&mut self, body: &'a [Stmt]) -> Option<Span> {
        let (first, last) = body.first().zip(body.last())?;
        let start = self.start(first);
        let start = self.parsed.marks.clause(start).unwrap_or(start);
        let end = span(last.range()).end;
        self.compound(start, start, end);
        Some(Span { start, end })
    }

    /// The identifier at the end of `span`, which the syntax tree gives no place.
    fn last_word(&self, span: Span) -> Span {
        let text = self.b.slice(span);
        let part = |char: &char| char.is_alphanumeric() || *char == '_' || !char.is_ascii();
        let length: usize = text
            .chars()
            .rev()
            .take_while(part)
            .map(char::len_utf8)
            .sum();
        Span {
            start: span.end - u32::try_from(length).unwrap_or(0),
            end: span.end,
        }
    }

    /// Adds the name at the end of `span`.
    fn last_name(&mut self, name: &ast::Identifier, span: Span) -> Id {
        let own = self.last_word(span);
        self.b.name(name.as_str(), own)
    }
}

/// An identifier as Python compares it.
fn normal(name: &ast::Identifier) -> String {
    build::normal(name.as_str())
}
