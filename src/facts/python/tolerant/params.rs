//! Parameters of functions, lambdas and types.

use tree_sitter::Node;

use super::{Tolerant, children, field, named, span};
use crate::facts::tree::{Id, Param, Spread};

impl<'a> Tolerant<'a> {
    /// Parameters in source order. What their annotations call goes to `extras`.
    pub(super) fn params(&mut self, list: Option<Node<'a>>, extras: &mut Vec<Id>) -> Vec<Param> {
        let mut params = Vec::new();
        for node in list.map(named).unwrap_or_default() {
            if matches!(node.kind(), "keyword_separator" | "positional_separator") {
                continue;
            }
            self.param(node, &mut params, extras);
        }
        params
    }

    fn param(&mut self, node: Node<'a>, params: &mut Vec<Param>, extras: &mut Vec<Id>) {
        let own = children(node);
        let mut name = node;
        if matches!(node.kind(), "typed_parameter") {
            name = own.first().map_or(node, |child| child.node);
        } else if let Some(found) = field(&own, "name") {
            name = found;
        }
        let spread = match name.kind() {
            "list_splat_pattern" => Spread::List,
            "dictionary_splat_pattern" => Spread::Dict,
            _ => Spread::No,
        };
        // A star, and Python 2's tuples, have their name inside.
        let mut first = name;
        while let Some(inner) = named(first).first().copied() {
            first = inner;
        }
        let hint = field(&own, "type");
        let annotation = hint.map(|hint| self.value(hint));
        let default = field(&own, "value").map(|value| self.value(value));
        let mut whole = span(node);
        if let Some(default) = default {
            whole.end = self.b.tree.node(default).span.end;
        } else if let Some(hint) = hint {
            whole.end = span(hint).end;
        }
        let name = self.b.slice(span(first)).to_owned();
        let param = Param {
            name,
            default,
            annotation: None,
            span: whole,
            spread,
        };
        self.b.param(&param, annotation, params, extras);
    }

    /// The bounds of type parameters that call something.
    pub(super) fn type_params(&mut self, list: Option<Node<'a>>, out: &mut Vec<Id>) {
        for node in list.map(named).unwrap_or_default() {
            let own = Self::unwrapped(node);
            if own.kind() != "constrained_type" {
                continue;
            }
            for bound in named(own).into_iter().skip(1) {
                let bound = self.value(bound);
                let found = self.b.annotation(bound);
                out.extend(found.rest);
            }
        }
    }
}
