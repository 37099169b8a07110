//! Arguments of calls, and string literals.

use tree_sitter::Node;

use super::{Child, Late, Tolerant, children, field, named, span};
use crate::facts::python::build::{DEEPEST, normal};
use crate::facts::tree::{Arg, Id, Kind, Piece, Spread};
use crate::source::Span;

impl<'a> Tolerant<'a> {
    /// The arguments in a list, or the generator that stands for one.
    pub(super) fn args(&mut self, list: Node<'a>) -> Vec<Arg> {
        if list.kind() == "generator_expression" {
            let own = children(list);
            let inner = Self::bracketed(&own, span(list));
            let value = self.comprehension(&own, inner);
            return vec![Arg {
                name: None,
                spread: Spread::No,
                value,
                span: inner,
            }];
        }
        let nodes = named(list);
        nodes.into_iter().map(|node| self.arg(node)).collect()
    }

    /// From the first to the last child between brackets.
    pub(super) fn bracketed(own: &[Child<'a>], whole: Span) -> Span {
        let start = own
            .get(1)
            .map_or(whole.start, |child| span(child.node).start);
        let last = own.len().checked_sub(2).and_then(|last| own.get(last));
        Span {
            start,
            end: last.map_or(whole.end, |child| span(child.node).end),
        }
    }

    pub(super) fn arg(&mut self, node: Node<'a>) -> Arg {
        let own = children(node);
        match node.kind() {
            "keyword_argument" => {
                let name = field(&own, "name").map(|name| normal(self.b.slice(span(name))));
                let value = field(&own, "value").map(|value| self.value(value));
                let value = value.unwrap_or_else(|| self.b.nothing(span(node)));
                Arg {
                    name,
                    spread: Spread::No,
                    value,
                    span: span(node),
                }
            }
            "list_splat" | "list_splat_pattern" | "dictionary_splat" => {
                let dict = node.kind() == "dictionary_splat";
                let spread = if dict { Spread::Dict } else { Spread::List };
                let value = named(node).first().map(|value| self.value(*value));
                let value = value.unwrap_or_else(|| self.b.nothing(span(node)));
                Arg {
                    name: None,
                    spread,
                    value,
                    span: span(node),
                }
            }
            _ => {
                // Brackets around it are not its own; an `await` is.
                let bare = Self::unbracketed(node);
                let value = self.value(bare);
                let whole = match bare.kind() {
                    "named_expression" => self.b.tree.node(value).span,
                    _ => span(bare),
                };
                // A star that tree-sitter put before the start of the value alone.
                let (value, spread) = match self.b.tree.node(value).kind {
                    Kind::Spread(inner) => (inner, Spread::List),
                    _ => (value, Spread::No),
                };
                Arg {
                    name: None,
                    spread,
                    value,
                    span: whole,
                }
            }
        }
    }

    /// The pieces of adjacent literals.
    pub(super) fn text(&mut self, literals: &[Node<'a>]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for literal in literals {
            if literal.kind() != "string" {
                let value = Some(self.value(*literal));
                pieces.push(Piece::Hole {
                    value,
                    span: span(*literal),
                });
                continue;
            }
            let mut holes = Vec::new();
            for child in children(*literal) {
                match child.node.kind() {
                    "string_start" | "string_content" | "string_end" => {}
                    _ if child.node.is_named() => {
                        holes.push((span(child.node), self.hole(child.node)));
                    }
                    _ => {}
                }
            }
            self.b.pieces(span(*literal), &holes, &mut pieces);
        }
        pieces
    }

    /// The value of a hole, with the values in its format.
    pub(super) fn hole(&mut self, node: Node<'a>) -> Option<Id> {
        if self.b.depth >= DEEPEST {
            self.late.push_back(Late::Value(node));
            return None;
        }
        self.b.depth += 1;
        let id = self.shallow_hole(node);
        self.b.depth -= 1;
        id
    }

    pub(super) fn shallow_hole(&mut self, node: Node<'a>) -> Option<Id> {
        let own = children(node);
        let value = field(&own, "expression").map(|value| self.value(value));
        let formats = field(&own, "format_specifier")
            .map(named)
            .unwrap_or_default();
        let Some(value) = value else {
            let parts = self.values(&named(node));
            return (!parts.is_empty()).then(|| self.b.add(Kind::Other(parts), span(node)));
        };
        if formats.is_empty() {
            return Some(value);
        }
        let mut parts = vec![value];
        for format in formats {
            parts.extend(self.hole(format));
        }
        Some(self.b.add(Kind::Other(parts), span(node)))
    }
}
