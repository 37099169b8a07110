//! The patterns of `match`: the names that they bind.

use rustpython_parser::ast::{self, Pattern};

use super::super::tokens::span;
use super::Strict;
use crate::facts::tree::Id;
use crate::source::Span;

impl<'a> Strict<'a> {
    /// A binding of what the pattern captures, if anything.
    pub(super) fn captures(&mut self, pattern: &'a Pattern) -> Option<Id> {
        let mut names = Vec::new();
        self.capture(pattern, &mut names);
        let first = self.b.tree.node(*names.first()?).span;
        let last = self.b.tree.node(*names.last()?).span;
        Some(self.b.bind(names, None, None, first.to(last)))
    }

    fn capture(&mut self, pattern: &'a Pattern, names: &mut Vec<Id>) {
        match pattern {
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(own) => self.capture_all(&own.patterns, names),
            Pattern::MatchOr(own) => self.capture_all(&own.patterns, names),
            Pattern::MatchMapping(own) => {
                self.capture_all(&own.patterns, names);
                self.capture_rest(own.rest.as_ref(), span(own.range), names);
            }
            Pattern::MatchClass(own) => {
                self.capture_all(&own.patterns, names);
                self.capture_all(&own.kwd_patterns, names);
            }
            Pattern::MatchStar(own) => {
                names.extend(
                    own.name
                        .as_ref()
                        .map(|name| self.last_name(name, span(own.range))),
                );
            }
            Pattern::MatchAs(own) => {
                if let Some(inner) = own.pattern.as_deref() {
                    self.capture(inner, names);
                }
                names.extend(
                    own.name
                        .as_ref()
                        .map(|name| self.last_name(name, span(own.range))),
                );
            }
        }
    }

    fn capture_all(&mut self, patterns: &'a [Pattern], names: &mut Vec<Id>) {
        for pattern in patterns {
            self.capture(pattern, names);
        }
    }

    /// `**rest` at the end of a mapping.
    fn capture_rest(&mut self, rest: Option<&ast::Identifier>, whole: Span, names: &mut Vec<Id>) {
        let Some(name) = rest else { return };
        let text = self.b.slice(whole);
        let head =
            text.trim_end_matches(|char: char| matches!(char, '}' | ',') || char.is_whitespace());
        let start = whole.start as usize;
        names.push(self.last_name(name, Span::new(start, start + head.len())));
    }
}
