//! What the strict reader and the token scan share: the tree in the making.

use crate::facts::rust::lexer::{Class, Lexed};
use crate::facts::rust::literal::{self, Literal, Part};
use crate::facts::tree::{Arg, Form, Id, Kind, MAX_DEPTH, Spread, Statement, Tree};
use crate::source::Span;

/// Deepest nesting at which structure is kept; what is deeper is hung flat, with some room for the
/// few nodes that a flat part needs.
pub(super) const LIMIT: usize = MAX_DEPTH - 12;

/// A tree in the making.
pub(super) struct Reader<'s> {
    /// The text and its tokens.
    pub(super) lexed: &'s Lexed,
    /// What was built.
    pub(super) tree: Tree,
    /// How deep the node in the making will lie.
    pub(super) depth: usize,
    /// Expressions from places that have none in the tree (array lengths, const generics), to be
    /// added to the block around them.
    pub(super) stray: Vec<Id>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(lexed: &'s Lexed) -> Self {
        Self {
            lexed,
            tree: Tree::default(),
            depth: 2,
            stray: Vec::new(),
        }
    }

    /// Adds a node.
    pub(super) fn add(&mut self, kind: Kind, span: Span) -> Id {
        self.tree.add(kind, span)
    }

    /// Where a node stands.
    pub(super) fn span(&self, id: Id) -> Span {
        self.tree.node(id).span
    }

    /// A node that says nothing.
    pub(super) fn nothing(&mut self, span: Span) -> Id {
        self.add(Kind::Other(Vec::new()), span)
    }

    /// One node as itself, several as parts.
    pub(super) fn join(&mut self, ids: Vec<Id>, span: Span) -> Id {
        match ids.as_slice() {
            [id] => *id,
            _ => self.add(Kind::Other(ids), span),
        }
    }

    /// Runs `build` for children that lie `levels` deeper.
    pub(super) fn below<T>(&mut self, levels: usize, build: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += levels;
        let built = build(self);
        self.depth -= levels;
        built
    }

    /// Notes a statement. `header` is where its header ends, if it has a body.
    pub(super) fn statement(&mut self, start: usize, end: usize, header: Option<usize>) {
        let header = Span::new(start, header.unwrap_or(end).max(start));
        self.tree.statements.push(Statement {
            span: Span::new(start, end.max(start)),
            header,
        });
    }

    /// The path of identifiers, from its first name on. Of a path that is too long to be one, the
    /// first names and the last are kept.
    pub(super) fn names(&mut self, base: Option<Id>, names: &[(String, Span)]) -> Option<Id> {
        const MOST: usize = 8;
        let last = names.len().checked_sub(1);
        let mut path = base;
        for (index, (name, span)) in names.iter().enumerate() {
            if index + 1 >= MOST && Some(index) != last {
                continue;
            }
            path = Some(match path {
                None => self.add(Kind::Name(name.clone()), *span),
                Some(base) => {
                    let whole = self.span(base).to(*span);
                    self.add(
                        Kind::Attr {
                            base,
                            name: name.clone(),
                            name_span: *span,
                            path: true,
                        },
                        whole,
                    )
                }
            });
        }
        path
    }

    /// `base.name`.
    pub(super) fn member(&mut self, base: Id, name: String, name_span: Span) -> Id {
        let span = self.span(base).to(name_span);
        self.add(
            Kind::Attr {
                base,
                name,
                name_span,
                path: false,
            },
            span,
        )
    }

    /// `callee(args)` up to the byte `end`.
    pub(super) fn call(&mut self, callee: Id, args: Vec<Arg>, form: Form, end: usize) -> Id {
        let span = self.span(callee).to(Span::new(end, end));
        self.add(Kind::Call { callee, args, form }, span)
    }

    /// A plain argument.
    pub(super) fn arg(&self, value: Id) -> Arg {
        Arg {
            name: None,
            spread: Spread::No,
            value,
            span: self.span(value),
        }
    }

    /// The literal written at `span`.
    pub(super) fn literal(&mut self, span: Span) -> Id {
        let kind = match self.read_literal(span, false) {
            Literal::Int(value) => Kind::Int(value),
            Literal::Text(parts) => Kind::Text(parts.into_iter().map(Part::piece).collect()),
            Literal::Other => Kind::Other(Vec::new()),
        };
        self.add(kind, span)
    }

    /// The value of the literal written at `span`.
    pub(super) fn read_literal(&self, span: Span, format: bool) -> Literal {
        let start = span.start as usize;
        let text = self
            .lexed
            .text
            .get(start..span.end as usize)
            .unwrap_or_default();
        literal::read(text, start, format)
    }

    /// All calls and strings between two tokens, however deep, side by side: what is done where the
    /// tree may not grow deeper.
    pub(super) fn flat(&mut self, from: usize, to: usize, span: Span) -> Id {
        let mut found = Vec::new();
        for index in from..to.min(self.lexed.tokens.len()) {
            let Some(token) = self.lexed.tokens.get(index).copied() else {
                break;
            };
            match token.class {
                Class::Literal => found.push(self.literal(token.span())),
                Class::Open if token.sign == b'(' => found.extend(self.flat_call(from, index)),
                _ => {}
            }
        }
        self.add(Kind::Other(found), span)
    }

    /// The call whose argument list opens at `open`, without its arguments.
    fn flat_call(&mut self, from: usize, open: usize) -> Option<Id> {
        let lexed = self.lexed;
        let mut first = open.checked_sub(1).filter(|last| *last >= from)?;
        let mut names = Vec::new();
        loop {
            let word = lexed.word(first)?.to_owned();
            names.push((word, lexed.tokens.get(first)?.span()));
            let colons = first
                .checked_sub(2)
                .filter(|at| *at > from && lexed.signs(*at, "::"));
            match colons.and_then(|at| at.checked_sub(1)) {
                // Only so many names are looked at, so that a hostile text costs no square.
                Some(before) if names.len() < 8 && lexed.word(before).is_some() => first = before,
                _ => break,
            }
        }
        names.reverse();
        let before = first.checked_sub(1).filter(|at| *at >= from);
        if before.is_some_and(|at| lexed.word(at) == Some("fn")) {
            return None;
        }
        let callee = if before.is_some_and(|at| lexed.signs(at, ".")) {
            let (name, span) = names.first()?.clone();
            let base = self.nothing(Span {
                start: span.start,
                end: span.start,
            });
            self.member(base, name, span)
        } else {
            self.names(None, &names)?
        };
        let end = lexed.tokens.get(open)?.end;
        Some(self.call(callee, Vec::new(), Form::Call, end))
    }

    /// [`Self::flat`] for bytes.
    pub(super) fn flat_bytes(&mut self, span: Span) -> Id {
        let from = self.lexed.token_at(span.start as usize);
        let to = self.lexed.token_at(span.end as usize);
        self.flat(from, to, span)
    }
}
