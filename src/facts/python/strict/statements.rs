//! Statements.

use rustpython_parser::ast::{self, ExceptHandler, Expr, Ranged, Stmt};

use super::super::build::{self, DEEPEST};
use super::super::tokens::span;
use super::definitions::Def;
use super::{Strict, normal};
use crate::facts::tree::{Id, Import, Kind};
use crate::source::Span;

impl<'a> Strict<'a> {
    pub(super) fn statement(&mut self, statement: &'a Stmt, out: &mut Vec<Id>) {
        let whole = span(statement.range());
        let id = match statement {
            Stmt::FunctionDef(own) => {
                return self.function(
                    &Def {
                        whole,
                        args: &own.args,
                        body: &own.body,
                        decorators: &own.decorator_list,
                        returns: own.returns.as_deref(),
                        types: &own.type_params,
                    },
                    out,
                );
            }
            Stmt::AsyncFunctionDef(own) => {
                return self.function(
                    &Def {
                        whole,
                        args: &own.args,
                        body: &own.body,
                        decorators: &own.decorator_list,
                        returns: own.returns.as_deref(),
                        types: &own.type_params,
                    },
                    out,
                );
            }
            Stmt::ClassDef(own) => return self.class(own, out),
            Stmt::For(own) => self.loop_over(whole, &own.target, &own.iter, &own.body, &own.orelse),
            Stmt::AsyncFor(own) => {
                self.loop_over(whole, &own.target, &own.iter, &own.body, &own.orelse)
            }
            Stmt::While(own) => self.while_loop(own),
            Stmt::If(own) => self.condition(own),
            Stmt::With(own) => self.with(whole, &own.items, &own.body),
            Stmt::AsyncWith(own) => self.with(whole, &own.items, &own.body),
            Stmt::Match(own) => self.choice(own),
            Stmt::Try(own) => {
                self.attempt(whole, &own.body, &own.handlers, &own.orelse, &own.finalbody)
            }
            Stmt::TryStar(own) => {
                self.attempt(whole, &own.body, &own.handlers, &own.orelse, &own.finalbody)
            }
            Stmt::Return(_)
            | Stmt::Delete(_)
            | Stmt::Assign(_)
            | Stmt::TypeAlias(_)
            | Stmt::AugAssign(_)
            | Stmt::AnnAssign(_)
            | Stmt::Raise(_)
            | Stmt::Assert(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Expr(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_) => {
                self.b.statement(whole, whole);
                self.simple(statement, whole, out)
            }
        };
        out.push(id);
    }

    fn simple(&mut self, statement: &'a Stmt, whole: Span, out: &mut Vec<Id>) -> Id {
        match statement {
            Stmt::Return(own) => {
                let value = own.value.as_deref().map(|value| self.value(value));
                self.b.add(Kind::Return(value), whole)
            }
            Stmt::Delete(own) => self.parts(own.targets.iter(), whole),
            Stmt::Assign(own) => {
                let targets = own
                    .targets
                    .iter()
                    .map(|target| self.value(target))
                    .collect();
                let value = self.value(&own.value);
                self.b.bind(targets, Some(value), None, whole)
            }
            Stmt::TypeAlias(own) => {
                self.type_params(&own.type_params, out);
                let target = self.value(&own.name);
                let value = self.value(&own.value);
                self.b.bind(vec![target], Some(value), None, whole)
            }
            Stmt::AugAssign(own) => {
                let target = self.value(&own.target);
                let value = self.value(&own.value);
                self.b
                    .augmented(target, super::expressions::op(own.op), value, whole)
            }
            Stmt::AnnAssign(own) => {
                let target = self.value(&own.target);
                let annotation = self.value(&own.annotation);
                let found = self.b.annotation(annotation);
                out.extend(found.rest);
                let value = own.value.as_deref().map(|value| self.value(value));
                self.b.bind(vec![target], value, found.path, whole)
            }
            Stmt::Raise(own) => {
                let parts: Vec<Id> = own
                    .exc
                    .iter()
                    .chain(&own.cause)
                    .map(|part| self.value(part))
                    .collect();
                let value = match *parts {
                    [] => None,
                    [only] => Some(only),
                    _ => Some(self.b.add(Kind::Other(parts), whole)),
                };
                self.b.add(Kind::Leave(value), whole)
            }
            Stmt::Assert(own) => {
                let parts = [Some(&own.test), own.msg.as_ref()];
                self.parts(parts.into_iter().flatten().map(AsRef::as_ref), whole)
            }
            Stmt::Import(own) => {
                let imports = own.names.iter().map(import).collect();
                self.b.add(Kind::Import(imports), whole)
            }
            Stmt::ImportFrom(own) => {
                let imports = import_from(own);
                self.b.add(Kind::Import(imports), whole)
            }
            Stmt::Expr(own) => self.value(&own.value),
            Stmt::Break(_) | Stmt::Continue(_) => self.b.add(Kind::Leave(None), whole),
            Stmt::Global(own) => self.outer(&own.names, true, whole),
            Stmt::Nonlocal(own) => self.outer(&own.names, false, whole),
            Stmt::Pass(_)
            // The caller takes these.
            | Stmt::FunctionDef(_)
            | Stmt::AsyncFunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::For(_)
            | Stmt::AsyncFor(_)
            | Stmt::While(_)
            | Stmt::If(_)
            | Stmt::With(_)
            | Stmt::AsyncWith(_)
            | Stmt::Match(_)
            | Stmt::Try(_)
            | Stmt::TryStar(_) => self.b.nothing(whole),
        }
    }

    fn outer(&mut self, names: &[ast::Identifier], of_file: bool, whole: Span) -> Id {
        let names = names.iter().map(normal).collect();
        self.b.add(Kind::Outer { names, of_file }, whole)
    }

    pub(super) fn parts(&mut self, parts: impl Iterator<Item = &'a Expr>, whole: Span) -> Id {
        let parts = parts.map(|part| self.value(part)).collect();
        self.b.add(Kind::Other(parts), whole)
    }

    fn loop_over(
        &mut self,
        whole: Span,
        target: &'a Expr,
        iter: &'a Expr,
        body: &'a [Stmt],
        orelse: &'a [Stmt],
    ) -> Id {
        self.compound(whole.start, whole.start, whole.end);
        let target = self.value(target);
        let over = self.value(iter);
        let both = self
            .b
            .tree
            .node(target)
            .span
            .to(self.b.tree.node(over).span);
        let mut parts = vec![self.b.each(target, over, both), self.block(body)];
        parts.extend(self.clause(orelse));
        self.b.add(Kind::Other(parts), whole)
    }

    fn while_loop(&mut self, own: &'a ast::StmtWhile) -> Id {
        let whole = span(own.range);
        self.compound(whole.start, whole.start, whole.end);
        let test = self.value(&own.test);
        let then = self.block(&own.body);
        let id = self.b.add(
            Kind::If {
                test,
                then,
                otherwise: None,
            },
            whole,
        );
        match self.clause(&own.orelse) {
            Some(orelse) => self.b.add(Kind::Other(vec![id, orelse]), whole),
            None => id,
        }
    }

    /// An `if` with each `elif`, which is a statement with its own body alone.
    fn condition(&mut self, own: &'a ast::StmtIf) -> Id {
        let (all, depth) = (span(own.range), self.b.depth);
        let (mut next, mut end) = (own, all.end);
        let mut branches = Vec::new();
        let last = loop {
            let whole = span(next.range);
            self.compound(whole.start, whole.start, end);
            let test = self.value(&next.test);
            branches.push((test, self.block(&next.body), whole));
            match next.orelse.as_slice() {
                [Stmt::If(elif)] if self.is_elif(span(elif.range)) => next = elif,
                orelse => break self.clause(orelse),
            }
            end = next
                .body
                .last()
                .map_or(all.end, |last| span(last.range()).end);
            self.b.deeper();
        };
        self.b.depth = depth;
        let room = 1 + DEEPEST.saturating_sub(depth);
        let chain = self.b.chain(&branches, last, room);
        chain.unwrap_or_else(|| self.b.nothing(all))
    }

    fn is_elif(&self, whole: Span) -> bool {
        self.b.slice(whole).starts_with("elif")
    }

    fn with(&mut self, whole: Span, items: &'a [ast::WithItem], body: &'a [Stmt]) -> Id {
        self.compound(whole.start, whole.start, whole.end);
        let mut parts = Vec::new();
        for item in items {
            let value = self.value(&item.context_expr);
            let target = item.optional_vars.as_deref().map(|own| self.value(own));
            parts.push(self.b.entered(value, target));
        }
        parts.push(self.block(body));
        self.b.add(Kind::Other(parts), whole)
    }

    /// What is matched. The parser lets `a, b` without brackets be as long as its statement, and takes
    /// `a,` for `a`.
    fn subject(&mut self, subject: &'a Expr, whole: Span) -> Id {
        let id = self.value(subject);
        if let Expr::Tuple(own) = subject
            && span(own.range).start == whole.start
            && let Some((first, last)) = own.elts.first().zip(own.elts.last())
        {
            let ends = (span(first.range()), span(last.range()));
            self.b.tree.nodes[id.0 as usize].span = ends.0.to(ends.1);
            return id;
        }
        if !self.parsed.marks.ends_in_comma(whole.start) {
            return id;
        }
        self.b.add(Kind::List(vec![id]), self.b.tree.node(id).span)
    }

    fn choice(&mut self, own: &'a ast::StmtMatch) -> Id {
        let whole = span(own.range);
        self.compound(whole.start, whole.start, whole.end);
        let subject = self.subject(&own.subject, whole);
        let mut arms = Vec::new();
        for case in &own.cases {
            let Some(clause) = self.open_clause(&case.body) else {
                continue;
            };
            let mut parts: Vec<Id> = self.captures(&case.pattern).into_iter().collect();
            parts.extend(case.guard.as_deref().map(|guard| self.value(guard)));
            parts.push(self.block(&case.body));
            arms.push(self.b.add(Kind::Block(parts), clause));
        }
        let arms = self.b.add(Kind::Choice(arms), whole);
        self.b.add(Kind::Other(vec![subject, arms]), whole)
    }

    fn attempt(
        &mut self,
        whole: Span,
        body: &'a [Stmt],
        handlers: &'a [ExceptHandler],
        orelse: &'a [Stmt],
        last: &'a [Stmt],
    ) -> Id {
        self.compound(whole.start, whole.start, whole.end);
        let mut parts = vec![self.block(body)];
        let depth = self.b.depth;
        let mut branches = Vec::new();
        for own in handlers {
            self.b.deeper();
            branches.push(self.handler(own));
        }
        let orelse = self.clause(orelse);
        self.b.depth = depth;
        parts.extend(
            self.b
                .chain(&branches, orelse, DEEPEST.saturating_sub(depth)),
        );
        parts.extend(self.clause(last));
        self.b.add(Kind::Other(parts), whole)
    }

    /// An exception's name is no condition: hidden in an `Other` it cannot be folded.
    fn handler(&mut self, handler: &'a ExceptHandler) -> (Id, Id, Span) {
        let ExceptHandler::ExceptHandler(own) = handler;
        let whole = span(own.range);
        self.compound(whole.start, whole.start, whole.end);
        let mut types: Vec<Id> = own.type_.iter().map(|own| self.value(own)).collect();
        if let Some(name) = &own.name {
            let end = self
                .parsed
                .marks
                .colon(whole.start)
                .map_or(whole.start, |end| end - 1);
            let head = self
                .b
                .slice(Span {
                    start: whole.start,
                    end,
                })
                .trim_end()
                .len();
            let start = whole.start as usize;
            let name = self.last_name(name, Span::new(start, start + head));
            let own = self.b.tree.node(name).span;
            types.push(self.b.bind(vec![name], None, None, own));
        }
        let types = self.b.add(Kind::Other(types), whole);
        (types, self.block(&own.body), whole)
    }
}

fn import(own: &ast::Alias) -> Import {
    let path = normal(&own.name);
    build::import(path, own.asname.as_ref().map(normal))
}

fn import_from(own: &ast::StmtImportFrom) -> Vec<Import> {
    let dots = own.level.map_or(0, |level| level.to_usize());
    let mut base = ".".repeat(dots);
    base.push_str(&own.module.as_ref().map(normal).unwrap_or_default());
    own.names
        .iter()
        .map(|own| build::imported(&base, &normal(&own.name), own.asname.as_ref().map(normal)))
        .collect()
}
