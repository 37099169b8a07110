//! Blocks, branches and loops as expressions.

use syn::{Arm, Expr, ExprIf, ExprMatch, ExprUnsafe, Pat, Stmt};

use super::plain;
use crate::facts::rust::reader::Reader;
use crate::facts::rust::strict::{at, over};
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

impl Reader<'_> {
    pub(super) fn control(&mut self, expression: &Expr) -> Id {
        match expression {
            Expr::Block(own) => self.block(&own.block),
            Expr::Async(own) => self.block(&own.block),
            Expr::Const(own) => self.block(&own.block),
            Expr::TryBlock(own) => self.block(&own.block),
            Expr::Loop(own) => self.block(&own.body),
            Expr::Unsafe(own) => self.unsafe_block(own),
            Expr::If(own) => self.branch(own),
            Expr::Match(own) => self.choice(own),
            Expr::Let(own) => {
                let targets = self.targets(&own.pat);
                let value = self.expression(&own.expr);
                let span = at(own.let_token.span).to(self.span(value));
                self.add(
                    Kind::Bind {
                        targets,
                        value: Some(value),
                        annotation: None,
                    },
                    span,
                )
            }
            Expr::While(own) => {
                let test = self.expression(&own.cond);
                let then = self.block(&own.body);
                let span = at(own.while_token.span).to(self.span(then));
                self.add(
                    Kind::If {
                        test,
                        then,
                        otherwise: None,
                    },
                    span,
                )
            }
            Expr::ForLoop(own) => self.each(own),
            Expr::Return(own) => {
                let value = own.expr.as_ref().map(|value| self.expression(value));
                let keyword = at(own.return_token.span);
                let span = value.map_or(keyword, |value| keyword.to(self.span(value)));
                self.add(Kind::Return(value), span)
            }
            Expr::Yield(own) => {
                let value = own.expr.as_ref().map(|value| self.expression(value));
                let keyword = at(own.yield_token.span);
                let span = value.map_or(keyword, |value| keyword.to(self.span(value)));
                self.add(Kind::Other(value.into_iter().collect()), span)
            }
            Expr::Break(own) => {
                let value = own.expr.as_ref().map(|value| self.expression(value));
                let keyword = at(own.break_token.span);
                let span = value.map_or(keyword, |value| keyword.to(self.span(value)));
                self.add(Kind::Leave(value), span)
            }
            Expr::Continue(own) => self.add(Kind::Leave(None), at(own.continue_token.span)),
            // A kind that syn does not have yet: nothing in it is lost.
            _ => self.flat_bytes(over(expression)),
        }
    }

    /// `unsafe { one_expression }` is that expression.
    fn unsafe_block(&mut self, own: &ExprUnsafe) -> Id {
        let id = self.block(&own.block);
        let [Stmt::Expr(_, None)] = own.block.stmts.as_slice() else {
            return id;
        };
        let only = match &self.tree.node(id).kind {
            Kind::Block(body) if body.len() == 1 => body.first().copied(),
            _ => None,
        };
        match only.map(|only| &self.tree.node(only).kind) {
            Some(Kind::Tail(inner)) => *inner,
            _ => id,
        }
    }

    /// `if`, whose `else` is a statement of its own.
    fn branch(&mut self, own: &ExprIf) -> Id {
        let test = self.expression(&own.cond);
        let then = self.block(&own.then_branch);
        let mut end = self.span(then);
        let mut otherwise = None;
        if let Some((keyword, body)) = &own.else_branch {
            let start = at(keyword.span).start as usize;
            let (first, last) = match &**body {
                Expr::If(more) => (Some(&more.then_branch), over(&more.then_branch).end),
                Expr::Block(block) => (Some(&block.block), over(&block.block).end),
                _ => (None, 0),
            };
            if let Some(first) = first {
                let open = at(first.brace_token.span.open()).end as usize;
                self.statement(start, last as usize, Some(open));
            }
            let body = self.expression(body);
            end = self.span(body);
            otherwise = Some(body);
        }
        let span = at(own.if_token.span).to(end);
        self.add(
            Kind::If {
                test,
                then,
                otherwise,
            },
            span,
        )
    }

    /// `for p in e {…}`: some element of `e` gets its names, then the body runs.
    fn each(&mut self, own: &syn::ExprForLoop) -> Id {
        let targets = self.targets(&own.pat);
        let base = self.below(3, |reader| reader.expression(&own.expr));
        let index = self.add(Kind::Index { base, index: None }, self.span(base));
        let start = targets
            .first()
            .map_or(self.span(base), |target| self.span(*target));
        let span = start.to(self.span(base));
        let bind = self.add(
            Kind::Bind {
                targets,
                value: Some(index),
                annotation: None,
            },
            span,
        );
        let body = self.below(1, |reader| reader.block(&own.body));
        let whole = at(own.for_token.span).to(self.span(body));
        self.add(Kind::Block(vec![bind, body]), whole)
    }

    /// `match`: each arm binds its pattern to the scrutinee. That can stand in the tree only once,
    /// so it gets a name that no source can have, unless it is as simple as a name.
    fn choice(&mut self, own: &ExprMatch) -> Id {
        let whole = at(own.match_token.span).to(at(own.brace_token.span.close()));
        let scrutinee = if plain(&own.expr) {
            None
        } else {
            let value = self.below(2, |reader| reader.expression(&own.expr));
            let hidden = format!("match@{}", whole.start);
            let span = self.span(value);
            let target = self.add(
                Kind::Name(hidden.clone()),
                Span {
                    start: span.start,
                    end: span.start,
                },
            );
            let bind = Kind::Bind {
                targets: vec![target],
                value: Some(value),
                annotation: None,
            };
            Some((hidden, self.add(bind, span)))
        };
        let mut cursor = at(own.brace_token.span.open()).end as usize;
        let mut arms = Vec::new();
        for arm in &own.arms {
            let start = self.start_after(cursor);
            let hidden = scrutinee.as_ref().map(|(name, _)| name.as_str());
            let (id, end) = self.below(4, |reader| reader.arm(arm, start, hidden, &own.expr));
            cursor = cursor.max(end);
            arms.push(id);
        }
        let choice = self.add(Kind::Choice(arms), whole);
        let Some((_, bind)) = scrutinee else {
            return choice;
        };
        let tail = self.add(Kind::Tail(choice), whole);
        self.add(Kind::Block(vec![bind, tail]), whole)
    }

    fn arm(
        &mut self,
        arm: &Arm,
        start: usize,
        hidden: Option<&str>,
        scrutinee: &Expr,
    ) -> (Id, usize) {
        let outer = std::mem::take(&mut self.stray);
        let (pattern, guard) = match &arm.pat {
            Pat::Guard(own) => (&*own.pat, Some(&*own.guard)),
            other => (other, None),
        };
        let place = over(pattern);
        let targets = self.targets(pattern);
        let names = targets.iter().any(|target| !matches!(&self.tree.node(*target).kind, Kind::Other(parts) if parts.is_empty()));
        let mut parts = Vec::new();
        if names {
            let value = match hidden {
                Some(name) => self.add(Kind::Name(name.to_owned()), place),
                None => self.expression(scrutinee),
            };
            parts.push(self.add(
                Kind::Bind {
                    targets,
                    value: Some(value),
                    annotation: None,
                },
                place,
            ));
        }
        if let Some(guard) = guard {
            parts.push(self.expression(guard));
        }
        parts.append(&mut self.stray);
        let value = self.expression(&arm.body);
        parts.append(&mut self.stray);
        self.stray = outer;
        let end = self.arm_end(arm, value);
        let span = Span::new(start, end);
        parts.push(self.add(Kind::Tail(value), self.span(value)));
        let header = match &*arm.body {
            Expr::Block(own) => Some(at(own.block.brace_token.span.open()).end as usize),
            Expr::Unsafe(own) => Some(at(own.block.brace_token.span.open()).end as usize),
            Expr::Async(own) => Some(at(own.block.brace_token.span.open()).end as usize),
            _ => None,
        };
        self.statement(start, end, header);
        (self.add(Kind::Block(parts), span), end)
    }

    /// Where an arm ends: its comma, else its body.
    fn arm_end(&self, arm: &Arm, value: Id) -> usize {
        match (&arm.comma, &*arm.body) {
            (Some(comma), _) => at(comma.span).end as usize,
            (None, body @ (Expr::Block(_) | Expr::Unsafe(_) | Expr::Async(_))) => {
                over(body).end as usize
            }
            (None, body) => over(body).end.max(self.span(value).end) as usize,
        }
    }
}
