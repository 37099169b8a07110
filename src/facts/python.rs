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
mod strict;
mod tokens;
mod tolerant;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::facts::tree::Tree;
use crate::source::Source;
pub(crate) use literals::{Role, literals};

/// Larger files go to tree-sitter at once: rustpython needs 250 times their size in memory.
const STRICT_SIZE: usize = 1 << 20;

/// So do files with more lines in a row that hold no code: rustpython's lexer moves all that it has
/// of them for each one that it hands out.
const STRICT_PAUSE: usize = 512;

/// Reads a Python file. Total: what is not understood is the tree's fault.
pub fn read(source: &Source) -> Tree {
    Tree::of_start(source, read_text)
}

fn read_text(text: &str) -> Tree {
    if let Some(tree) = strict(text) {
        return tree;
    }
    let tree = tolerant::read(text, text);
    if tree.fault.is_none() {
        return tree;
    }
    // Syntax that is younger than both grammars is blanked out, if that is all there is.
    let Some(blanked) = newer::blank(text) else {
        return tree;
    };
    let again = tolerant::read(text, &blanked);
    if again.fault.is_none() { again } else { tree }
}

/// What rustpython makes of it. Its panics are refusals.
fn strict(text: &str) -> Option<Tree> {
    if text.len() > STRICT_SIZE || longest_pause(text) > STRICT_PAUSE {
        return None;
    }
    catch_unwind(AssertUnwindSafe(|| strict::read(text)))
        .ok()
        .flatten()
}

/// How many lines in a row hold nothing, or a comment.
fn longest_pause(text: &str) -> usize {
    let (mut longest, mut pause) = (0, 0);
    for line in text.split(['\n', '\r']) {
        let line = line.trim_start_matches([' ', '\t', '\u{c}']);
        pause = if line.is_empty() || line.starts_with('#') {
            pause + 1
        } else {
            0
        };
        longest = longest.max(pause);
    }
    longest
}
