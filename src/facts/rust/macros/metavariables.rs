//! Tokens of macro bodies as plain code: `$x` and `#x` become identifiers, `$( … ),*` its inside.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// `tokens` without what only a macro may have. In quoted code `#x` stands for code too. `static
/// ref` is that of `lazy_static!`.
pub(super) fn replaced(tokens: TokenStream, quoted: bool) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let variable = match &token {
            TokenTree::Punct(sign) => sign.as_char() == '$' || (quoted && sign.as_char() == '#'),
            _ => false,
        };
        match rest.peek() {
            Some(TokenTree::Ident(_)) if variable => {
                out.extend(rest.next());
                // `:fragment` stands in matchers alone, which are not read.
            }
            Some(TokenTree::Group(group))
                if variable && group.delimiter() == Delimiter::Parenthesis =>
            {
                out.extend(replaced(group.stream(), quoted));
                rest.next();
                skip_repetition(&mut rest);
            }
            Some(TokenTree::Ident(word)) if *word == "ref" && is_word(&token, "static") => {
                rest.next();
                out.push(token);
            }
            _ => out.push(match token {
                TokenTree::Group(group) => TokenTree::Group(inner(&group, quoted)),
                other => other,
            }),
        }
    }
    out.into_iter().collect()
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(own) if *own == word)
}

/// The separator and the sign after `$( … )`.
fn skip_repetition(rest: &mut std::iter::Peekable<proc_macro2::token_stream::IntoIter>) {
    for _ in 0..2 {
        let Some(TokenTree::Punct(sign)) = rest.peek() else {
            return;
        };
        let last = matches!(sign.as_char(), '*' | '+' | '?');
        rest.next();
        if last {
            return;
        }
    }
}

/// The group with its inside replaced, at its own place.
fn inner(group: &Group, quoted: bool) -> Group {
    let has = group.stream().into_iter().any(|token| match token {
        TokenTree::Punct(sign) => matches!(sign.as_char(), '$' | '#'),
        TokenTree::Group(_) => true,
        TokenTree::Ident(word) => word == "ref",
        TokenTree::Literal(_) => false,
    });
    if !has {
        return group.clone();
    }
    let mut new = Group::new(group.delimiter(), replaced(group.stream(), quoted));
    new.set_span(group.span());
    new
}
