//! Rust text to the small tree: one lexer pass, then syn; a token scan for what syn refuses.

mod lexer;
mod literal;
mod macros;
mod reader;
mod scan;
mod sketch;
mod strict;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::facts::tree::{Fault, Kind, Tree};
use crate::source::{Source, Span};
use lexer::{Lexed, Token};
use reader::Reader;
pub(crate) use sketch::sketch;

/// Deepest nesting of brackets, `<` and prefix operators that is given to syn: its parser recurses,
/// and a stack that overflows aborts the process. Real code needs 45.
const MAX_NESTING: usize = 256;

/// Longest run of postfix and infix parts: syn's trees lean to the left and are dropped recursively.
const MAX_CHAIN: usize = 4096;

/// Most tokens that are given to syn: it needs half a kilobyte of memory for each.
const MAX_TOKENS: usize = 1 << 21;

/// Reads a Rust file. Total: what is not understood is the tree's fault.
pub fn read(source: &Source) -> Tree {
    Tree::of_start(source, read_text)
}

fn read_text(text: &str) -> Tree {
    let lexed = Lexed::new(text);
    let why = if lexed.tokens.len() > MAX_TOKENS {
        let at = lexed.tokens.get(MAX_TOKENS).map(Token::span);
        Fault {
            at: at.unwrap_or_default(),
            why: format!(
                "cannot parse as Rust: more than {MAX_TOKENS} tokens, which are judged without a parser; split the file or exclude it"
            ),
        }
    } else if lexed.nesting > MAX_NESTING || lexed.chain > MAX_CHAIN {
        let why = format!("cannot parse as Rust: nested deeper than {MAX_NESTING} levels");
        Fault {
            at: lexed.deepest,
            why,
        }
    } else {
        match catch_unwind(AssertUnwindSafe(|| strict::read(&lexed))) {
            Ok(Ok(tree)) => return finish(tree, &lexed),
            Ok(Err(fault)) => fault,
            Err(_) => Fault {
                at: Span::default(),
                why: "cannot parse as Rust: the parser panicked".to_owned(),
            },
        }
    };
    let mut reader = Reader::new(&lexed);
    let body = reader.scan_block(0, lexed.tokens.len());
    let mut tree = reader.tree;
    tree.root = Some(tree.add(Kind::Block(body), Span::new(0, lexed.text.len())));
    tree.fault = Some(why);
    finish(tree, &lexed)
}

/// Adds what the lexer knows and puts the statements in order.
fn finish(mut tree: Tree, lexed: &Lexed) -> Tree {
    tree.comments.clone_from(&lexed.comments);
    tree.statements
        .sort_by_key(|statement| (statement.span.start, u32::MAX - statement.span.end));
    tree.statements.dedup();
    tree
}
