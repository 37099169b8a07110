//! Arms in macros: `pattern = future, if guard => body` as in `select!`, `pattern => body` as in
//! `match`.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Pat, Token};

use crate::facts::rust::reader::Reader;
use crate::facts::rust::strict::at;
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

struct MacroArm {
    pattern: Option<Pat>,
    value: Option<Expr>,
    guard: Option<Expr>,
    body: Expr,
    end: Span,
}

impl Reader<'_> {
    /// Tokens between `inside` as arms: their values, which all are awaited, then a choice of bodies.
    pub(super) fn as_arms(&mut self, tokens: TokenStream, inside: Span) -> Option<Vec<Id>> {
        let arms = arms.parse2(tokens).ok()?;
        let mut cursor = inside.start as usize;
        let mut ids = Vec::new();
        for arm in &arms {
            let start = self.start_after(cursor);
            let id = self.below(3, |reader| reader.macro_arm(arm, start));
            cursor = cursor.max(arm.end.end as usize);
            ids.push(id);
        }
        Some(vec![self.add(Kind::Choice(ids), inside)])
    }

    fn macro_arm(&mut self, arm: &MacroArm, start: usize) -> Id {
        let outer = std::mem::take(&mut self.stray);
        let mut parts = Vec::new();
        let value = arm.value.as_ref().map(|value| self.expression(value));
        let targets = arm
            .pattern
            .as_ref()
            .map(|pattern| self.targets(pattern))
            .unwrap_or_default();
        let end = arm.end.end as usize;
        let whole = Span::new(start, end);
        if arm.pattern.is_some() {
            let annotation = None;
            parts.push(self.add(
                Kind::Bind {
                    targets,
                    value,
                    annotation,
                },
                whole,
            ));
        }
        if let Some(guard) = &arm.guard {
            parts.push(self.expression(guard));
        }
        parts.append(&mut self.stray);
        let body = self.expression(&arm.body);
        parts.append(&mut self.stray);
        self.stray = outer;
        let place = self.span(body);
        parts.push(self.add(Kind::Tail(body), place));
        let header = match &arm.body {
            Expr::Block(own) => Some(at(own.block.brace_token.span.open()).end as usize),
            _ => None,
        };
        self.statement(start, end, header);
        self.add(Kind::Block(parts), whole)
    }
}

fn arms(input: ParseStream<'_>) -> syn::Result<Vec<MacroArm>> {
    let mut found = Vec::new();
    if input.peek(syn::Ident) && input.peek2(Token![;]) {
        // `biased;`
        input.parse::<syn::Ident>()?;
        input.parse::<Token![;]>()?;
    }
    while !input.is_empty() {
        found.push(arm(input)?);
    }
    if found.is_empty() {
        Err(input.error("no arms"))
    } else {
        Ok(found)
    }
}

fn arm(input: ParseStream<'_>) -> syn::Result<MacroArm> {
    let (mut pattern, mut value, mut guard) = (None, None, None);
    if input.peek(Token![else]) {
        input.parse::<Token![else]>()?;
    } else {
        pattern = Some(Pat::parse_multi_with_leading_vert(input)?);
        if input.peek(Token![=]) && !input.peek(Token![=>]) {
            input.parse::<Token![=]>()?;
            value = Some(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        if input.peek(Token![if]) {
            input.parse::<Token![if]>()?;
            guard = Some(input.parse()?);
        }
    }
    input.parse::<Token![=>]>()?;
    let body = Expr::parse_with_earlier_boundary_rule(input)?;
    let close = match &body {
        Expr::Block(own) => own.block.brace_token.span.close(),
        other => other.span(),
    };
    let comma = input.parse::<Option<Token![,]>>()?;
    let end = comma.map_or_else(|| at(close), |comma| at(comma.span));
    Ok(MacroArm {
        pattern,
        value,
        guard,
        body,
        end,
    })
}
