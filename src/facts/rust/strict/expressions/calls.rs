//! Calls, methods, struct literals and closures.

use syn::ext::IdentExt;
use syn::{ExprCall, ExprClosure, ExprMethodCall, ExprStruct};

use super::member;
use crate::facts::rust::reader::Reader;
use crate::facts::rust::strict::at;
use crate::facts::tree::{Arg, Form, Id, Kind, Param, Spread};
use crate::source::Span;

impl Reader<'_> {
    pub(super) fn plain_call(&mut self, own: &ExprCall) -> Id {
        let callee = self.expression(&own.func);
        let args = self.arguments(own.args.iter());
        self.call(
            callee,
            args,
            Form::Call,
            at(own.paren_token.span.close()).end as usize,
        )
    }

    pub(super) fn method_call(&mut self, own: &ExprMethodCall) -> Id {
        if let Some(turbofish) = &own.turbofish {
            turbofish
                .args
                .iter()
                .for_each(|argument| self.strays_of_argument(argument));
        }
        let base = self.below(1, |reader| reader.expression(&own.receiver));
        let callee = self.member(base, own.method.unraw().to_string(), at(own.method.span()));
        let args = self.arguments(own.args.iter());
        self.call(
            callee,
            args,
            Form::Call,
            at(own.paren_token.span.close()).end as usize,
        )
    }

    fn arguments<'e>(&mut self, args: impl Iterator<Item = &'e syn::Expr>) -> Vec<Arg> {
        args.map(|arg| {
            let id = self.expression(arg);
            self.arg(id)
        })
        .collect()
    }

    pub(super) fn struct_literal(&mut self, own: &ExprStruct) -> Id {
        let callee = self.path(&own.path, own.qself.as_ref());
        let mut args = Vec::new();
        for field in &own.fields {
            let (name, span) = member(&field.member);
            let value = self.expression(&field.expr);
            let span = span.to(self.span(value));
            args.push(Arg {
                name: Some(name),
                spread: Spread::No,
                value,
                span,
            });
        }
        if let Some(rest) = &own.rest {
            let value = self.expression(rest);
            args.push(Arg {
                name: None,
                spread: Spread::Dict,
                value,
                span: self.span(value),
            });
        }
        self.call(
            callee,
            args,
            Form::Struct,
            at(own.brace_token.span.close()).end as usize,
        )
    }

    pub(super) fn closure(&mut self, own: &ExprClosure) -> Id {
        let params: Vec<Param> = own
            .inputs
            .iter()
            .map(|input| self.closure_param(input))
            .collect();
        self.strays_of_output(&own.output);
        let body = self.expression(&own.body);
        let span = at(own.inputs_begin.span).to(self.span(body));
        let start = own
            .capture
            .as_ref()
            .map_or(span.start, |keyword| at(keyword.span).start);
        let start = own
            .asyncness
            .as_ref()
            .map_or(start, |keyword| at(keyword.span).start.min(start));
        self.add(
            Kind::Closure { params, body },
            Span {
                start,
                end: span.end,
            },
        )
    }
}
