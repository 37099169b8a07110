//! Functions and classes.

use rustpython_parser::ast::{self, Expr, Ranged, Stmt, TypeParam};

use super::super::tokens::span;
use super::{Strict, normal};
use crate::facts::tree::{Function, Id, Kind, Param, Spread};
use crate::source::Span;

/// The parts of `def` and `async def`.
pub(super) struct Def<'a> {
    pub(super) whole: Span,
    pub(super) args: &'a ast::Arguments,
    pub(super) body: &'a [Stmt],
    pub(super) decorators: &'a [Expr],
    pub(super) returns: Option<&'a Expr>,
    pub(super) types: &'a [TypeParam],
}

impl<'a> Strict<'a> {
    pub(super) fn function(&mut self, def: &Def<'a>, out: &mut Vec<Id>) {
        let start = self.decorated(def.decorators, def.whole);
        self.compound(start, def.whole.start, def.whole.end);
        let decorators = def.decorators.iter().map(|own| self.value(own)).collect();
        self.type_params(def.types, out);
        let params = self.params(def.args, out);
        if let Some(returns) = def.returns {
            let returns = self.value(returns);
            let found = self.b.annotation(returns);
            out.extend(found.rest);
        }
        let name_span = self.parsed.marks.name(def.whole.start).unwrap_or(def.whole);
        let name = super::super::build::normal(self.b.slice(name_span));
        let body = Some(self.body(def.body));
        let function = Function {
            name,
            name_span,
            params,
            body,
            decorators,
            foreign: false,
            link_name: None,
        };
        let id = self.b.add(Kind::Function(function), def.whole);
        out.push(id);
    }

    pub(super) fn class(&mut self, own: &'a ast::StmtClassDef, out: &mut Vec<Id>) {
        let whole = span(own.range);
        let start = self.decorated(&own.decorator_list, whole);
        self.compound(start, whole.start, whole.end);
        let decorators = own
            .decorator_list
            .iter()
            .map(|own| self.value(own))
            .collect();
        self.type_params(&own.type_params, out);
        let bases = self.args(&own.bases, &own.keywords);
        let body = self.body(&own.body);
        let kind = Kind::Class {
            name: normal(&own.name),
            bases,
            decorators,
            body,
        };
        let id = self.b.add(kind, whole);
        out.push(id);
    }

    pub(super) fn decorated(&self, decorators: &[Expr], whole: Span) -> u32 {
        let first = decorators.first().map(|first| span(first.range()).start);
        let sign = first.and_then(|first| self.parsed.marks.decorator(first));
        sign.unwrap_or(whole.start)
    }

    pub(super) fn type_params(&mut self, types: &'a [TypeParam], out: &mut Vec<Id>) {
        for own in types {
            match own {
                TypeParam::TypeVar(own) => {
                    if let Some(bound) = &own.bound {
                        let bound = self.value(bound);
                        let found = self.b.annotation(bound);
                        out.extend(found.rest);
                    }
                }
                TypeParam::ParamSpec(_) | TypeParam::TypeVarTuple(_) => {}
            }
        }
    }

    /// Parameters in source order. What their annotations call goes to `extras`.
    pub(super) fn params(&mut self, args: &'a ast::Arguments, extras: &mut Vec<Id>) -> Vec<Param> {
        let mut params = Vec::new();
        for own in args.posonlyargs.iter().chain(&args.args) {
            self.param(
                &own.def,
                own.default.as_deref(),
                Spread::No,
                &mut params,
                extras,
            );
        }
        if let Some(own) = &args.vararg {
            self.param(own, None, Spread::List, &mut params, extras);
        }
        for own in &args.kwonlyargs {
            self.param(
                &own.def,
                own.default.as_deref(),
                Spread::No,
                &mut params,
                extras,
            );
        }
        if let Some(own) = &args.kwarg {
            self.param(own, None, Spread::Dict, &mut params, extras);
        }
        params
    }

    pub(super) fn param(
        &mut self,
        own: &'a ast::Arg,
        default: Option<&'a Expr>,
        spread: Spread,
        params: &mut Vec<Param>,
        extras: &mut Vec<Id>,
    ) {
        let annotation = own.annotation.as_deref().map(|own| self.value(own));
        let default = default.map(|own| self.value(own));
        let mut whole = span(own.range);
        if let Some(default) = default {
            whole = whole.to(self.b.tree.node(default).span);
        }
        if spread != Spread::No {
            let before = self.b.text.get(..whole.start as usize).unwrap_or_default();
            let stars = before.trim_end().trim_end_matches('*').len();
            whole = whole.to(Span::new(stars, stars));
        }
        let name = own.arg.as_str().to_owned();
        let param = Param {
            name,
            default,
            annotation: None,
            span: whole,
            spread,
        };
        self.b.param(&param, annotation, params, extras);
    }
}
