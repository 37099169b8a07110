//! The patterns of `match`: the names that they bind.

use tree_sitter::Node;

use super::{Child, Tolerant, named, span};
use crate::facts::tree::Id;

impl<'a> Tolerant<'a> {
    /// A binding of what the patterns of a `case` capture, if anything.
    pub(super) fn captures(&mut self, own: &[Child<'a>]) -> Option<Id> {
        // A work list, its top the next in source order.
        let patterns = own.iter().map(|child| child.node);
        let mut todo: Vec<Node<'a>> = patterns
            .filter(|own| own.kind() == "case_pattern")
            .collect();
        todo.reverse();
        let mut names = Vec::new();
        while let Some(node) = todo.pop() {
            let mut inner = named(node);
            match node.kind() {
                "identifier" => names.extend(self.capture(node)),
                "dotted_name" => {
                    if let [only] = *inner {
                        names.extend(self.capture(only));
                    }
                    continue;
                }
                // The class, the keyword.
                "class_pattern" | "keyword_pattern" if !inner.is_empty() => {
                    inner.remove(0);
                }
                "string" | "concatenated_string" => continue,
                _ => {}
            }
            todo.extend(inner.into_iter().rev());
        }
        let first = self.b.tree.node(*names.first()?).span;
        let last = self.b.tree.node(*names.last()?).span;
        Some(self.b.bind(names, None, None, first.to(last)))
    }

    fn capture(&mut self, node: Node<'a>) -> Option<Id> {
        let raw = self.b.slice(span(node));
        (raw != "_").then(|| self.b.name(raw, span(node)))
    }
}
