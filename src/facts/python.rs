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
pub(crate) use literals::literals;

/// Larger files go to tree-sitter at once: rustpython needs 250 times their size in memory.
const STRICT_SIZE: usize = 1 << 20;

/// Reads a Python file. Total: what is not understood is the tree's fault.
pub fn read(source: &Source) -> Tree {
    let text = source.code();
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
    if text.len() > STRICT_SIZE {
        return None;
    }
    catch_unwind(AssertUnwindSafe(|| strict::read(text)))
        .ok()
        .flatten()
}
