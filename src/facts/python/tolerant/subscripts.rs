//! What stands in brackets behind an expression, and the star that tree-sitter puts before a part of one.

use tree_sitter::Node;

use super::{Child, Tolerant, children, field, fields, named, span};
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

impl<'a> Tolerant<'a> {
    pub(super) fn subscript(&mut self, own: &[Child<'a>], whole: Span) -> Id {
        let base = field(own, "value").map(|base| self.value(base));
        let base = base.unwrap_or_else(|| self.b.nothing(whole));
        let items = fields(own, "subscript");
        let index = self.indices(&items, own);
        self.b.add(Kind::Index { base, index }, whole)
    }

    /// What stands between the brackets that `own` holds: one expression, or a tuple without brackets
    /// of its own, which reaches over its last comma.
    fn indices(&mut self, items: &[Node<'a>], own: &[Child<'a>]) -> Option<Id> {
        let ids = self.values(items);
        let (first, last) = (items.first()?, items.last()?);
        let mut commas = own.iter().filter(|child| child.node.kind() == ",");
        let Some(comma) = commas.next_back() else {
            if let [only] = *ids {
                return Some(only);
            }
            return Some(self.list(ids));
        };
        let whole = span(*first).to(span(*last)).to(span(comma.node));
        Some(self.b.add(Kind::List(ids), whole))
    }

    /// `Optional[X]` where a type stands.
    pub(super) fn generic(&mut self, node: Node<'a>) -> Id {
        let whole = span(node);
        let parts = named(node);
        let base = parts.first().map(|base| self.value(*base));
        let base = base.unwrap_or_else(|| self.b.nothing(whole));
        let items: Vec<Node<'a>> = parts.iter().skip(1).flat_map(|own| named(*own)).collect();
        let own: Vec<Child<'a>> = parts
            .iter()
            .skip(1)
            .flat_map(|own| children(*own))
            .collect();
        let index = self.indices(&items, &own);
        self.b.add(Kind::Index { base, index }, whole)
    }

    /// `*a.b` in a list, `*f(x)`, `*a[0]`, `*a | b`: tree-sitter's star stands around `a` alone.
    pub(super) fn starred(&mut self, node: Node<'a>) -> Option<Id> {
        let whole = span(node);
        if !self.b.slice(whole).starts_with('*') {
            return None;
        }
        if self.star.is_some_and(|(at, _)| at == whole.start) {
            // The star has a node of its own already.
            let star = matches!(node.kind(), "list_splat" | "list_splat_pattern");
            let inner = named(node).first().copied().filter(|_| star)?;
            return Some(self.value(inner));
        }
        let mut first = node;
        while matches!(
            first.kind(),
            "call" | "attribute" | "subscript" | "binary_operator"
        ) {
            first = first.child(0)?;
        }
        if first.id() == node.id() || !matches!(first.kind(), "list_splat" | "list_splat_pattern") {
            return None;
        }
        let inner = span(named(first).first().copied()?);
        let before = self.star.replace((whole.start, inner.start));
        let value = self.value(node);
        self.star = before;
        Some(self.b.add(Kind::Spread(value), whole))
    }

    /// The span of a node without the star that does not stand around it alone.
    pub(super) fn behind_star(&self, own: Span) -> Span {
        match self.star {
            Some((at, after)) if at == own.start => Span {
                start: after,
                ..own
            },
            _ => own,
        }
    }
}
