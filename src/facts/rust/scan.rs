//! The token scan: a tolerant reading of any tokens, for what syn refuses.
//!
//! It knows declarations, bindings, calls, chains, closures, literals and brackets; every other sign
//! is skipped. Nothing can be wrong for it, so what stands before and after a fault is found.

mod closures;
mod declarations;
mod imports;
mod operands;

use crate::facts::rust::lexer::Class;
use crate::facts::rust::macros::formats;
use crate::facts::rust::reader::{LIMIT, Reader};
use crate::facts::tree::{Arg, Form, Id, Kind, Spread};
use crate::source::Span;

impl Reader<'_> {
    /// The statements between two tokens.
    pub(super) fn scan_block(&mut self, from: usize, to: usize) -> Vec<Id> {
        let to = to.min(self.lexed.tokens.len());
        if self.depth >= LIMIT {
            let span = self.token_span(from, to);
            return vec![self.flat(from, to, span)];
        }
        let mut body = Vec::new();
        let mut at = from;
        while at < to {
            let next = self.below(1, |reader| reader.scan_statement(at, to, &mut body));
            at = next.max(at + 1);
        }
        body
    }

    /// The statements between two bytes.
    pub(super) fn scan_bytes(&mut self, span: Span) -> Vec<Id> {
        self.scan_block(
            self.lexed.token_at(span.start as usize),
            self.lexed.token_at(span.end as usize),
        )
    }

    /// The arguments of the macro `name` between two bytes: split at commas and semicolons.
    pub(super) fn scan_args(&mut self, name: &str, span: Span) -> Vec<Arg> {
        let from = self.lexed.token_at(span.start as usize);
        self.args_between(from, self.lexed.token_at(span.end as usize), Some(name))
    }

    /// One statement; gives the token after it.
    fn scan_statement(&mut self, from: usize, to: usize, body: &mut Vec<Id>) -> usize {
        let at = self.after_attributes(from, to);
        let Some(token) = self.lexed.tokens.get(at).copied().filter(|_| at < to) else {
            return to;
        };
        if token.class == Class::Close
            || (token.class == Class::Sign && matches!(token.sign, b';' | b','))
        {
            return at + 1;
        }
        let start = self
            .lexed
            .tokens
            .get(from)
            .map_or(token.start, |first| first.start);
        let before = body.len();
        let (next, header) = match self.declaration(at, to, body) {
            Some(done) => done,
            None => self.run_statement(at, to, body),
        };
        let end = next
            .checked_sub(1)
            .and_then(|last| self.lexed.tokens.get(last))
            .map_or(start, |last| last.end);
        if body.len() > before {
            let opens = header
                .and_then(|open| self.lexed.tokens.get(open))
                .map(|open| open.end);
            self.statement(start, end, opens);
        }
        next
    }

    /// An expression statement: up to its `;`, or to a brace that no operator follows.
    fn run_statement(
        &mut self,
        at: usize,
        to: usize,
        body: &mut Vec<Id>,
    ) -> (usize, Option<usize>) {
        let mut next = at;
        let mut header = None;
        while next < to {
            let Some(token) = self.lexed.tokens.get(next).copied() else {
                break;
            };
            match token.class {
                Class::Sign if matches!(token.sign, b';' | b',') => {
                    next += 1;
                    break;
                }
                Class::Close => break,
                Class::Open => {
                    if token.sign == b'{' && header.is_none() && self.compound(at, next) {
                        header = Some(next);
                    }
                    next = token.partner.saturating_add(1).min(to).max(next + 1);
                    if token.sign == b'{' && self.ends_statement(next, to) {
                        break;
                    }
                }
                _ => next += 1,
            }
        }
        let stop = next.min(to);
        let ids = self.run(at, stop);
        body.extend(ids);
        (stop.max(at + 1), header)
    }

    /// Whether the words before a brace make it the body of a compound statement.
    fn compound(&self, from: usize, brace: usize) -> bool {
        from == brace
            || matches!(
                self.lexed.word(from),
                Some(
                    "if" | "match"
                        | "while"
                        | "for"
                        | "loop"
                        | "unsafe"
                        | "async"
                        | "else"
                        | "const"
                        | "try"
                )
            )
    }

    /// Whether a statement that ends with a brace ends before the token `next`.
    fn ends_statement(&self, next: usize, to: usize) -> bool {
        let Some(token) = self.lexed.tokens.get(next).filter(|_| next < to) else {
            return true;
        };
        match token.class {
            Class::Word => !matches!(self.lexed.slice(next), "else" | "as"),
            Class::Sign => !matches!(token.sign, b'.' | b'?' | b';' | b',' | b'='),
            Class::Literal | Class::Lifetime | Class::Close | Class::Open => true,
        }
    }

    /// The arguments between two tokens. `macro_name` names the macro that they are given to.
    pub(super) fn args_between(
        &mut self,
        from: usize,
        to: usize,
        macro_name: Option<&str>,
    ) -> Vec<Arg> {
        let mut args = Vec::new();
        let mut format = None;
        for (start, end) in self.parts(from, to) {
            let named = self.lexed.word(start).filter(|_| {
                start + 1 < end
                    && self.lexed.signs(start + 1, "=")
                    && !self.lexed.signs(start + 1, "==")
                    && !self.lexed.signs(start + 1, "=>")
            });
            let name = named.map(str::to_owned);
            let value_start = if name.is_some() { start + 2 } else { start };
            let span = self.token_span(start, end);
            let ids = self.below(1, |reader| reader.run(value_start, end));
            if ids.is_empty() {
                continue;
            }
            let value = self.join(ids, self.token_span(value_start, end));
            if format.is_none()
                && macro_name.is_some_and(formats)
                && matches!(self.tree.node(value).kind, Kind::Text(_))
            {
                format = Some(args.len());
            }
            args.push(Arg {
                name,
                spread: Spread::No,
                value,
                span,
            });
        }
        if let Some(index) = format {
            self.fill(&mut args, index);
        }
        args
    }

    /// The token ranges between separators at one level. A comma between the bars of a closure's
    /// parameters is none.
    pub(super) fn parts(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let (mut start, mut at, mut bars) = (from, from, false);
        while at < to {
            let Some(token) = self.lexed.tokens.get(at) else {
                break;
            };
            match token.class {
                Class::Open => {
                    at = token.partner.saturating_add(1).max(at + 1);
                    continue;
                }
                Class::Sign if token.sign == b'|' => {
                    bars = !bars && (at == start || self.lexed.word(at - 1) == Some("move"));
                }
                Class::Sign if token.sign == b';' || (token.sign == b',' && !bars) => {
                    parts.push((start, at));
                    start = at + 1;
                    bars = false;
                }
                _ => {}
            }
            at += 1;
        }
        if start < to {
            parts.push((start, to));
        }
        parts.retain(|(start, end)| start < end);
        parts
    }

    /// The bytes from one token to before another.
    pub(super) fn token_span(&self, from: usize, to: usize) -> Span {
        let first = self.lexed.tokens.get(from);
        let last = to
            .checked_sub(1)
            .filter(|last| *last >= from)
            .and_then(|last| self.lexed.tokens.get(last));
        match (first, last) {
            (Some(first), Some(last)) => Span::new(first.start, last.end),
            (Some(first), None) => Span::new(first.start, first.start),
            _ => Span::new(self.lexed.text.len(), self.lexed.text.len()),
        }
    }

    /// The token after the attributes at `from`.
    fn after_attributes(&self, from: usize, to: usize) -> usize {
        let mut at = from;
        while at < to && self.lexed.signs(at, "#") {
            let open = if self.lexed.signs(at, "#!") {
                at + 2
            } else {
                at + 1
            };
            if !self.lexed.opens(open, b'[') {
                return at;
            }
            at = self
                .lexed
                .tokens
                .get(open)
                .map_or(to, |token| token.partner.saturating_add(1));
        }
        at
    }

    /// The inside of the bracket at `open`: from its first token to its closing one, and what is after.
    pub(super) fn inside(&self, open: usize, to: usize) -> (usize, usize, usize) {
        let close = self
            .lexed
            .tokens
            .get(open)
            .map_or(to, |token| token.partner)
            .min(to);
        (
            open + 1,
            close.max(open + 1).min(to.max(open + 1)),
            (close + 1).min(to).max(open + 1),
        )
    }

    /// A macro's call from its tokens.
    pub(super) fn scan_macro(
        &mut self,
        callee: Id,
        bang: usize,
        open: usize,
        to: usize,
    ) -> (Id, usize) {
        let lexed = self.lexed;
        let name = match &self.tree.node(callee).kind {
            Kind::Name(name) | Kind::Attr { name, .. } => name.clone(),
            _ => String::new(),
        };
        if let Some(bang) = lexed.tokens.get(bang) {
            self.exclaim(callee, bang.span());
        }
        let (from, close, next) = self.inside(open, to);
        let start = lexed.tokens.get(open).map_or(0, |token| token.end);
        let end = lexed
            .tokens
            .get(close)
            .map_or(lexed.text.len(), |token| token.start)
            .max(start);
        let tokens = Span::new(start, end);
        let args = if lexed.opens(open, b'{') {
            self.below(2, |reader| reader.scan_block(from, close))
                .into_iter()
                .map(|id| self.arg(id))
                .collect()
        } else {
            self.below(1, |reader| reader.args_between(from, close, Some(&name)))
        };
        let end = self.token_span(open, next).end as usize;
        if name == "vec" {
            let span = self.span(callee).to(Span::new(end, end));
            let parts = args.into_iter().map(|arg| arg.value).collect();
            return (self.add(Kind::List(parts), span), next);
        }
        (self.call(callee, args, Form::Macro { tokens }, end), next)
    }
}

/// Words that are no operand.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "await"
            | "break"
            | "const"
            | "continue"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "static"
            | "struct"
            | "trait"
            | "type"
            | "unsafe"
            | "use"
            | "where"
            | "while"
            | "yield"
            | "gen"
            | "do"
            | "_"
    )
}
