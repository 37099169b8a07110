//! Declarations as the token scan knows them: imports, functions, bindings, bodies with a name.

use super::is_keyword;
use crate::facts::rust::lexer::Class;
use crate::facts::rust::reader::Reader;
use crate::facts::tree::{Function, Id, Import, Kind, Param, Spread};

/// The token after a declaration, and the one that opens its body.
pub(super) type Done = (usize, Option<usize>);

impl Reader<'_> {
    /// The declaration at `at`, if there is one.
    pub(super) fn declaration(&mut self, at: usize, to: usize, body: &mut Vec<Id>) -> Option<Done> {
        let keyword = self.after_modifiers(at, to);
        if self.lexed.slice(keyword).starts_with("r#") {
            return None;
        }
        match self.lexed.word(keyword)? {
            "use" => Some(self.scan_use(keyword, to, body)),
            "fn" => self.scan_function(keyword, to, body),
            "let" => Some(self.scan_binding(keyword, to, body)),
            "const" | "static" => self
                .lexed
                .word(keyword + 1)
                .map(|_| self.scan_binding(keyword, to, body)),
            "mod" | "impl" | "trait" | "struct" | "enum" => self.scan_class(keyword, to, body),
            "extern" => self.scan_extern(keyword, to, body),
            _ => None,
        }
    }

    /// Skips `pub(…)`, `unsafe`, `async` and kin, where a declaration may follow.
    fn after_modifiers(&self, at: usize, to: usize) -> usize {
        let mut next = at;
        while next < to.min(at + 12) {
            next = match self.lexed.word(next) {
                Some("pub") if self.lexed.opens(next + 1, b'(') => self.inside(next + 1, to).2,
                Some("pub" | "unsafe" | "async" | "default" | "safe" | "auto" | "gen") => next + 1,
                Some("const")
                    if matches!(
                        self.lexed.word(next + 1),
                        Some("fn" | "unsafe" | "async" | "extern" | "trait" | "impl" | "auto")
                    ) =>
                {
                    next + 1
                }
                // The ABI of a function.
                Some("extern") if self.lexed.word(next + 1) == Some("fn") => next + 1,
                Some("extern") if self.lexed.word(next + 2) == Some("fn") => next + 2,
                _ => return next,
            };
        }
        next
    }

    /// The first token from `at` on, at this level, that `is` accepts; a `;` or `}` ends the search.
    fn find(&self, at: usize, to: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mut next = at;
        // No header is as long as this; the bound keeps a hostile text from being quadratic.
        while next < to.min(at.saturating_add(1024)) {
            let token = self.lexed.tokens.get(next)?;
            if is(next) {
                return Some(next);
            }
            match (token.class, token.sign) {
                (Class::Sign, b';') | (Class::Close, _) | (Class::Open, b'{') => return None,
                (Class::Open, _) => next = token.partner.saturating_add(1).max(next + 1),
                _ => next += 1,
            }
        }
        None
    }

    fn scan_function(&mut self, at: usize, to: usize, body: &mut Vec<Id>) -> Option<Done> {
        let lexed = self.lexed;
        let name = lexed.word(at + 1)?.to_owned();
        let name_span = self.token_span(at + 1, at + 2);
        let after = if lexed.signs(at + 2, "<") {
            self.after_angles(at + 2, to)
        } else {
            at + 2
        };
        let open = self.find(after, to, |index| lexed.opens(index, b'('))?;
        let (from, close, next) = self.inside(open, to);
        let params = self
            .parts(from, close)
            .into_iter()
            .map(|(from, to)| self.scan_param(from, to))
            .collect();
        let brace = self.find(next, to, |index| lexed.opens(index, b'{'));
        let (code, next) = match brace {
            Some(open) => {
                let (from, close, next) = self.inside(open, to);
                let parts = self.below(2, |reader| reader.scan_block(from, close));
                let span = self.token_span(open, next);
                (Some(self.add(Kind::Block(parts), span)), next)
            }
            None if lexed.signs(next, "->") || lexed.word(next) == Some("where") => {
                (None, self.statement_end(next, to))
            }
            None => (None, next),
        };
        let function = Function {
            name,
            name_span,
            params,
            body: code,
            decorators: Vec::new(),
            foreign: false,
            link_name: None,
        };
        let span = self.token_span(at, next);
        body.push(self.add(Kind::Function(function), span));
        Some((next, brace))
    }

    fn scan_param(&mut self, from: usize, to: usize) -> Param {
        let lexed = self.lexed;
        let colon = (from..to).find(|index| lexed.signs(*index, ":") && !lexed.signs(*index, "::"));
        let names = from..colon.unwrap_or(to);
        let name = names
            .filter_map(|index| lexed.word(index))
            .find(|word| !is_keyword(word))
            .unwrap_or_default()
            .to_owned();
        let annotation = colon.and_then(|colon| self.scan_type(colon + 1, to));
        Param {
            name,
            default: None,
            annotation,
            span: self.token_span(from, to),
            spread: Spread::No,
        }
    }

    /// The path that a type names: the innermost of its generic arguments, unless it has none.
    fn scan_type(&mut self, from: usize, to: usize) -> Option<Id> {
        let lexed = self.lexed;
        let mut path = None;
        let mut at = from;
        for _ in 0..16 {
            let start =
                (at..to).find(|index| lexed.word(*index).is_some_and(|word| !is_keyword(word)))?;
            let (names, next) = self.scan_path(start, to);
            path = Some(names);
            if !lexed.signs(next, "<") {
                break;
            }
            let more =
                (next..to).find(|index| lexed.word(*index).is_some_and(|word| !is_keyword(word)));
            at = more?;
        }
        self.names(None, &path?)
    }

    /// `let`, `const`, `static`.
    fn scan_binding(&mut self, at: usize, to: usize, body: &mut Vec<Id>) -> Done {
        let lexed = self.lexed;
        let plain = |index: usize| {
            lexed.signs(index, "=") && !lexed.signs(index, "==") && !lexed.signs(index, "=>")
        };
        let equal = self.find_equal(at, to, plain);
        let stop = self.statement_end(equal.unwrap_or(at) + 1, to);
        let head = equal.unwrap_or(stop).min(stop);
        let colon = (at + 1..head).find(|index| {
            lexed.signs(*index, ":")
                && !lexed.signs(*index, "::")
                && (*index == 0 || !lexed.signs(*index - 1, "::"))
        });
        let mut targets = Vec::new();
        for index in at + 1..colon.unwrap_or(head) {
            let named = lexed.word(index).filter(|word| !is_keyword(word));
            let constructor = lexed.signs(index + 1, "::")
                || lexed.opens(index + 1, b'(')
                || lexed.opens(index + 1, b'{');
            if let Some(word) = named.filter(|_| !constructor) {
                let span = self.token_span(index, index + 1);
                targets.push(self.add(Kind::Name(word.to_owned()), span));
            }
        }
        if targets.len() > 1 {
            let span = self.token_span(at + 1, head);
            targets = vec![self.add(Kind::List(targets), span)];
        }
        let annotation = colon.and_then(|colon| self.scan_type(colon + 1, head));
        let value = equal.map(|equal| {
            let ids = self.below(1, |reader| reader.run(equal + 1, stop));
            let span = self.token_span(equal + 1, stop);
            self.join(ids, span)
        });
        let next = if lexed.signs(stop, ";") {
            stop + 1
        } else {
            stop
        };
        let span = self.token_span(at, next);
        body.push(self.add(
            Kind::Bind {
                targets,
                value,
                annotation,
            },
            span,
        ));
        (next.min(to).max(at + 1), None)
    }

    /// The `=` of a binding; braces of a pattern may stand before it.
    fn find_equal(&self, at: usize, to: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mut next = at;
        while next < to.min(at.saturating_add(256)) {
            let token = self.lexed.tokens.get(next)?;
            if is(next) {
                return Some(next);
            }
            match (token.class, token.sign) {
                (Class::Sign, b';') | (Class::Close, _) => return None,
                (Class::Open, _) => next = token.partner.saturating_add(1).max(next + 1),
                _ => next += 1,
            }
        }
        None
    }

    /// The `;` that ends a binding; a declaration that begins a line of its own ends one that has none.
    fn statement_end(&self, at: usize, to: usize) -> usize {
        let mut next = at;
        while next < to {
            let Some(token) = self.lexed.tokens.get(next) else {
                break;
            };
            match (token.class, token.sign) {
                (Class::Sign, b';') | (Class::Close, _) => return next,
                (Class::Open, _) => next = token.partner.saturating_add(1).max(next + 1),
                (Class::Word, _)
                    if matches!(self.lexed.slice(next), "let" | "fn" | "use")
                        && !self.lets(next) =>
                {
                    return next;
                }
                _ => next += 1,
            }
        }
        to.min(next)
    }

    /// Whether the `let` at `at` is part of a condition, or the `fn` part of a type.
    fn lets(&self, at: usize) -> bool {
        let before = at
            .checked_sub(1)
            .map(|before| self.lexed.slice(before))
            .unwrap_or_default();
        matches!(
            before,
            "if" | "while" | "&" | "<" | "(" | "," | ">" | "=" | "as" | ":"
        )
    }

    /// `mod`, `impl`, `trait`, `struct`, `enum`.
    fn scan_class(&mut self, at: usize, to: usize, body: &mut Vec<Id>) -> Option<Done> {
        let lexed = self.lexed;
        let open = self.find(at + 1, to, |index| lexed.opens(index, b'{'))?;
        let head = if lexed.signs(at + 1, "<") {
            self.after_angles(at + 1, open)
        } else {
            at + 1
        };
        let to_for = (head..open)
            .find(|index| lexed.word(*index) == Some("for") && !lexed.signs(index + 1, "<"));
        let implements = lexed.word(at) == Some("impl");
        let base = to_for
            .filter(|_| implements)
            .and_then(|_| self.scan_type_path(head, open));
        let name = self.scan_type_path(
            to_for.filter(|_| implements).map_or(head, |at| at + 1),
            open,
        );
        let name = name
            .and_then(|names| names.last().map(|(name, _)| name.clone()))
            .unwrap_or_default();
        let bases = base
            .and_then(|names| self.names(None, &names))
            .map(|id| self.arg(id))
            .into_iter()
            .collect();
        let (from, close, next) = self.inside(open, to);
        // Fields of a struct are names and types, no code.
        let data = matches!(lexed.word(at), Some("struct" | "enum"));
        let parts = if data {
            Vec::new()
        } else {
            self.below(2, |reader| reader.scan_block(from, close))
        };
        let span = self.token_span(open, next);
        let code = self.add(Kind::Block(parts), span);
        let span = self.token_span(at, next);
        body.push(self.add(
            Kind::Class {
                name,
                bases,
                decorators: Vec::new(),
                body: code,
            },
            span,
        ));
        Some((next, Some(open)))
    }

    fn scan_type_path(&self, from: usize, to: usize) -> Option<Vec<(String, crate::source::Span)>> {
        let start = (from..to).find(|index| {
            self.lexed
                .word(*index)
                .is_some_and(|word| !is_keyword(word))
        })?;
        Some(self.scan_path(start, to).0)
    }

    /// `extern crate a as b;` and `extern "C" { … }`.
    fn scan_extern(&mut self, at: usize, to: usize, body: &mut Vec<Id>) -> Option<Done> {
        let lexed = self.lexed;
        if lexed.word(at + 1) == Some("crate") {
            let path = lexed.word(at + 2)?.to_owned();
            let renamed = lexed
                .word(at + 4)
                .filter(|_| lexed.word(at + 3) == Some("as"));
            let name = Some(renamed.unwrap_or(&path).to_owned());
            let next = if renamed.is_some() { at + 5 } else { at + 3 };
            let span = self.token_span(at, next);
            body.push(self.add(Kind::Import(vec![Import { path, name }]), span));
            return Some((next.min(to), None));
        }
        let open = self.find(at + 1, to, |index| lexed.opens(index, b'{'))?;
        let (from, close, next) = self.inside(open, to);
        let parts = self.below(1, |reader| reader.scan_block(from, close));
        for id in &parts {
            if let Some(node) = self.tree.nodes.get_mut(id.0 as usize)
                && let Kind::Function(function) = &mut node.kind
            {
                function.foreign = true;
            }
        }
        body.extend(parts);
        Some((next, Some(open)))
    }
}
