//! Dictionaries, comprehensions, and the variables of loops.

use tree_sitter::Node;

use super::{Child, Tolerant, children, field, fields, named};
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

impl<'a> Tolerant<'a> {
    pub(super) fn pairs(&mut self, own: &[Child<'a>]) -> Vec<(Option<Id>, Id)> {
        let mut pairs = Vec::new();
        for child in own.iter().filter(|child| child.node.is_named()) {
            let parts = children(child.node);
            match (field(&parts, "key"), field(&parts, "value")) {
                (Some(key), Some(value)) => {
                    let key = self.value(key);
                    pairs.push((Some(key), self.value(value)));
                }
                _ => pairs.extend(named(child.node).iter().map(|own| (None, self.value(*own)))),
            }
        }
        pairs
    }

    pub(super) fn comprehension(&mut self, own: &[Child<'a>], whole: Span) -> Id {
        let mut steps = Vec::new();
        for child in own {
            let parts = children(child.node);
            match child.node.kind() {
                "for_in_clause" => {
                    if let Some(target) = field(&parts, "left") {
                        steps.push(self.each(target, &fields(&parts, "right")));
                    }
                }
                "if_clause" => steps.extend(self.values(&named(child.node))),
                "ERROR" => steps.push(self.value(child.node)),
                _ => {}
            }
        }
        let Some(body) = field(own, "body") else {
            return self.b.add(Kind::Other(steps), whole);
        };
        let element = if body.kind() == "pair" {
            let parts = children(body);
            let key = field(&parts, "key").map(|key| self.value(key));
            match field(&parts, "value").map(|value| self.value(value)) {
                Some(value) => Kind::Dict(vec![(key, value)]),
                None => Kind::Other(key.into_iter().collect()),
            }
        } else {
            Kind::List(vec![self.value(body)])
        };
        self.b.comprehension(steps, element, whole)
    }

    /// A loop's variable and what it goes over.
    pub(super) fn each(&mut self, target: Node<'a>, over: &[Node<'a>]) -> Id {
        let target = self.value(target);
        let over = match over {
            [only] => self.value(*only),
            more => {
                let items = self.values(more);
                self.list(items)
            }
        };
        let both = self
            .b
            .tree
            .node(target)
            .span
            .to(self.b.tree.node(over).span);
        self.b.each(target, over, both)
    }
}
