//! Python text to the small tree: rustpython-parser first, tree-sitter for what it refuses.
//!
//! Two readers fill the same tree. `strict` follows rustpython's syntax tree, which is exact but
//! knows neither the newest Python, nor Python 2, nor broken files. `tolerant` follows
//! tree-sitter's, which recovers from anything. `build` is what they share; the tests hold that both
//! give the same tree. A third parser would be one more file beside them.

mod build;
mod literal;
mod literals;
mod newer;
mod pauses;
mod strict;
mod tokens;
mod tolerant;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::facts::tree::Tree;
use crate::source::{Source, Span};
pub(crate) use literals::{Role, literals};

/// Larger files go to tree-sitter at once: rustpython needs 250 times their size in memory.
const STRICT_SIZE: usize = 1 << 20;

/// Reads a Python file. Total: what is not understood is the tree's fault.
pub fn read(source: &Source) -> Tree {
    Tree::of_start(source, read_text)
}

/// A text, and what the parsers are given of it.
struct Code<'t> {
    text: &'t str,
    /// A copy of the same length, in which something may be blanked out.
    parsed: Cow<'t, str>,
    /// The comments that were blanked out.
    comments: Vec<Span>,
}

impl<'t> Code<'t> {
    fn of(text: &'t str) -> Self {
        let (parsed, comments) = match pauses::blank(text) {
            Some((parsed, comments)) => (Cow::Owned(parsed), comments),
            None => (Cow::Borrowed(text), Vec::new()),
        };
        Self {
            text,
            parsed,
            comments,
        }
    }
}

fn read_text(text: &str) -> Tree {
    let code = Code::of(text);
    if let Some(tree) = strict(&code) {
        return tree;
    }
    let tree = tolerant::read(&code);
    if tree.fault.is_none() {
        return tree;
    }
    // Syntax that is younger than both grammars is blanked out, if that is all there is.
    let Some(blanked) = newer::blank(&code.parsed) else {
        return tree;
    };
    let again = tolerant::read(&Code {
        parsed: Cow::Owned(blanked),
        ..code
    });
    if again.fault.is_none() { again } else { tree }
}

/// What rustpython makes of it. Its panics are refusals.
fn strict(code: &Code<'_>) -> Option<Tree> {
    if code.text.len() > STRICT_SIZE {
        return None;
    }
    catch_unwind(AssertUnwindSafe(|| strict::read(code)))
        .ok()
        .flatten()
}
