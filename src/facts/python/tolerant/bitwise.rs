//! Runs of `&` and `^`: to tree-sitter `^` binds tighter, to Python `&` does.

use tree_sitter::Node;

use super::{Tolerant, children, span};
use crate::facts::python::build::DEEPEST;
use crate::facts::tree::{Id, Kind, Op};
use crate::source::Span;

/// Longer runs are left as tree-sitter takes them: each part of one is looked at again.
const LONGEST: usize = 32;

impl<'a> Tolerant<'a> {
    /// Lowers the run of both signs at `node` as Python groups it, if it is one.
    pub(super) fn regrouped(&mut self, node: Node<'a>) -> Option<Id> {
        let groups = groups(node)?;
        let steps = groups.iter().map(Vec::len).sum::<usize>();
        if self.b.depth + steps > DEEPEST {
            return None;
        }
        self.b.depth += steps;
        let mut run: Option<(Id, Span)> = None;
        for group in groups {
            let mut product: Option<(Id, Span)> = None;
            for operand in group {
                let own = (self.value(operand), self.behind_star(span(operand)));
                product = Some(self.joined(product, own));
            }
            run = product.map(|own| self.joined(run, own)).or(run);
        }
        self.b.depth -= steps;
        run.map(|(id, _)| id)
    }

    /// The binary operation of what was before and `next`, or that alone; brackets count to the span.
    fn joined(&mut self, before: Option<(Id, Span)>, next: (Id, Span)) -> (Id, Span) {
        let Some((left, start)) = before else {
            return next;
        };
        let (right, end) = next;
        let (op, whole) = (Op::Other, start.to(end));
        (self.b.add(Kind::Binary { op, left, right }, whole), whole)
    }
}

/// The operands of a run in which both signs stand: those between two `^` are one group.
fn groups(node: Node<'_>) -> Option<Vec<Vec<Node<'_>>>> {
    let mut todo = vec![node];
    let mut groups = vec![Vec::new()];
    let mut products = false;
    let mut steps = 0;
    while let Some(next) = todo.pop() {
        let own = children(next);
        let mixes = |child: &super::Child<'_>| matches!(child.node.kind(), "&" | "^");
        steps += 1;
        if next.kind() == "binary_operator" && own.iter().any(mixes) {
            todo.extend(own.iter().rev().map(|child| child.node));
        } else if next.kind() == "^" {
            groups.push(Vec::new());
        } else if next.kind() == "&" {
            products = true;
        } else {
            groups.last_mut()?.push(next);
        }
        if steps > LONGEST {
            return None;
        }
    }
    (products && groups.len() > 1).then_some(groups)
}
