//! Expressions.

use tree_sitter::Node;

use super::{Child, Late, Tolerant, children, field, named, span, token};
use crate::facts::python::build::DEEPEST;
use crate::facts::tree::{Form, Id, Kind, Op};
use crate::source::Span;

/// Nodes that are only brackets or labels around another one.
fn wraps(node: Node<'_>) -> bool {
    match node.kind() {
        "parenthesized_expression" | "type" | "as_pattern_target" => true,
        // `await a ** b` is `(await a) ** b`, which tree-sitter takes for `await (a ** b)`.
        "await" => named(node)
            .iter()
            .all(|own| own.kind() != "binary_operator"),
        // `(a) = b`: a tuple has a comma.
        "tuple_pattern" => token(&children(node), ",").is_none(),
        _ => false,
    }
}

impl<'a> Tolerant<'a> {
    /// What `node` wraps, or itself.
    pub(super) fn unwrapped(mut node: Node<'a>) -> Node<'a> {
        while wraps(node) {
            match *named(node) {
                [only] => node = only,
                _ => break,
            }
        }
        node
    }

    /// What stands in the brackets around `node`, or itself.
    pub(super) fn unbracketed(mut node: Node<'a>) -> Node<'a> {
        while node.kind() == "parenthesized_expression"
            && let [only] = *named(node)
        {
            node = only;
        }
        node
    }

    /// Lowers an expression, or leaves it for later if it is too deep.
    pub(super) fn value(&mut self, node: Node<'a>) -> Id {
        let node = Self::unwrapped(node);
        if self.b.depth >= DEEPEST {
            self.late.push_back(Late::Value(node));
            return self.b.nothing(span(node));
        }
        self.b.depth += 1;
        let id = self.shallow(node);
        self.b.depth -= 1;
        id
    }

    pub(super) fn values(&mut self, nodes: &[Node<'a>]) -> Vec<Id> {
        nodes.iter().map(|node| self.value(*node)).collect()
    }

    /// A list of nodes that has no node of its own.
    pub(super) fn list(&mut self, ids: Vec<Id>) -> Id {
        let ends = ids.first().zip(ids.last());
        let whole = ends.map(|(first, last)| {
            self.b
                .tree
                .node(*first)
                .span
                .to(self.b.tree.node(*last).span)
        });
        self.b.add(Kind::List(ids), whole.unwrap_or_default())
    }

    fn shallow(&mut self, node: Node<'a>) -> Id {
        if let Some(id) = self.starred(node) {
            return id;
        }
        let whole = self.before_alias(self.behind_star(span(node)));
        let own = children(node);
        let kind = match node.kind() {
            "identifier" => return self.b.name(self.b.slice(whole), whole),
            "integer" => return self.b.number(whole),
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "none" => Kind::Nothing,
            "float" | "ellipsis" => Kind::Other(Vec::new()),
            "string" => Kind::Text(self.text(&[node])),
            "concatenated_string" => Kind::Text(self.text(&named(node))),
            "call" => {
                let callee = field(&own, "function").map(|callee| self.value(callee));
                let callee = callee.unwrap_or_else(|| self.b.nothing(whole));
                let args = field(&own, "arguments").map(|list| self.args(list));
                Kind::Call {
                    callee,
                    args: args.unwrap_or_default(),
                    form: Form::Call,
                }
            }
            "attribute" | "member_type" => return self.attribute(&own, whole),
            "dotted_name" => return self.dotted_path(node),
            "subscript" => return self.subscript(&own, whole),
            "generic_type" => return self.generic(node),
            "slice" => Kind::Other(self.values(&named(node))),
            "list" | "tuple" | "set" | "expression_list" | "pattern_list" | "tuple_pattern"
            | "list_pattern" => Kind::List(self.values(&named(node))),
            "dictionary" => Kind::Dict(self.pairs(&own)),
            "list_comprehension"
            | "set_comprehension"
            | "generator_expression"
            | "dictionary_comprehension" => return self.comprehension(&own, whole),
            "list_splat" | "list_splat_pattern" | "splat_type" => match *named(node) {
                [only] => Kind::Spread(self.value(only)),
                _ => Kind::Other(self.values(&named(node))),
            },
            "await" => return self.awaited(node, whole),
            "binary_operator" | "union_type" => return self.binary(node, &own, whole),
            "unary_operator" => return self.unary(&own, whole),
            "not_operator" => match field(&own, "argument") {
                Some(argument) => Kind::Not(self.value(argument)),
                None => Kind::Other(Vec::new()),
            },
            "boolean_operator" => Kind::Choice(self.alternatives(node)),
            "comparison_operator" => return self.compare(&own, whole),
            "conditional_expression" => return self.ternary(node, whole),
            "lambda" => {
                let params = self.params(field(&own, "parameters"), &mut Vec::new());
                let body = field(&own, "body").map(|body| self.value(body));
                let body = body.unwrap_or_else(|| self.b.nothing(whole));
                Kind::Closure { params, body }
            }
            "named_expression" => {
                let target = field(&own, "name").map(|name| self.value(name));
                let value = field(&own, "value").map(|value| self.value(value));
                // Brackets around the value are nobody's.
                let end = value.map_or(whole.end, |value| self.b.tree.node(value).span.end);
                let whole = Span { end, ..whole };
                return self
                    .b
                    .bind(target.into_iter().collect(), value, None, whole);
            }
            "as_pattern" => match self.without_alias(node) {
                Some(value) => return self.value(value),
                None => return self.named_as(node),
            },
            "assignment" | "augmented_assignment" => return self.assigned(&own, whole),
            "yield" => Kind::Other(
                named(node)
                    .first()
                    .map(|value| self.value(*value))
                    .into_iter()
                    .collect(),
            ),
            "keyword_argument" => match field(&own, "value") {
                Some(value) => return self.value(value),
                None => Kind::Other(Vec::new()),
            },
            kind if kind.ends_with("_statement") || kind.ends_with("_definition") => {
                let mut out = Vec::new();
                self.statement(node, &mut out);
                Kind::Other(out)
            }
            "ERROR" => {
                let nodes: Vec<_> = own.iter().map(|child| child.node).collect();
                let mut out = Vec::new();
                self.recover(&nodes, &mut out);
                Kind::Other(out)
            }
            "block" => return self.block(Some(node), whole.end, false).0,
            _ => Kind::Other(self.values(&named(node))),
        };
        self.b.add(kind, whole)
    }

    /// `await a ** b`, an operation that starts at its `await`.
    fn awaited(&mut self, node: Node<'a>, whole: Span) -> Id {
        let parts = self.values(&named(node));
        let [only] = *parts else {
            return self.b.add(Kind::Other(parts), whole);
        };
        self.b.tree.nodes[only.0 as usize].span.start = whole.start;
        only
    }

    fn attribute(&mut self, own: &[Child<'a>], whole: Span) -> Id {
        let nodes: Vec<Node<'a>> = own
            .iter()
            .map(|child| child.node)
            .filter(Node::is_named)
            .collect();
        let base = nodes.first().map(|base| self.value(*base));
        let base = base.unwrap_or_else(|| self.b.nothing(whole));
        let name = field(own, "attribute").or(nodes.last().copied());
        let name_span = name.map_or(whole, span);
        self.b
            .attribute(base, self.b.slice(name_span), name_span, whole)
    }

    fn dotted_path(&mut self, node: Node<'a>) -> Id {
        let names = named(node);
        let start = span(node).start;
        let Some((first, rest)) = names.split_first() else {
            return self.b.nothing(span(node));
        };
        let mut id = self.b.name(self.b.slice(span(*first)), span(*first));
        // A path is not deep enough to matter, but a made-up one may be.
        for name in rest.iter().take(16) {
            let own = span(*name);
            id = self.b.attribute(
                id,
                self.b.slice(own),
                own,
                Span {
                    start,
                    end: own.end,
                },
            );
        }
        id
    }

    fn binary(&mut self, node: Node<'a>, own: &[Child<'a>], whole: Span) -> Id {
        if let Some(id) = self.regrouped(node) {
            return id;
        }
        let nodes: Vec<Node<'a>> = own
            .iter()
            .map(|child| child.node)
            .filter(Node::is_named)
            .collect();
        let sign = own
            .iter()
            .map(|child| child.node)
            .find(|node| !node.is_named());
        let op = match sign.map_or("", |sign| sign.kind()) {
            "+" => Op::Add,
            "|" => Op::Or,
            "%" => Op::Percent,
            _ => Op::Other,
        };
        match *self.values(&nodes) {
            [left, right] => self.b.add(Kind::Binary { op, left, right }, whole),
            ref parts => self.b.add(Kind::Other(parts.to_vec()), whole),
        }
    }

    fn unary(&mut self, own: &[Child<'a>], whole: Span) -> Id {
        let operand = field(own, "argument").map(|argument| self.value(argument));
        match operand {
            Some(operand) if token(own, "-").is_some() => self.b.negative(operand, whole),
            operand => self
                .b
                .add(Kind::Other(operand.into_iter().collect()), whole),
        }
    }

    /// The operands of a run of the same `and` or `or`: `a or b or c` hangs to the left.
    fn alternatives(&mut self, node: Node<'a>) -> Vec<Id> {
        let sign = |own: &[Child<'a>]| field(own, "operator").map(|sign| sign.kind());
        let mut own = children(node);
        let kind = sign(&own);
        let mut operands = Vec::new();
        loop {
            operands.extend(field(&own, "right"));
            let Some(left) = field(&own, "left") else {
                break;
            };
            if left.kind() == "boolean_operator" {
                let inner = children(left);
                if sign(&inner) == kind {
                    own = inner;
                    continue;
                }
            }
            operands.push(left);
            break;
        }
        operands.reverse();
        self.values(&operands)
    }

    fn compare(&mut self, own: &[Child<'a>], whole: Span) -> Id {
        let mut operands = Vec::new();
        let mut ops = Vec::new();
        for child in own {
            if child.field == Some("operators") {
                ops.push(match child.node.kind() {
                    "==" | "is" => Op::Equal,
                    "!=" | "<>" | "is not" => Op::Unequal,
                    _ => Op::Other,
                });
            } else if child.node.is_named() {
                operands.push(self.value(child.node));
            }
        }
        self.b.comparison(&operands, &ops, whole)
    }

    /// `value as name`.
    fn named_as(&mut self, node: Node<'a>) -> Id {
        match *named(node) {
            [value, target] => {
                let value = self.value(value);
                let target = self.value(target);
                let both = self
                    .b
                    .tree
                    .node(value)
                    .span
                    .to(self.b.tree.node(target).span);
                self.b.bind(vec![target], Some(value), None, both)
            }
            ref parts => {
                let parts = self.values(parts);
                self.b.add(Kind::Other(parts), span(node))
            }
        }
    }

    fn assigned(&mut self, own: &[Child<'a>], whole: Span) -> Id {
        let target = field(own, "left").map(|left| self.value(left));
        let value = field(own, "right").map(|right| self.value(right));
        let sign = field(own, "operator").map(|sign| sign.kind());
        match (target, value, sign) {
            (Some(target), Some(value), Some(sign)) => {
                let op = match sign {
                    "+=" => Op::Add,
                    "|=" => Op::Or,
                    "%=" => Op::Percent,
                    _ => Op::Other,
                };
                self.b.augmented(target, op, value, whole)
            }
            _ => self
                .b
                .bind(target.into_iter().collect(), value, None, whole),
        }
    }
}
