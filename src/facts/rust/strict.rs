//! What syn understands, lowered to the small tree.

mod expressions;
mod items;
mod patterns;
mod signatures;
mod statements;
mod types;

use std::str::FromStr;

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::spanned::Spanned;

use crate::facts::rust::lexer::Lexed;
use crate::facts::rust::reader::Reader;
use crate::facts::tree::{Fault, Kind, Tree};
use crate::source::Span;

/// Reads a file: as items, else as the body of a block or an expression, since either may be
/// `include!`d.
pub(super) fn read(lexed: &Lexed) -> Result<Tree, Fault> {
    // The source map of the thread would keep every text that was ever parsed on it.
    proc_macro2::extra::invalidate_current_thread_spans();
    let tokens =
        TokenStream::from_str(&lexed.text).map_err(|error| unlexed(lexed, at(error.span())))?;
    let mut reader = Reader::new(lexed);
    let whole = Span::new(0, lexed.text.len());
    let body = match syn::parse2::<syn::File>(tokens.clone()) {
        Ok(file) => reader.items(&file.items, 0),
        Err(error) => {
            if let Ok(body) = syn::Block::parse_within.parse2(tokens.clone()) {
                reader.statements(&body, whole)
            } else if let Ok(expression) = syn::parse2::<syn::Expr>(tokens) {
                vec![reader.expression(&expression)]
            } else {
                let place = at(error.span());
                let end = lexed.end_before(lexed.text.len());
                let place = if place.end == 0 {
                    Span::new(end, end)
                } else {
                    place
                };
                return Err(Fault {
                    at: place,
                    why: format!("cannot parse as Rust: {error}"),
                });
            }
        }
    };
    let stray = std::mem::take(&mut reader.stray);
    let mut tree = reader.tree;
    let body = body.into_iter().chain(stray).collect();
    tree.root = Some(tree.add(Kind::Block(body), whole));
    Ok(tree)
}

/// proc-macro2 does not say why it cannot lex a text; our own pass often can.
fn unlexed(lexed: &Lexed, place: Span) -> Fault {
    let own = lexed.fault.clone();
    let own = own.unwrap_or(Fault {
        at: place,
        why: "this is no token of the language".to_owned(),
    });
    Fault {
        at: own.at,
        why: format!("cannot parse as Rust: {}", own.why),
    }
}

/// A span of proc-macro2 as bytes of the text.
pub(super) fn at(span: proc_macro2::Span) -> Span {
    let range = span.byte_range();
    Span::new(range.start, range.end)
}

/// The bytes of all tokens of a node of syn. Its cost is the node's size: for small ones.
pub(super) fn over(node: &impl Spanned) -> Span {
    at(node.span())
}
