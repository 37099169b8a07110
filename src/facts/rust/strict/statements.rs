//! Blocks and the statements in them.

use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Local, Stmt};

use crate::facts::rust::reader::Reader;
use crate::facts::rust::strict::at;
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

impl Reader<'_> {
    /// A block in braces.
    pub(super) fn block(&mut self, block: &Block) -> Id {
        let brace = block.brace_token.span;
        let whole = at(brace.join());
        let inside = Span {
            start: at(brace.open()).end,
            end: at(brace.close()).start,
        };
        let body = self.below(2, |reader| reader.statements(&block.stmts, inside));
        self.add(Kind::Block(body), whole)
    }

    /// Statements between two brackets.
    pub(in crate::facts::rust) fn statements(
        &mut self,
        statements: &[Stmt],
        inside: Span,
    ) -> Vec<Id> {
        let outer = std::mem::take(&mut self.stray);
        let mut body = Vec::new();
        let mut cursor = inside.start as usize;
        for (index, statement) in statements.iter().enumerate() {
            let start = self.start_after(cursor);
            let last = index + 1 == statements.len();
            let limit = if last {
                self.lexed.end_before(inside.end as usize)
            } else {
                0
            };
            cursor = self.one(statement, start, limit, &mut body).max(cursor);
            body.append(&mut self.stray);
        }
        self.stray = outer;
        body
    }

    /// Where the first token after `cursor` stands; inner attributes belong to the block.
    pub(in crate::facts::rust) fn start_after(&self, cursor: usize) -> usize {
        let mut index = self.lexed.token_at(cursor);
        while self.lexed.signs(index, "#!") && self.lexed.opens(index + 2, b'[') {
            index = self
                .lexed
                .tokens
                .get(index + 2)
                .map_or(index + 3, |token| token.partner + 1);
        }
        self.lexed
            .tokens
            .get(index)
            .map_or(cursor, |token| token.start)
    }

    /// One statement; gives where it ends. `limit` is the end of the last statement of a block.
    fn one(&mut self, statement: &Stmt, start: usize, limit: usize, body: &mut Vec<Id>) -> usize {
        match statement {
            Stmt::Local(local) => {
                let end = at(local.semi_token.span).end as usize;
                let id = self.local(local, Span::new(start, end));
                body.push(id);
                self.statement(start, end, None);
                end
            }
            Stmt::Item(item) => self.item(item, start, body),
            Stmt::Macro(statement) => {
                let semi = statement
                    .semi_token
                    .as_ref()
                    .map(|semi| at(semi.span).end as usize);
                let close = at(statement.mac.delimiter.span().close()).end as usize;
                let end = semi.unwrap_or(close);
                let (id, code) = self.macro_call(&statement.mac);
                let header = code.then(|| at(statement.mac.delimiter.span().open()).end as usize);
                self.statement(start, end, header);
                let tail = limit > 0 && semi.is_none();
                let id = if tail {
                    self.add(Kind::Tail(id), Span::new(start, end))
                } else {
                    id
                };
                body.push(id);
                end
            }
            // A lone `;`.
            Stmt::Expr(Expr::Verbatim(tokens), Some(semi)) if tokens.is_empty() => {
                at(semi.span).end as usize
            }
            Stmt::Expr(expression, semi) => {
                let id = self.expression(expression);
                let end = match semi {
                    Some(semi) => at(semi.span).end as usize,
                    None if limit > 0 => limit,
                    None => closing(expression).unwrap_or(self.span(id).end as usize),
                };
                self.statement(start, end, opening(expression));
                let tail = semi.is_none() && limit > 0;
                body.push(if tail {
                    self.add(Kind::Tail(id), Span::new(start, end))
                } else {
                    id
                });
                end
            }
        }
    }

    fn local(&mut self, local: &Local, whole: Span) -> Id {
        let (pattern, ty) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        let targets = self.targets(pattern);
        let annotation = ty.and_then(|ty| self.annotation(ty));
        if let Some(ty) = ty {
            self.strays_of(ty);
        }
        let value = local
            .init
            .as_ref()
            .map(|init| self.below(1, |reader| reader.expression(&init.expr)));
        if let Some((_, otherwise)) = local.init.as_ref().and_then(|init| init.diverge.as_ref()) {
            let id = self.below(1, |reader| reader.expression(otherwise));
            self.stray.push(id);
        }
        self.add(
            Kind::Bind {
                targets,
                value,
                annotation,
            },
            whole,
        )
    }

    /// Items of a file or module, from the byte `cursor` on.
    pub(in crate::facts::rust) fn items(&mut self, items: &[Item], cursor: usize) -> Vec<Id> {
        let outer = std::mem::take(&mut self.stray);
        let mut body = Vec::new();
        let mut cursor = cursor;
        for item in items {
            let start = self.start_after(cursor);
            cursor = self.item(item, start, &mut body).max(cursor);
            body.append(&mut self.stray);
        }
        self.stray = outer;
        body
    }
}

/// The block that opens an expression's body.
fn braces(
    expression: &Expr,
) -> Option<(proc_macro2::extra::DelimSpan, proc_macro2::extra::DelimSpan)> {
    let both = |block: &Block| (block.brace_token.span, block.brace_token.span);
    Some(match expression {
        Expr::If(branch) => {
            let mut last = branch.then_branch.brace_token.span;
            let mut next = branch.else_branch.as_ref();
            while let Some((_, otherwise)) = next {
                next = None;
                match &**otherwise {
                    Expr::If(branch) => {
                        last = branch.then_branch.brace_token.span;
                        next = branch.else_branch.as_ref();
                    }
                    Expr::Block(block) => last = block.block.brace_token.span,
                    _ => {}
                }
            }
            (branch.then_branch.brace_token.span, last)
        }
        Expr::Match(choice) => (choice.brace_token.span, choice.brace_token.span),
        Expr::While(each) => both(&each.body),
        Expr::ForLoop(each) => both(&each.body),
        Expr::Loop(each) => both(&each.body),
        Expr::Block(block) => both(&block.block),
        Expr::Unsafe(block) => both(&block.block),
        Expr::Async(block) => both(&block.block),
        Expr::Const(block) => both(&block.block),
        Expr::TryBlock(block) => both(&block.block),
        _ => return None,
    })
}

/// End of the header of an expression that is a compound statement.
fn opening(expression: &Expr) -> Option<usize> {
    braces(expression).map(|(first, _)| at(first.open()).end as usize)
}

/// End of an expression that needs no `;`.
fn closing(expression: &Expr) -> Option<usize> {
    let end = braces(expression).map(|(_, last)| at(last.close()).end as usize);
    end.or_else(|| Some(at(expression.span()).end as usize))
}
