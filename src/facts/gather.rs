//! The one analysis: a tree's names resolved, its values folded, its calls listed.
//!
//! Two passes. `spaces` notes what each name is bound to, without regard to order: a name may be
//! any of the things that its scope ever assigns to it. `walk` then visits what can run, in order,
//! and lists calls and settings; `values` says on demand what an expression may be, and `flow` which
//! of a name's bindings are hidden by a later one where it is used. Last, `argv` and `spawners` read
//! the commands that those calls start.

mod argv;
mod flow;
mod fold;
mod makers;
mod signatures;
mod spaces;
mod spawners;
mod values;
mod walk;

use std::cell::{Cell, OnceCell, RefCell};

use rustc_hash::FxHashMap;

use super::index::Index;
use super::tree::{Id, Node, Tree};
use super::{Facts, Value};
use crate::source::Source;
use spaces::Spaces;
use values::Family;

/// How often program text inside program text is read.
const MAX_INNER: usize = 3;

/// What the file says. Total.
pub fn gather(source: &Source, tree: &Tree) -> Facts {
    gather_inner(source, tree, 0)
}

fn gather_inner(source: &Source, tree: &Tree, inner: usize) -> Facts {
    let Some(root) = tree.root else {
        return Facts::new(source.language);
    };
    let spaces = Spaces::of(tree, root, source.language);
    let file = File {
        source,
        tree,
        spaces: &spaces,
        known: RefCell::default(),
        sure: RefCell::default(),
        family: OnceCell::new(),
        depth: Cell::new(0),
    };
    let (mut facts, builders) = walk::walk(&file, root);
    facts.index = Index::of(&facts);
    spawners::commands(&file, &mut facts, builders);
    if inner < MAX_INNER {
        spawners::read_programs(&mut facts, inner);
    }
    facts
}

/// What both passes and every fold look at.
struct File<'a> {
    source: &'a Source,
    tree: &'a Tree,
    spaces: &'a Spaces,
    /// Values found so far; one that is being found reads as unknown, so that no cycle is endless.
    known: RefCell<FxHashMap<(Id, usize), Value>>,
    /// Whether a statement always binds, once it is asked: each use of a name asks it anew.
    sure: RefCell<FxHashMap<Id, bool>>,
    /// Which classes are made from which, once somebody asks.
    family: OnceCell<Family>,
    /// How many values are being found, each for the sake of the one before.
    depth: Cell<usize>,
}

impl<'a> File<'a> {
    fn node(&self, id: Id) -> &'a Node {
        self.tree.node(id)
    }
}
