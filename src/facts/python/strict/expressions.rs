//! Expressions.

use rustpython_parser::ast::{
    CmpOp, Comprehension, Constant, Expr, Keyword, Operator, Ranged, UnaryOp,
};

use super::super::build::DEEPEST;
use super::super::literal;
use super::super::tokens::span;
use super::{Late, Strict, normal};
use crate::facts::tree::{Arg, Form, Id, Kind, Op, Piece, Spread};
use crate::source::Span;

/// The tree's operation for an operator.
pub(super) fn op(operator: Operator) -> Op {
    match operator {
        Operator::Add => Op::Add,
        Operator::BitOr => Op::Or,
        Operator::Mod => Op::Percent,
        Operator::Sub
        | Operator::Mult
        | Operator::MatMult
        | Operator::Div
        | Operator::Pow
        | Operator::LShift
        | Operator::RShift
        | Operator::BitXor
        | Operator::BitAnd
        | Operator::FloorDiv => Op::Other,
    }
}

fn comparison(operator: CmpOp) -> Op {
    match operator {
        CmpOp::Eq | CmpOp::Is => Op::Equal,
        CmpOp::NotEq | CmpOp::IsNot => Op::Unequal,
        CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE | CmpOp::In | CmpOp::NotIn => Op::Other,
    }
}

impl<'a> Strict<'a> {
    /// Lowers an expression, or leaves it for later if it is too deep.
    pub(super) fn value(&mut self, value: &'a Expr) -> Id {
        let whole = span(value.range());
        if self.b.depth >= DEEPEST {
            self.late.push_back(Late::Value(value));
            return self.b.nothing(whole);
        }
        self.b.depth += 1;
        let id = self.shallow(value, whole);
        self.b.depth -= 1;
        id
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a few lines for each kind of expression"
    )]
    fn shallow(&mut self, value: &'a Expr, whole: Span) -> Id {
        let kind = match value {
            Expr::BoolOp(own) => Kind::Choice(self.values(&own.values)),
            Expr::NamedExpr(own) => {
                let target = self.value(&own.target);
                let value = self.value(&own.value);
                return self.b.bind(vec![target], Some(value), None, whole);
            }
            Expr::BinOp(own) => {
                let left = self.value(&own.left);
                Kind::Binary {
                    op: op(own.op),
                    left,
                    right: self.value(&own.right),
                }
            }
            Expr::UnaryOp(own) => {
                let operand = self.value(&own.operand);
                match own.op {
                    UnaryOp::Not => Kind::Not(operand),
                    UnaryOp::USub => return self.b.negative(operand, whole),
                    UnaryOp::UAdd | UnaryOp::Invert => Kind::Other(vec![operand]),
                }
            }
            Expr::Lambda(own) => {
                let mut extras = Vec::new();
                let params = self.params(&own.args, &mut extras);
                Kind::Closure {
                    params,
                    body: self.value(&own.body),
                }
            }
            Expr::IfExp(own) => {
                let test = self.value(&own.test);
                let then = self.value(&own.body);
                Kind::If {
                    test,
                    then,
                    otherwise: Some(self.value(&own.orelse)),
                }
            }
            Expr::Dict(own) => {
                let pairs = own.keys.iter().zip(&own.values);
                let pairs = pairs.map(|(key, value)| {
                    let key = key.as_ref().map(|key| self.value(key));
                    (key, self.value(value))
                });
                Kind::Dict(pairs.collect())
            }
            Expr::Set(own) => Kind::List(self.values(&own.elts)),
            Expr::List(own) => Kind::List(self.values(&own.elts)),
            Expr::Tuple(own) => Kind::List(self.values(&own.elts)),
            Expr::ListComp(own) => return self.comprehension(&own.generators, &own.elt, whole),
            Expr::SetComp(own) => return self.comprehension(&own.generators, &own.elt, whole),
            Expr::GeneratorExp(own) => return self.comprehension(&own.generators, &own.elt, whole),
            Expr::DictComp(own) => {
                let steps = self.steps(&own.generators);
                let key = self.value(&own.key);
                let element = Kind::Dict(vec![(Some(key), self.value(&own.value))]);
                return self.b.comprehension(steps, element, whole);
            }
            Expr::Await(own) => return self.value(&own.value),
            Expr::Yield(own) => Kind::Other(
                own.value
                    .as_deref()
                    .map(|own| self.value(own))
                    .into_iter()
                    .collect(),
            ),
            Expr::YieldFrom(own) => Kind::Other(vec![self.value(&own.value)]),
            Expr::Compare(own) => {
                let mut operands = vec![self.value(&own.left)];
                operands.extend(own.comparators.iter().map(|own| self.value(own)));
                let ops: Vec<Op> = own.ops.iter().map(|own| comparison(*own)).collect();
                return self.b.comparison(&operands, &ops, whole);
            }
            Expr::Call(own) => {
                let callee = self.value(&own.func);
                let args = self.args(&own.args, &own.keywords);
                Kind::Call {
                    callee,
                    args,
                    form: Form::Call,
                }
            }
            // Only inside a joined string, whose values are read from the source.
            Expr::FormattedValue(own) => return self.value(&own.value),
            Expr::JoinedStr(_) => Kind::Text(self.text(whole)),
            Expr::Constant(own) => return self.constant(&own.value, whole),
            Expr::Attribute(own) => {
                let base = self.value(&own.value);
                let name_span = self.last_word(whole);
                return self.b.attribute(base, own.attr.as_str(), name_span, whole);
            }
            Expr::Subscript(own) => {
                let base = self.value(&own.value);
                Kind::Index {
                    base,
                    index: Some(self.value(&own.slice)),
                }
            }
            Expr::Starred(own) => Kind::Spread(self.value(&own.value)),
            Expr::Name(own) => return self.b.name(own.id.as_str(), whole),
            Expr::Slice(own) => {
                let parts = [&own.lower, &own.upper, &own.step];
                return self.parts(parts.into_iter().flatten().map(AsRef::as_ref), whole);
            }
        };
        self.b.add(kind, whole)
    }

    fn values(&mut self, values: &'a [Expr]) -> Vec<Id> {
        values.iter().map(|value| self.value(value)).collect()
    }

    fn comprehension(&mut self, loops: &'a [Comprehension], element: &'a Expr, whole: Span) -> Id {
        let steps = self.steps(loops);
        let element = Kind::List(vec![self.value(element)]);
        self.b.comprehension(steps, element, whole)
    }

    fn steps(&mut self, loops: &'a [Comprehension]) -> Vec<Id> {
        let mut steps = Vec::new();
        for own in loops {
            let target = self.value(&own.target);
            let over = self.value(&own.iter);
            let both = self
                .b
                .tree
                .node(target)
                .span
                .to(self.b.tree.node(over).span);
            steps.push(self.b.each(target, over, both));
            steps.extend(own.ifs.iter().map(|own| self.value(own)));
        }
        steps
    }

    /// Arguments in source order.
    pub(super) fn args(&mut self, plain: &'a [Expr], keywords: &'a [Keyword]) -> Vec<Arg> {
        let mut order: Vec<(u32, Result<&'a Expr, &'a Keyword>)> = Vec::new();
        order.extend(plain.iter().map(|own| (span(own.range()).start, Ok(own))));
        order.extend(keywords.iter().map(|own| (span(own.range).start, Err(own))));
        order.sort_by_key(|(start, _)| *start);
        order.into_iter().map(|(_, own)| self.arg(own)).collect()
    }

    fn arg(&mut self, own: Result<&'a Expr, &'a Keyword>) -> Arg {
        match own {
            Ok(Expr::Starred(own)) => {
                let value = self.value(&own.value);
                Arg {
                    name: None,
                    spread: Spread::List,
                    value,
                    span: span(own.range),
                }
            }
            Ok(own) => {
                let value = self.value(own);
                Arg {
                    name: None,
                    spread: Spread::No,
                    value,
                    span: span(own.range()),
                }
            }
            Err(own) => {
                let spread = if own.arg.is_some() {
                    Spread::No
                } else {
                    Spread::Dict
                };
                let name = own.arg.as_ref().map(normal);
                let value = self.value(&own.value);
                Arg {
                    name,
                    spread,
                    value,
                    span: span(own.range),
                }
            }
        }
    }

    fn constant(&mut self, value: &'a Constant, whole: Span) -> Id {
        let kind = match value {
            Constant::None => Kind::Nothing,
            Constant::Bool(value) => Kind::Bool(*value),
            Constant::Str(_) | Constant::Bytes(_) => Kind::Text(self.text(whole)),
            Constant::Int(_) => return self.b.number(whole),
            Constant::Tuple(_)
            | Constant::Float(_)
            | Constant::Complex { .. }
            | Constant::Ellipsis => Kind::Other(Vec::new()),
        };
        self.b.add(kind, whole)
    }

    /// The pieces of all literals in `whole`.
    fn text(&mut self, whole: Span) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for own in self.parsed.marks.literals(whole) {
            let holes = literal::holes(self.b.text, literal::open(self.b.text, own));
            let holes: Vec<_> = holes
                .iter()
                .map(|hole| (hole.span, self.hole(hole)))
                .collect();
            self.b.pieces(own, &holes, &mut pieces);
        }
        pieces
    }

    /// A hole's value was parsed in brackets, which a tuple without its own takes for them.
    fn without_brackets(&mut self, value: Id, own: Span) {
        let text = self.b.slice(own);
        let node = &mut self.b.tree.nodes[value.0 as usize];
        if node.span.start < own.start {
            let end = own.start as usize + text.trim_end().len();
            let start = own.end as usize - text.trim_start().len();
            node.span = Span::new(start, end);
        }
    }

    /// The value of a hole, with the values in its format.
    fn hole(&mut self, hole: &literal::Hole) -> Option<Id> {
        let parsed = self.parsed;
        let value = parsed
            .holes
            .get(&hole.value.start)
            .map(|value| self.value(value))?;
        self.without_brackets(value, hole.value);
        if hole.nested.is_empty() {
            return Some(value);
        }
        let mut parts = vec![value];
        for nested in &hole.nested {
            parts.extend(self.hole(nested));
        }
        Some(self.b.add(Kind::Other(parts), hole.span))
    }
}
