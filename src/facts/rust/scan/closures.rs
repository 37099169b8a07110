//! Closures and struct literals as the token scan knows them.

use super::is_keyword;
use crate::facts::rust::lexer::Class;
use crate::facts::rust::reader::Reader;
use crate::facts::tree::{Arg, Form, Id, Kind, Param, Spread};

impl Reader<'_> {
    /// `|a, b| body`: the body is the rest.
    pub(super) fn scan_closure(&mut self, at: usize, to: usize) -> (Id, usize) {
        let lexed = self.lexed;
        let bar = |index: usize| {
            lexed
                .tokens
                .get(index)
                .is_some_and(|token| token.class == Class::Sign && token.sign == b'|')
        };
        let close = (at + 1..to.min(at.saturating_add(256)))
            .find(|index| bar(*index))
            .unwrap_or(at);
        let mut params = Vec::new();
        for index in at + 1..close {
            let Some(word) = lexed.word(index).filter(|word| !is_keyword(word)) else {
                continue;
            };
            let names = index == at + 1
                || lexed.signs(index - 1, ",")
                || is_keyword(lexed.slice(index - 1))
                || lexed.signs(index - 1, "&");
            if names {
                let span = self.token_span(index, index + 1);
                params.push(Param {
                    name: word.to_owned(),
                    default: None,
                    annotation: None,
                    span,
                    spread: Spread::No,
                });
            }
        }
        let ids = self.below(2, |reader| reader.run(close + 1, to));
        let body = self.join(ids, self.token_span(close + 1, to));
        let span = self.token_span(at, to.max(at + 1));
        (
            self.add(Kind::Closure { params, body }, span),
            to.max(close + 1),
        )
    }

    /// Whether the brace at `open` begins like the fields of a struct literal.
    pub(super) fn fields_follow(&self, open: usize) -> bool {
        let named = self.lexed.word(open + 1).is_some();
        (named && self.lexed.signs(open + 2, ":") && !self.lexed.signs(open + 2, "::"))
            || self.lexed.signs(open + 1, "..")
    }

    pub(super) fn scan_struct(&mut self, callee: Id, open: usize, to: usize) -> (Id, usize) {
        let (from, close, next) = self.inside(open, to);
        let mut args = Vec::new();
        for (start, end) in self.parts(from, close) {
            let named = self
                .lexed
                .word(start)
                .filter(|_| self.lexed.signs(start + 1, ":"))
                .map(str::to_owned);
            let value_start = if named.is_some() { start + 2 } else { start };
            let spread = if self.lexed.signs(start, "..") {
                Spread::Dict
            } else {
                Spread::No
            };
            let ids = self.below(1, |reader| reader.run(value_start, end));
            let value = self.join(ids, self.token_span(value_start, end));
            args.push(Arg {
                name: named,
                spread,
                value,
                span: self.token_span(start, end),
            });
        }
        let end = self.token_span(open, next).end as usize;
        (self.call(callee, args, Form::Struct, end), next)
    }
}
