//! Operands with what is hung on them: paths, calls, methods, macros, literals, closures, brackets.

use super::is_keyword;
use crate::facts::rust::lexer::Class;
use crate::facts::rust::reader::{LIMIT, Reader};
use crate::facts::tree::{Form, Id, Kind};
use crate::source::Span;

impl Reader<'_> {
    /// The operands between two tokens; the signs between them are skipped.
    pub(super) fn run(&mut self, from: usize, to: usize) -> Vec<Id> {
        if self.depth >= LIMIT {
            let span = self.token_span(from, to);
            return vec![self.flat(from, to, span)];
        }
        let mut found = Vec::new();
        let mut at = from;
        while at < to {
            let next = self.below(1, |reader| reader.operand(at, to, at == from, &mut found));
            at = next.max(at + 1);
        }
        found
    }

    /// One operand, or a sign that is none; gives the token after it.
    fn operand(&mut self, at: usize, to: usize, first: bool, found: &mut Vec<Id>) -> usize {
        let lexed = self.lexed;
        let Some(token) = lexed.tokens.get(at).copied() else {
            return to;
        };
        // The first link of a chain lies deepest. A chain that would take more than half of the
        // depth that is left goes on with an unknown base.
        let most = (LIMIT.saturating_sub(self.depth) / 2).max(1);
        let links = self.links(at, to).min(most);
        let (id, next) = match token.class {
            Class::Literal => (self.signed_literal(at), at + 1),
            Class::Word => match self.below(links, |reader| reader.word_operand(at, to)) {
                Some(done) => done,
                None => return self.keyword(at, to),
            },
            Class::Open => self.below(links, |reader| reader.group(at, to)),
            Class::Sign if token.sign == b'|' && (first || self.starts_operand(at)) => {
                let (id, next) = self.scan_closure(at, to);
                found.push(id);
                return next;
            }
            Class::Sign if token.sign == b'=' && !found.is_empty() && self.assigns(at) => {
                let Some(target) = found.pop() else {
                    return at + 1;
                };
                let values = self.below(1, |reader| reader.run(at + 1, to));
                let value = self.join(values, self.token_span(at + 1, to));
                let span = self.span(target).to(self.span(value));
                found.push(self.add(
                    Kind::Bind {
                        targets: vec![target],
                        value: Some(value),
                        annotation: None,
                    },
                    span,
                ));
                return to;
            }
            Class::Sign | Class::Close | Class::Lifetime => return at + 1,
        };
        self.postfix(id, next, to, links.max(1), found)
    }

    fn signed_literal(&mut self, at: usize) -> Id {
        let lexed = self.lexed;
        let id = self.literal(self.token_span(at, at + 1));
        let minus = at
            .checked_sub(1)
            .filter(|before| lexed.signs(*before, "-") && self.starts_operand(*before));
        if let (Kind::Int(value), Some(minus)) = (&self.tree.node(id).kind, minus) {
            let kind = Kind::Int(value.saturating_neg());
            return self.add(kind, self.token_span(minus, at + 1));
        }
        id
    }

    /// Whether an operand may start at `at`, to tell a closure from an or.
    fn starts_operand(&self, at: usize) -> bool {
        let Some(before) = at
            .checked_sub(1)
            .and_then(|before| self.lexed.tokens.get(before))
        else {
            return true;
        };
        match before.class {
            Class::Sign => before.sign != b'?',
            Class::Open => true,
            Class::Word => matches!(
                self.lexed.slice(at - 1),
                "move" | "async" | "return" | "static" | "else" | "in"
            ),
            Class::Close | Class::Literal | Class::Lifetime => false,
        }
    }

    /// Whether the `=` at `at` stands alone.
    fn assigns(&self, at: usize) -> bool {
        let joined = |before: usize| {
            let signs = [
                "==", "<=", ">=", "!=", "+=", "-=", "*=", "/=", "%=", "^=", "|=", "&=", ".=",
            ];
            signs.iter().any(|signs| self.lexed.signs(before, signs))
        };
        !self.lexed.signs(at, "==")
            && !self.lexed.signs(at, "=>")
            && !at.checked_sub(1).is_some_and(joined)
    }

    /// A path, and the macro, struct literal or name that it is; none for a keyword.
    fn word_operand(&mut self, at: usize, to: usize) -> Option<(Id, usize)> {
        let lexed = self.lexed;
        let word = lexed.word(at)?;
        if !lexed.slice(at).starts_with("r#") {
            match word {
                "true" | "false" => {
                    return Some((
                        self.add(Kind::Bool(word == "true"), self.token_span(at, at + 1)),
                        at + 1,
                    ));
                }
                _ if is_keyword(word) => return None,
                _ => {}
            }
        }
        let (names, next) = self.scan_path(at, to);
        let callee = self.names(None, &names)?;
        if next + 1 < to && lexed.signs(next, "!") {
            // `macro_rules! name { … }`
            let open = if lexed.word(next + 1).is_some() {
                next + 2
            } else {
                next + 1
            };
            if open < to
                && lexed
                    .tokens
                    .get(open)
                    .is_some_and(|token| token.class == Class::Open)
            {
                return Some(self.scan_macro(callee, next, open, to));
            }
        }
        let upper = names
            .last()
            .is_some_and(|(name, _)| name.starts_with(char::is_uppercase));
        if upper && next < to && lexed.opens(next, b'{') && self.fields_follow(next) {
            return Some(self.scan_struct(callee, next, to));
        }
        Some((callee, next))
    }

    /// Names joined by `::`, generic arguments left out, and the token after them.
    pub(super) fn scan_path(&self, at: usize, to: usize) -> (Vec<(String, Span)>, usize) {
        let lexed = self.lexed;
        let mut names = Vec::new();
        let mut next = at;
        while let Some(word) = lexed.word(next).filter(|_| next < to) {
            names.push((word.to_owned(), self.token_span(next, next + 1)));
            next += 1;
            if !lexed.signs(next, "::") || next + 2 >= to {
                break;
            }
            let mut after = next + 2;
            if lexed.signs(after, "<") {
                after = self.after_angles(after, to);
                if !lexed.signs(after, "::") || lexed.word(after + 2).is_none() {
                    next = after;
                    break;
                }
                after += 2;
            }
            if lexed.word(after).is_none() {
                break;
            }
            next = after;
        }
        (names, next)
    }

    /// The token after the generic arguments that open at `at`; the next one if they never close.
    pub(super) fn after_angles(&self, at: usize, to: usize) -> usize {
        let mut depth = 0_usize;
        let mut next = at;
        while next < to.min(at.saturating_add(256)) {
            let Some(token) = self.lexed.tokens.get(next) else {
                break;
            };
            match (token.class, token.sign) {
                (Class::Sign, b'<') => depth += 1,
                (Class::Sign, b'>')
                    if !next
                        .checked_sub(1)
                        .is_some_and(|before| self.lexed.signs(before, "->")) =>
                {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return next + 1;
                    }
                }
                (Class::Sign, b';') | (Class::Close, _) => break,
                (Class::Open, _) => {
                    next = token.partner.saturating_add(1).max(next + 1);
                    continue;
                }
                _ => {}
            }
            next += 1;
        }
        at + 1
    }

    /// Skips a keyword, and the type after `as`.
    fn keyword(&mut self, at: usize, to: usize) -> usize {
        if self.lexed.word(at) != Some("as") {
            return at + 1;
        }
        let mut next = at + 1;
        while next < to
            && (self.lexed.tokens.get(next).is_some_and(|token| {
                token.class == Class::Sign && matches!(token.sign, b'*' | b'&')
            }) || matches!(self.lexed.word(next), Some("const" | "mut" | "dyn")))
        {
            next += 1;
        }
        self.scan_path(next, to).1
    }

    /// Calls, methods, fields and indexes behind an operand, at most `most` before a new base.
    fn postfix(
        &mut self,
        mut id: Id,
        mut next: usize,
        to: usize,
        most: usize,
        found: &mut Vec<Id>,
    ) -> usize {
        let lexed = self.lexed;
        let deeper = most + 1;
        let mut links = 0;
        while next < to {
            let Some(token) = lexed.tokens.get(next).copied() else {
                break;
            };
            let hangs = matches!(
                (token.class, token.sign),
                (Class::Open, b'(' | b'[') | (Class::Sign, b'.')
            );
            if hangs && links >= most {
                found.push(id);
                let span = self.token_span(next, next);
                id = self.nothing(span);
                links = 0;
            }
            match (token.class, token.sign) {
                (Class::Open, b'(') => {
                    let (from, close, after) = self.inside(next, to);
                    let args = self.below(deeper, |reader| reader.args_between(from, close, None));
                    id = self.call(
                        id,
                        args,
                        Form::Call,
                        self.token_span(next, after).end as usize,
                    );
                    next = after;
                }
                (Class::Open, b'[') => {
                    let (from, close, after) = self.inside(next, to);
                    let index = self.below(deeper, |reader| reader.run(from, close));
                    let index =
                        (!index.is_empty()).then(|| self.join(index, self.token_span(from, close)));
                    let span = self.span(id).to(self.token_span(next, after));
                    id = self.add(Kind::Index { base: id, index }, span);
                    next = after;
                }
                (Class::Sign, b'?') => next += 1,
                (Class::Sign, b'.') if next + 1 < to => {
                    match lexed.tokens.get(next + 1).map(|token| token.class) {
                        Some(Class::Word) if lexed.slice(next + 1) == "await" => next += 2,
                        Some(Class::Word) => {
                            let name = lexed.word(next + 1).unwrap_or_default().to_owned();
                            id = self.member(id, name, self.token_span(next + 1, next + 2));
                            next += 2;
                            if lexed.signs(next, "::") && lexed.signs(next + 2, "<") {
                                next = self.after_angles(next + 2, to);
                            }
                        }
                        Some(Class::Literal) => {
                            let name = lexed.slice(next + 1).to_owned();
                            id = self.member(id, name, self.token_span(next + 1, next + 2));
                            next += 2;
                        }
                        _ => break,
                    }
                }
                _ => break,
            }
            links += 1;
        }
        found.push(id);
        next
    }

    /// How many fields, methods, calls and indexes hang on the operand at `at`.
    fn links(&self, at: usize, to: usize) -> usize {
        let lexed = self.lexed;
        let after = |index: usize| {
            lexed
                .tokens
                .get(index)
                .map_or(to, |token| token.partner.saturating_add(1).max(index + 1))
        };
        let mut next = after(at);
        let mut links = 0;
        while let Some(token) = lexed.tokens.get(next).filter(|_| next < to) {
            next = match (token.class, token.sign) {
                (Class::Open, b'(' | b'[') => {
                    links += 1;
                    after(next)
                }
                (Class::Sign, b'.') => {
                    links += 1;
                    next + 2
                }
                (Class::Sign, b'?') => next + 1,
                (Class::Sign, b'!')
                    if lexed
                        .tokens
                        .get(next + 1)
                        .is_some_and(|token| token.class == Class::Open) =>
                {
                    after(next + 1)
                }
                (Class::Sign, b':') if lexed.signs(next, "::<") => self.after_angles(next + 2, to),
                (Class::Sign, b':') if lexed.signs(next, "::") => next + 3,
                _ => break,
            };
        }
        links
    }

    /// A bracketed operand.
    fn group(&mut self, at: usize, to: usize) -> (Id, usize) {
        let (from, close, next) = self.inside(at, to);
        let span = self.token_span(at, next);
        if self.lexed.opens(at, b'{') {
            let body = self.below(1, |reader| reader.scan_block(from, close));
            return (self.add(Kind::Block(body), span), next);
        }
        let args = self.below(1, |reader| reader.args_between(from, close, None));
        let mut parts: Vec<Id> = args.into_iter().map(|arg| arg.value).collect();
        let id = match (parts.len(), self.lexed.opens(at, b'(')) {
            (0, true) => self.add(Kind::Nothing, span),
            (1, true) => parts.pop().unwrap_or_else(|| self.nothing(span)),
            _ => self.add(Kind::List(parts), span),
        };
        (id, next)
    }
}
