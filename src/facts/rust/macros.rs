//! Macro invocations: their tokens are code, in one of a few shapes; what fits none is scanned.

mod arms;
mod format;
mod metavariables;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Block, Expr, Macro, Stmt, Token};

use crate::facts::rust::reader::{LIMIT, Reader};
use crate::facts::rust::strict::at;
use crate::facts::tree::{Arg, Form, Id, Kind, Spread};
use crate::source::Span;

pub(super) use format::formats;

type Args = Punctuated<Expr, Token![,]>;

impl Reader<'_> {
    /// A macro invocation, and whether its tokens were read as statements, items or arms.
    pub(super) fn macro_call(&mut self, own: &Macro) -> (Id, bool) {
        let callee = self.path(&own.path, None);
        self.exclaim(callee, at(own.bang_token.span));
        let brackets = own.delimiter.span();
        let tokens = Span {
            start: at(brackets.open()).end,
            end: at(brackets.close()).start,
        };
        let end = at(brackets.close()).end as usize;
        let name = own
            .path
            .segments
            .last()
            .map(|last| last.ident.unraw().to_string())
            .unwrap_or_default();
        if self.depth >= LIMIT {
            let flat = self.flat_bytes(tokens);
            let args = vec![self.arg(flat)];
            return (self.call(callee, args, Form::Macro { tokens }, end), false);
        }
        let (args, code) = self.below(1, |reader| reader.macro_args(&name, &own.tokens, tokens));
        if name == "vec" && !code {
            let parts = args.into_iter().map(|arg| arg.value).collect();
            let span = self.span(callee).to(Span::new(end, end));
            return (self.add(Kind::List(parts), span), false);
        }
        if name == "concat"
            && let Some(joined) = self.joined(&args, self.span(callee).to(Span::new(end, end)))
        {
            return (joined, false);
        }
        (self.call(callee, args, Form::Macro { tokens }, end), code)
    }

    /// Marks a path as a macro's.
    pub(super) fn exclaim(&mut self, callee: Id, bang: Span) {
        let Some(node) = self.tree.nodes.get_mut(callee.0 as usize) else {
            return;
        };
        match &mut node.kind {
            Kind::Name(name) | Kind::Attr { name, .. } => name.push('!'),
            _ => return,
        }
        node.span = node.span.to(bang);
        if let Kind::Attr { name_span, .. } = &mut node.kind {
            *name_span = name_span.to(bang);
        }
    }

    /// The literals of `concat!` as one text.
    fn joined(&mut self, args: &[Arg], whole: Span) -> Option<Id> {
        let mut pieces = Vec::new();
        for arg in args {
            match &self.tree.node(arg.value).kind {
                Kind::Text(own) => pieces.extend(own.iter().cloned()),
                _ => return None,
            }
        }
        (!pieces.is_empty()).then(|| self.add(Kind::Text(pieces), whole))
    }

    /// What could be read of a macro's tokens, and whether that is code rather than arguments.
    fn macro_args(&mut self, name: &str, tokens: &TokenStream, inside: Span) -> (Vec<Arg>, bool) {
        if tokens.is_empty() {
            return (Vec::new(), false);
        }
        match name {
            "macro_rules" => return (self.rules(tokens), true),
            "cfg_if" => {
                let bodies = self.branches(tokens);
                self.stray.extend(bodies);
                return (Vec::new(), true);
            }
            _ => {}
        }
        let quoted = name.contains("quote");
        let plain = metavariables::replaced(tokens.clone(), quoted);
        if let Some(args) = self.as_args(name, &plain) {
            return (args, false);
        }
        if let Some(statements) = as_statements(&plain) {
            let items = !quoted
                && statements
                    .iter()
                    .all(|statement| matches!(statement, Stmt::Item(_)));
            let body = self.below(1, |reader| reader.statements(&statements, inside));
            if items {
                // `lazy_static!` and kin define their items for what is around them.
                self.stray.extend(body);
                return (Vec::new(), true);
            }
            let block = self.add(Kind::Block(body), inside);
            return (vec![self.arg(block)], true);
        }
        if let Some(ids) = self.as_arms(plain, inside) {
            return (ids.into_iter().map(|id| self.arg(id)).collect(), true);
        }
        (self.scan_args(name, inside), false)
    }

    /// Comma-separated expressions, `name = value` among them, or `value; count`.
    fn as_args(&mut self, name: &str, tokens: &TokenStream) -> Option<Vec<Arg>> {
        if let Ok(args) = Args::parse_terminated.parse2(tokens.clone()) {
            return Some(self.macro_arguments(name, &args));
        }
        let repeat = |input: syn::parse::ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            let count: Expr = input.parse()?;
            Ok((value, count))
        };
        let (value, count) = repeat
            .parse2(tokens.clone())
            .ok()
            .filter(|_| name == "vec")?;
        self.stray_expression(&count);
        let id = self.expression(&value);
        Some(vec![self.arg(id)])
    }

    fn macro_arguments(&mut self, name: &str, args: &Args) -> Vec<Arg> {
        let mut format = None;
        let mut lowered = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let text = matches!(arg, Expr::Lit(own) if matches!(own.lit, syn::Lit::Str(_)));
            if format.is_none() && text && formats(name) {
                format = Some(index);
            }
            lowered.push(self.macro_argument(arg));
        }
        if let Some(index) = format {
            self.fill(&mut lowered, index);
        }
        lowered
    }

    fn macro_argument(&mut self, arg: &Expr) -> Arg {
        if let Expr::Assign(own) = arg
            && let Expr::Path(path) = &*own.left
            && let Some(name) = path.path.get_ident()
        {
            let value = self.expression(&own.right);
            let span = at(name.span()).to(self.span(value));
            return Arg {
                name: Some(name.unraw().to_string()),
                spread: Spread::No,
                value,
                span,
            };
        }
        let id = self.expression(arg);
        self.arg(id)
    }

    /// The bodies of the arms of `macro_rules!`.
    fn rules(&mut self, tokens: &TokenStream) -> Vec<Arg> {
        let mut after_arrow = false;
        let mut last = ' ';
        let mut args = Vec::new();
        for token in tokens.clone() {
            match token {
                TokenTree::Punct(sign) => {
                    after_arrow = last == '=' && sign.as_char() == '>';
                    last = sign.as_char();
                }
                TokenTree::Group(group) if after_arrow => {
                    after_arrow = false;
                    let body = self.body(&group.stream(), inside(&group), at(group.span()));
                    args.push(self.arg(body));
                }
                _ => {}
            }
        }
        args
    }

    /// The braces of `cfg_if!`: all branches are read. Items of theirs belong to what is around.
    fn branches(&mut self, tokens: &TokenStream) -> Vec<Id> {
        let mut found = Vec::new();
        for token in tokens.clone() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            if group.delimiter() == proc_macro2::Delimiter::Brace {
                let body = self.body(&group.stream(), inside(&group), at(group.span()));
                match &self.tree.node(body).kind {
                    Kind::Block(parts) => found.extend(parts.iter().copied()),
                    _ => found.push(body),
                }
            }
        }
        found
    }

    /// A group of tokens as a block.
    fn body(&mut self, tokens: &TokenStream, inside: Span, whole: Span) -> Id {
        let plain = metavariables::replaced(tokens.clone(), false);
        let parts = match as_statements(&plain) {
            Some(statements) => self.below(2, |reader| reader.statements(&statements, inside)),
            None => self.scan_bytes(inside),
        };
        self.add(Kind::Block(parts), whole)
    }
}

/// The bytes between a group's brackets.
fn inside(group: &proc_macro2::Group) -> Span {
    Span {
        start: at(group.span_open()).end,
        end: at(group.span_close()).start,
    }
}

/// Tokens as the body of a block, or as items, the last of which may lack its `;`.
fn as_statements(tokens: &TokenStream) -> Option<Vec<Stmt>> {
    let body = Block::parse_within.parse2(tokens.clone());
    body.or_else(|_| {
        let mut semi = TokenTree::Punct(proc_macro2::Punct::new(';', proc_macro2::Spacing::Alone));
        let mut all: Vec<TokenTree> = tokens.clone().into_iter().collect();
        if let Some(last) = all.last() {
            semi.set_span(last.span());
        }
        all.push(semi);
        Block::parse_within.parse2(all.into_iter().collect())
    })
    .ok()
}
