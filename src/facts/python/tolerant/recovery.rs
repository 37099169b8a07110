//! What can be read of a part that tree-sitter did not understand.

use tree_sitter::Node;

use super::{Tolerant, children, field, span};
use crate::facts::python::build::{DEEPEST, normal};
use crate::facts::tree::{Arg, Form, Id, Kind, Spread};
use crate::source::Span;

/// Kinds of nodes that are statements of their own.
fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("_statement") || kind.ends_with("_definition") || kind == "ERROR"
}

impl<'a> Tolerant<'a> {
    /// Whether these are the bare tokens of a file of which nothing was understood.
    pub(super) fn is_error_run(nodes: &[Node<'a>]) -> bool {
        nodes
            .iter()
            .any(|node| !node.is_named() || (node.kind() != "ERROR" && !is_statement(*node)))
    }

    /// Lowers the children of an ERROR: statements as such, an expression before an open bracket
    /// as a call of what follows, the rest one by one.
    pub(super) fn recover(&mut self, nodes: &[Node<'a>], out: &mut Vec<Id>) {
        let mut at = 0;
        while let Some(node) = nodes.get(at).copied() {
            at += 1;
            if is_statement(node) {
                self.statement(node, out);
            } else if node.kind() == "block" {
                let (id, _) = self.block(Some(node), span(node).end, false);
                out.push(id);
            } else if node.is_named() {
                let (path, next) = self.open_path(nodes, at - 1);
                let opens = nodes.get(next).is_some_and(|sign| sign.kind() == "(");
                let (id, next) = if opens {
                    self.open_call(path, nodes, next)
                } else {
                    (path, next)
                };
                at = next;
                let own = self.b.tree.node(id).span;
                self.b.statement(own, own);
                out.push(id);
            }
        }
    }

    /// The expression at `nodes[at]`, and the attributes after it that were not joined to it. Gives
    /// the place after it.
    fn open_path(&mut self, nodes: &[Node<'a>], at: usize) -> (Id, usize) {
        let mut next = at + 1;
        let mut id = match nodes.get(at) {
            Some(node) => self.value(*node),
            None => self.b.nothing(Span::default()),
        };
        while let Some([dot, name]) = nodes.get(next..next + 2) {
            if dot.kind() != "." || name.kind() != "identifier" || next > at + 16 {
                break;
            }
            let own = span(*name);
            let whole = self.b.tree.node(id).span.to(own);
            id = self.b.attribute(id, self.b.slice(own), own, whole);
            next += 2;
        }
        (id, next)
    }

    /// The call of `callee` whose bracket opens at `nodes[open]` and never closes well. Gives the
    /// place after it.
    fn open_call(&mut self, callee: Id, nodes: &[Node<'a>], open: usize) -> (Id, usize) {
        let mut whole = self.b.tree.node(callee).span;
        let mut args = Vec::new();
        let mut next = open + 1;
        while let Some(node) = nodes.get(next).copied() {
            if node.kind() == ")" || is_statement(node) {
                break;
            }
            whole = whole.to(span(node));
            let named = nodes.get(next + 1).is_some_and(|sign| sign.kind() == "=");
            let value = nodes
                .get(next + 2)
                .filter(|value| named && value.is_named());
            if let Some(value) = value {
                let name = Some(normal(self.b.slice(span(node))));
                let own = span(node).to(span(*value));
                whole = whole.to(own);
                let value = self.value(*value);
                args.push(Arg {
                    name,
                    spread: Spread::No,
                    value,
                    span: own,
                });
                next += 3;
                continue;
            }
            if !node.is_named() {
                next += 1;
                continue;
            }
            let (path, after) = self.open_path(nodes, next);
            if nodes.get(after).is_some_and(|sign| sign.kind() == "(") {
                let (value, after) = self.inner_call(path, nodes, after);
                let own = self.b.tree.node(value).span;
                whole = whole.to(own);
                args.push(Arg {
                    name: None,
                    spread: Spread::No,
                    value,
                    span: own,
                });
                next = after;
            } else if after > next + 1 {
                let own = self.b.tree.node(path).span;
                args.push(Arg {
                    name: None,
                    spread: Spread::No,
                    value: path,
                    span: own,
                });
                next = after;
            } else {
                args.push(self.loose_arg(node, path));
                next = after;
            }
        }
        if nodes.get(next).is_some_and(|node| node.kind() == ")") {
            next += 1;
        }
        (
            self.b.add(
                Kind::Call {
                    callee,
                    args,
                    form: Form::Call,
                },
                whole,
            ),
            next,
        )
    }

    /// A call that is open inside an open call. Too deep, it is read as its callee alone, and its
    /// arguments as the outer one's.
    fn inner_call(&mut self, callee: Id, nodes: &[Node<'a>], open: usize) -> (Id, usize) {
        if self.b.depth >= DEEPEST {
            return (callee, open + 1);
        }
        self.b.depth += 1;
        let call = self.open_call(callee, nodes, open);
        self.b.depth -= 1;
        call
    }

    /// An argument in an open call, whose value was lowered already.
    fn loose_arg(&mut self, node: Node<'a>, value: Id) -> Arg {
        let own = children(node);
        let name = field(&own, "name").filter(|_| node.kind() == "keyword_argument");
        let name = name.map(|name| normal(self.b.slice(span(name))));
        let spread = match node.kind() {
            "list_splat" | "list_splat_pattern" => Spread::List,
            "dictionary_splat" => Spread::Dict,
            _ => Spread::No,
        };
        Arg {
            name,
            spread,
            value,
            span: span(node),
        }
    }
}
