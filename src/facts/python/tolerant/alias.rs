//! Conditions, and the names that are given to them: tree-sitter hangs a name to the part of the value
//! that stands beside it.

use tree_sitter::Node;

use super::{Tolerant, named, span};
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

impl<'a> Tolerant<'a> {
    /// `a if b else c`, evaluated `b` first; `name := a if b else c`.
    pub(super) fn ternary(&mut self, node: Node<'a>, whole: Span) -> Id {
        let parts = named(node);
        let [mut then, test, otherwise] = *parts else {
            let parts = self.values(&parts);
            return self.b.add(Kind::Other(parts), whole);
        };
        let (mut name, mut start) = (None, whole.start);
        if then.kind() == "named_expression"
            && let [target, value] = *named(then)
        {
            name = Some(self.value(target));
            (then, start) = (value, span(value).start);
        }
        let test = self.value(test);
        let then = self.value(then);
        let kind = Kind::If {
            test,
            then,
            otherwise: Some(self.value(otherwise)),
        };
        let id = self.b.add(kind, Span { start, ..whole });
        match name {
            Some(name) => self.b.bind(vec![name], Some(id), None, whole),
            None => id,
        }
    }

    /// The value of an item of a `with` or `except`, and the node of the name that it gets: it reaches
    /// over the last part of a condition, and over the body of a `lambda`.
    pub(super) fn aliased(&mut self, item: Node<'a>) -> (Id, Option<Node<'a>>) {
        let item = Self::unbracketed(item);
        let own = alias(item);
        let parts = own.map(named).unwrap_or_default();
        let ([inner, target], Some(own)) = (&*parts, own) else {
            return (self.value(item), None);
        };
        let before = self.alias.replace((span(own).end, span(*inner).end));
        let value = self.value(item);
        self.alias = before;
        (value, Some(*target))
    }

    /// The value in `node` if its name belongs to more than that.
    pub(super) fn without_alias(&self, node: Node<'a>) -> Option<Node<'a>> {
        let (end, _) = self.alias?;
        let value = named(node).first().copied();
        value.filter(|_| span(node).end == end)
    }

    /// The span of a node without the name that belongs to more than it.
    pub(super) fn before_alias(&self, own: Span) -> Span {
        match self.alias {
            Some((end, cut)) if end == own.end => Span { end: cut, ..own },
            _ => own,
        }
    }
}

/// The `value as name` in which `node` ends.
fn alias(mut node: Node<'_>) -> Option<Node<'_>> {
    while matches!(node.kind(), "conditional_expression" | "lambda") {
        node = named(node).last().copied()?;
    }
    (node.kind() == "as_pattern").then_some(node)
}
