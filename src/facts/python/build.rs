//! What every Python reader shares: the tree under construction and the lowering that needs no
//! syntax. A reader hands over nodes and spans, so that two readers cannot differ here.

mod annotation;

use unicode_normalization::UnicodeNormalization;

use super::literal;
use crate::facts::tree::{
    Comment, CommentKind, Fault, Form, Id, Import, Kind, MAX_DEPTH, Op, Piece, Statement, Tree,
};
use crate::source::Span;

/// How deep a reader may recurse. One step of it makes at most four levels of the tree.
pub(super) const DEEPEST: usize = MAX_DEPTH / 4 - 8;

/// Up to which depth a block takes in what was too deep to stand in its place.
pub(super) const SHALLOW: usize = DEEPEST / 2;

/// A tree under construction.
pub(super) struct Build<'a> {
    /// The file's text.
    pub(super) text: &'a str,
    /// What is there so far.
    pub(super) tree: Tree,
    /// How deep the reader has recursed.
    pub(super) depth: usize,
}

impl<'a> Build<'a> {
    /// An empty tree over `text`.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            tree: Tree::default(),
            depth: 0,
        }
    }

    /// The text of `span`.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// Adds a node.
    pub(super) fn add(&mut self, kind: Kind, span: Span) -> Id {
        self.tree.add(kind, span)
    }

    /// Adds a node that says nothing.
    pub(super) fn nothing(&mut self, span: Span) -> Id {
        self.add(Kind::Other(Vec::new()), span)
    }

    /// Adds an identifier.
    pub(super) fn name(&mut self, raw: &str, span: Span) -> Id {
        self.add(Kind::Name(normal(raw)), span)
    }

    /// Adds `base.raw`.
    pub(super) fn attribute(&mut self, base: Id, raw: &str, name_span: Span, span: Span) -> Id {
        let kind = Kind::Attr {
            base,
            name: normal(raw),
            name_span,
            path: false,
        };
        self.add(kind, span)
    }

    /// Adds an integer literal as it is written; any other number says nothing.
    pub(super) fn number(&mut self, span: Span) -> Id {
        match integer(self.slice(span)) {
            Some(value) => self.add(Kind::Int(value), span),
            None => self.nothing(span),
        }
    }

    /// Adds `-operand`.
    pub(super) fn negative(&mut self, operand: Id, span: Span) -> Id {
        match self.tree.node(operand).kind {
            Kind::Int(value) if value >= 0 => self.add(Kind::Int(-value), span),
            _ => self.add(Kind::Other(vec![operand]), span),
        }
    }

    /// Adds a comparison of `operands`, where `ops` stand between them.
    pub(super) fn comparison(&mut self, operands: &[Id], ops: &[Op], span: Span) -> Id {
        match (operands, ops) {
            ([left, right], [op]) => self.add(
                Kind::Binary {
                    op: *op,
                    left: *left,
                    right: *right,
                },
                span,
            ),
            ([left, right, rest @ ..], _) => {
                let (left, right) = (*left, *right);
                let both = self.tree.node(left).span.to(self.tree.node(right).span);
                let mut parts = vec![self.add(
                    Kind::Binary {
                        op: Op::Other,
                        left,
                        right,
                    },
                    both,
                )];
                parts.extend(rest);
                self.add(Kind::Other(parts), span)
            }
            _ => self.add(Kind::Other(operands.to_vec()), span),
        }
    }

    /// Adds `target op= value`. A target that is more than a path is not said twice.
    pub(super) fn augmented(&mut self, target: Id, op: Op, value: Id, span: Span) -> Id {
        let left = if self.is_path(target) {
            target
        } else {
            let own = self.tree.node(target).span;
            self.nothing(own)
        };
        let binary = self.add(
            Kind::Binary {
                op,
                left,
                right: value,
            },
            span,
        );
        self.bind(vec![target], Some(binary), None, span)
    }

    /// Adds a binding.
    pub(super) fn bind(
        &mut self,
        targets: Vec<Id>,
        value: Option<Id>,
        annotation: Option<Id>,
        span: Span,
    ) -> Id {
        self.add(
            Kind::Bind {
                targets,
                value,
                annotation,
            },
            span,
        )
    }

    /// Adds the binding of a loop's variable to some element of `over`.
    pub(super) fn each(&mut self, target: Id, over: Id, span: Span) -> Id {
        let own = self.tree.node(over).span;
        let value = self.add(
            Kind::Index {
                base: over,
                index: None,
            },
            own,
        );
        self.bind(vec![target], Some(value), None, span)
    }

    /// Adds an item of a `with`: the block works with what `__enter__` gives.
    pub(super) fn entered(&mut self, value: Id, target: Option<Id>) -> Id {
        let span = self.tree.node(value).span;
        let callee = self.attribute(value, "__enter__", span, span);
        let kind = Kind::Call {
            callee,
            args: Vec::new(),
            form: Form::Call,
        };
        let entered = self.add(kind, span);
        match target {
            None => entered,
            Some(target) => {
                let both = span.to(self.tree.node(target).span);
                self.bind(vec![target], Some(entered), None, both)
            }
        }
    }

    /// Adds a comprehension: its bindings and conditions, then its element.
    pub(super) fn comprehension(&mut self, mut steps: Vec<Id>, element: Kind, span: Span) -> Id {
        let value = self.add(element, span);
        steps.push(self.add(Kind::Tail(value), span));
        self.add(Kind::Block(steps), span)
    }

    /// Adds a chain of tests with their bodies, of which the first that holds is run, else `last`.
    /// Only `room` of them are nested; the rest lies flat.
    pub(super) fn chain(
        &mut self,
        branches: &[(Id, Id, Span)],
        last: Option<Id>,
        room: usize,
    ) -> Option<Id> {
        let (near, far) = branches.split_at(room.min(branches.len()));
        let mut otherwise = last;
        if let Some((_, _, span)) = far.first() {
            let parts = far
                .iter()
                .flat_map(|(test, then, _)| [*test, *then])
                .chain(last);
            otherwise = Some(self.add(Kind::Other(parts.collect()), *span));
        }
        for (test, then, span) in near.iter().rev() {
            let kind = Kind::If {
                test: *test,
                then: *then,
                otherwise,
            };
            otherwise = Some(self.add(kind, *span));
        }
        otherwise
    }

    /// Goes one step down without recursing: the next branch of a chain stands deeper.
    pub(super) fn deeper(&mut self) {
        self.depth = DEEPEST.min(self.depth + 1);
    }

    /// Notes a statement.
    pub(super) fn statement(&mut self, span: Span, header: Span) {
        self.tree.statements.push(Statement { span, header });
    }

    /// Notes a comment.
    pub(super) fn comment(&mut self, span: Span) {
        let before = self.text.get(..span.start as usize).unwrap_or_default();
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let own_line = line
            .chars()
            .all(|char| char.is_whitespace() || char == '\u{feff}');
        let doc = self.slice(span).starts_with("#:");
        let kind = if doc {
            CommentKind::Doc
        } else {
            CommentKind::Line
        };
        self.tree.comments.push(Comment {
            span,
            kind,
            own_line,
        });
    }

    /// Notes the first statement of a body as documentation, if it is a plain string.
    pub(super) fn doc(&mut self, first: Option<Id>) {
        let Some(node) = first.map(|id| self.tree.node(id)) else {
            return;
        };
        let Kind::Text(pieces) = &node.kind else {
            return;
        };
        let plain = pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Text { .. }));
        let literal = literal::open(self.text, node.span);
        if plain && !literal.bytes && !literal.format {
            let span = node.span;
            self.tree.docs.push(span);
        }
    }

    /// Adds the pieces of the string literal at `span`, whose holes have the given values.
    pub(super) fn pieces(&self, span: Span, holes: &[(Span, Option<Id>)], pieces: &mut Vec<Piece>) {
        let literal = literal::open(self.text, span);
        let mut at = literal.body.start;
        for (span, value) in holes {
            let before = Span {
                start: at,
                end: span.start,
            };
            literal::cook(self.text, literal, before, pieces);
            pieces.push(Piece::Hole {
                value: *value,
                span: *span,
            });
            at = span.end;
        }
        let rest = Span {
            start: at,
            end: literal.body.end,
        };
        literal::cook(self.text, literal, rest, pieces);
    }

    /// The finished tree.
    pub(super) fn finish(mut self, root: Id, fault: Option<Fault>) -> Tree {
        let order = |span: Span| (span.start, std::cmp::Reverse(span.end));
        self.tree.statements.sort_by_key(|own| order(own.span));
        self.tree.comments.sort_by_key(|own| order(own.span));
        self.tree.docs.sort_by_key(|own| order(*own));
        // A file is all of its text, whatever its first statement is.
        self.tree.nodes[root.0 as usize].span = Span::new(0, self.text.len());
        self.tree.root = Some(root);
        self.tree.fault = fault;
        self.tree
    }
}

/// `import a.b as c` binds `c` to `a.b`; `import a.b` binds `a` to `a`.
pub(super) fn import(path: String, alias: Option<String>) -> Import {
    if alias.is_some() {
        return Import { path, name: alias };
    }
    let first = path.split('.').next().unwrap_or_default().to_owned();
    Import {
        path: first.clone(),
        name: Some(first),
    }
}

/// An identifier as Python compares it.
pub(super) fn normal(raw: &str) -> String {
    if raw.is_ascii() {
        raw.to_owned()
    } else {
        raw.nfkc().collect()
    }
}

/// The value of an integer literal, of Python 2 too.
fn integer(text: &str) -> Option<i128> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let text = text.strip_suffix('l').unwrap_or(&text);
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x', ..] => (16, &text[2..]),
        [b'0', b'o', ..] => (8, &text[2..]),
        [b'0', b'b', ..] => (2, &text[2..]),
        [b'0', _, ..] if text.bytes().any(|byte| byte != b'0') => (8, &text[1..]),
        _ => (10, text),
    };
    i128::from_str_radix(digits, radix).ok()
}

/// What `from base import name as alias` imports.
pub(super) fn imported(base: &str, name: &str, alias: Option<String>) -> Import {
    if name == "*" {
        return Import {
            path: base.to_owned(),
            name: None,
        };
    }
    let joint = if base.is_empty() || base.ends_with('.') {
        ""
    } else {
        "."
    };
    let path = format!("{base}{joint}{name}");
    Import {
        path,
        name: Some(alias.unwrap_or_else(|| name.to_owned())),
    }
}
