//! Expressions.

mod calls;
mod control;

use syn::ext::IdentExt;
use syn::{BinOp, Expr, Member, UnOp};

use crate::facts::rust::reader::{LIMIT, Reader};
use crate::facts::rust::strict::{at, over};
use crate::facts::tree::{Id, Kind, Op};
use crate::source::Span;

impl Reader<'_> {
    /// An expression. What nests too deeply is hung flat.
    pub(in crate::facts::rust) fn expression(&mut self, expression: &Expr) -> Id {
        if self.depth >= LIMIT {
            return self.flat_bytes(over(expression));
        }
        self.below(1, |reader| reader.expression_here(expression))
    }

    fn expression_here(&mut self, expression: &Expr) -> Id {
        match expression {
            // Without meaning here.
            Expr::Await(own) => self.expression(&own.base),
            Expr::Group(own) => self.expression(&own.expr),
            Expr::Paren(own) => self.expression(&own.expr),
            Expr::RawAddr(own) => self.expression(&own.expr),
            Expr::Reference(own) => self.expression(&own.expr),
            Expr::Try(own) => self.expression(&own.expr),
            Expr::Cast(own) => {
                self.strays_of(&own.ty);
                self.expression(&own.expr)
            }
            // Values.
            Expr::Lit(own) => self.constant_literal(&own.lit),
            Expr::Path(own) => {
                if let Some(qself) = own.qself.as_ref().filter(|qself| qself.position > 0) {
                    self.strays_of(&qself.ty);
                }
                self.path(&own.path, own.qself.as_ref())
            }
            Expr::Array(own) => self.list(own.elems.iter(), at(own.bracket_token.span.join())),
            Expr::Tuple(own) if own.elems.is_empty() => {
                self.add(Kind::Nothing, at(own.paren_token.span.join()))
            }
            Expr::Tuple(own) => self.list(own.elems.iter(), at(own.paren_token.span.join())),
            Expr::Repeat(own) => {
                self.stray_expression(&own.len);
                self.list(
                    std::iter::once(&*own.expr),
                    at(own.bracket_token.span.join()),
                )
            }
            Expr::Range(own) => {
                let ends = own.start.iter().chain(own.end.iter());
                let ends = ends.map(|end| self.expression(end)).collect();
                self.add(Kind::Other(ends), over(&own.limits))
            }
            Expr::Field(own) => {
                let base = self.expression(&own.base);
                let (name, span) = member(&own.member);
                self.member(base, name, span)
            }
            Expr::Index(own) => {
                let base = self.expression(&own.expr);
                let index = Some(self.expression(&own.index));
                let span = self.span(base).to(at(own.bracket_token.span.close()));
                self.add(Kind::Index { base, index }, span)
            }
            Expr::Unary(own) => self.unary(own),
            Expr::Binary(own) => self.binary(own),
            Expr::Assign(own) => {
                let target = self.expression(&own.left);
                let value = self.expression(&own.right);
                self.bind(target, value)
            }
            // Calls and control, in their own files.
            Expr::Call(own) => self.plain_call(own),
            Expr::MethodCall(own) => self.method_call(own),
            Expr::Struct(own) => self.struct_literal(own),
            Expr::Macro(own) => self.macro_call(&own.mac).0,
            Expr::Closure(own) => self.closure(own),
            Expr::Infer(_) => self.nothing(over(expression)),
            Expr::Verbatim(_) => self.flat_bytes(over(expression)),
            _ => self.control(expression),
        }
    }

    pub(super) fn list<'e>(&mut self, parts: impl Iterator<Item = &'e Expr>, span: Span) -> Id {
        let parts = parts.map(|part| self.expression(part)).collect();
        self.add(Kind::List(parts), span)
    }

    fn bind(&mut self, target: Id, value: Id) -> Id {
        let span = self.span(target).to(self.span(value));
        self.add(
            Kind::Bind {
                targets: vec![target],
                value: Some(value),
                annotation: None,
            },
            span,
        )
    }

    fn constant_literal(&mut self, literal: &syn::Lit) -> Id {
        match literal {
            syn::Lit::Bool(own) => self.add(Kind::Bool(own.value), at(own.span)),
            _ => self.literal(at(literal.span())),
        }
    }

    fn unary(&mut self, own: &syn::ExprUnary) -> Id {
        let inner = self.expression(&own.expr);
        let span = over(&own.op).to(self.span(inner));
        match own.op {
            UnOp::Not(_) => self.add(Kind::Not(inner), span),
            UnOp::Neg(_) => match self.tree.node(inner).kind {
                Kind::Int(value) => self.add(Kind::Int(value.saturating_neg()), span),
                _ => self.add(Kind::Other(vec![inner]), span),
            },
            _ => inner,
        }
    }

    fn binary(&mut self, own: &syn::ExprBinary) -> Id {
        let deeper = usize::from(assigns(&own.op));
        let left = self.expression(&own.left);
        let right = self.below(deeper, |reader| reader.expression(&own.right));
        let span = self.span(left).to(self.span(right));
        let op = match own.op {
            BinOp::Or(_) | BinOp::And(_) => return self.add(Kind::Choice(vec![left, right]), span),
            BinOp::Add(_) | BinOp::AddAssign(_) => Op::Add,
            BinOp::BitOr(_) | BinOp::BitOrAssign(_) => Op::Or,
            BinOp::Rem(_) => Op::Percent,
            BinOp::Eq(_) => Op::Equal,
            BinOp::Ne(_) => Op::Unequal,
            _ => Op::Other,
        };
        if !assigns(&own.op) {
            return self.add(Kind::Binary { op, left, right }, span);
        }
        // The target stands on both sides of `a += b`; only a plain one can be written twice.
        if !plain(&own.left) {
            return self.add(Kind::Other(vec![left, right]), span);
        }
        let again = self.below(1, |reader| reader.expression(&own.left));
        let value = self.add(
            Kind::Binary {
                op,
                left: again,
                right,
            },
            span,
        );
        self.bind(left, value)
    }
}

fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Whether an expression is a name or a few fields of one: it can be lowered twice.
pub(super) fn plain(expression: &Expr) -> bool {
    let mut inner = expression;
    for _ in 0..8 {
        inner = match inner {
            Expr::Path(own) => return own.qself.is_none(),
            Expr::Field(own) => &own.base,
            Expr::Paren(own) => &own.expr,
            Expr::Reference(own) => &own.expr,
            Expr::Unary(own) if matches!(own.op, UnOp::Deref(_)) => &own.expr,
            _ => return false,
        };
    }
    false
}

/// A field's name, or its number as one.
pub(super) fn member(member: &Member) -> (String, Span) {
    match member {
        Member::Named(name) => (name.unraw().to_string(), at(name.span())),
        Member::Unnamed(index) => (index.index.to_string(), at(index.span)),
    }
}
