//! Classes of a Python file that inherit from one another.

use std::collections::HashMap;

use crate::facts::gather::File;
use crate::facts::gather::spaces::{Binding, Spaces};
use crate::facts::tree::{Id, Kind, Tree};
use crate::source::Language;

/// How many classes of one family are asked for a name.
const MAX_FAMILY: usize = 32;

/// Which classes of a file are made from which.
#[derive(Debug, Default)]
pub(in crate::facts::gather) struct Family {
    /// The bases of a class that are in this file.
    bases: HashMap<usize, Vec<usize>>,
    /// The classes that name it as a base.
    heirs: HashMap<usize, Vec<usize>>,
}

impl Family {
    pub(in crate::facts::gather) fn of(spaces: &Spaces, tree: &Tree) -> Self {
        let mut family = Self::default();
        for (class, space) in spaces.list.iter().enumerate() {
            for base in &space.bases {
                let outer = space.parent.unwrap_or(0);
                for base in named(spaces, tree, *base, outer) {
                    family.bases.entry(class).or_default().push(base);
                    family.heirs.entry(base).or_default().push(class);
                }
            }
        }
        family
    }
}

/// The classes of this file that the name at `id` may stand for.
fn named(spaces: &Spaces, tree: &Tree, id: Id, space: usize) -> Vec<usize> {
    let Kind::Name(name) = &tree.node(id).kind else {
        return Vec::new();
    };
    let found = spaces.find(name, space).into_iter();
    found
        .filter_map(|binding| match binding {
            Binding::Class(class) => Some(*class),
            _ => None,
        })
        .collect()
}

/// The classes that lead from `class`, each once and not `class` itself.
fn lineage(of: &HashMap<usize, Vec<usize>>, class: usize) -> Vec<usize> {
    let mut found = vec![class];
    let mut next = 0;
    while let Some(class) = found.get(next).filter(|_| found.len() <= MAX_FAMILY) {
        let new: Vec<usize> = of.get(class).into_iter().flatten().copied().collect();
        for class in new {
            if !found.contains(&class) {
                found.push(class);
            }
        }
        next += 1;
    }
    found.remove(0);
    found
}

impl File<'_> {
    /// What `name` of an object of this class may be: the class's own, else that of the next base
    /// which has one; and what the classes made from it set it to, which have the same methods.
    pub(super) fn members(&self, class: usize, name: &str) -> Vec<Binding> {
        let mut found = self.spaces.member(class, name);
        if self.source.language != Language::Python {
            return found;
        }
        let family = self
            .family
            .get_or_init(|| Family::of(self.spaces, self.tree));
        if found.is_empty() {
            let bases = lineage(&family.bases, class).into_iter();
            let members = bases.map(|base| self.spaces.member(base, name));
            found = members
                .into_iter()
                .find(|own| !own.is_empty())
                .unwrap_or_default();
        }
        // A method is found by the object's class; which that is, a call does not say.
        let is_code = |binding: &Binding| matches!(binding, Binding::Code(_) | Binding::Class(_));
        if !found.is_empty() && !found.iter().any(is_code) {
            for heir in lineage(&family.heirs, class) {
                found.extend(self.spaces.member(heir, name));
            }
        }
        found
    }
}
