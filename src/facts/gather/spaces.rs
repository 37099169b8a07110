//! Which names each body of code binds, and to what.

mod declare;

use std::collections::HashMap;

use crate::facts::tree::{Id, Kind, Piece, Tree};
use crate::facts::{Scope, ScopeId};
use crate::source::Language;

/// What a name may stand for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// Imported: its dotted path.
    Import(String),
    /// The value of an expression, which stands in the space.
    Node(Id, usize),
    /// A key that is set on it: `d["key"] = value`.
    Entry(String, Id, usize),
    /// Elements that are put into it as a list: by `append` or `extend`, at its end or its start; text
    /// that is put behind it by `push_str`.
    Pushed(Pushed),
    /// A function of this file: its space.
    Code(usize),
    /// A class of this file: its space.
    Class(usize),
    /// A function declared in an `extern` block, by its name in the library.
    Extern(String),
    /// A parameter: the path of its type and its default, both read in the outer space.
    Param {
        annotation: Option<Id>,
        default: Option<Id>,
        outer: usize,
    },
    /// Something that is not followed.
    Opaque,
}

/// A binding, and what makes it: the statement, the call, the function of a parameter.
#[derive(Debug)]
pub(super) struct Bound {
    pub what: Binding,
    pub at: Id,
    /// The space in which that stands; another one's than the name's for `global x`.
    pub by: usize,
}

/// What is put into a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pushed {
    /// An element, or with `many` a list of them, which stands in `space`.
    pub value: Id,
    pub space: usize,
    pub many: bool,
    pub at_start: bool,
}

impl Binding {
    /// Whether it changes what a name stands for already, and gives it no value of its own.
    pub(super) fn adds(&self) -> bool {
        matches!(self, Self::Entry(..) | Self::Pushed(_))
    }
}

/// Names of one body, or of one class.
#[derive(Debug)]
pub(super) struct Space {
    pub parent: Option<usize>,
    /// The body that runs it: its own, or for a class the one around it.
    pub scope: ScopeId,
    pub is_class: bool,
    /// The class around a method.
    pub class: Option<usize>,
    pub name: String,
    names: HashMap<String, Vec<Bound>>,
    /// Names that are another space's: `global x`, `nonlocal x`.
    outer: HashMap<String, usize>,
    stars: Vec<String>,
    /// What `self.name` is set to, for a class.
    attributes: HashMap<String, Vec<(Id, usize)>>,
    /// Base classes.
    pub bases: Vec<Id>,
    /// Values that it returns.
    pub returns: Vec<Id>,
    /// The name that stands for the object in a method.
    self_name: Option<String>,
}

/// All spaces of a file; the first is the file's own.
#[derive(Debug)]
pub(super) struct Spaces {
    pub list: Vec<Space>,
    pub scopes: Vec<Scope>,
    /// The space of each body, by its place in `scopes`.
    of_scope: Vec<usize>,
    of_node: HashMap<Id, usize>,
    /// The node around each; that of the root, and of what is not read, is itself.
    around: Vec<Id>,
    language: Language,
}

impl Spaces {
    /// The space that the function, closure or class at `id` opens.
    pub(super) fn at(&self, id: Id) -> Option<usize> {
        self.of_node.get(&id).copied()
    }

    /// The space of the body `scope`.
    pub(super) fn of_scope(&self, scope: ScopeId) -> Option<usize> {
        self.of_scope.get(scope.0 as usize).copied()
    }

    /// What `name` may be in `space`: the bindings of the nearest space that has any. What is put
    /// into an outer variable does not hide it.
    pub(super) fn find(&self, name: &str, space: usize) -> Vec<&Binding> {
        let found = self.find_bound(name, space).into_iter();
        let found = found.flat_map(|(_, bounds)| bounds);
        found.map(|bound| &bound.what).collect()
    }

    /// The same, with what makes each, by the spaces that have them.
    pub(super) fn find_bound(&self, name: &str, space: usize) -> Vec<(usize, &[Bound])> {
        let mut found = Vec::new();
        for (depth, index) in self.seen_from(name, space).enumerate() {
            let here = &self.list[index];
            // A method does not see the names of its class in Python; in Rust a module's are seen.
            let visible = depth == 0 || !here.is_class || self.language == Language::Rust;
            let Some(bounds) = here.names.get(name).filter(|_| visible) else {
                continue;
            };
            found.push((index, bounds.as_slice()));
            if !bounds.iter().all(|bound| bound.what.adds()) {
                break;
            }
        }
        found
    }

    /// The nearest space that binds `name`; `space` itself if none does.
    pub(super) fn home(&self, name: &str, space: usize) -> usize {
        let binds = |index: &usize| {
            let bindings = self.list[*index].names.get(name).into_iter().flatten();
            bindings.into_iter().any(|bound| !bound.what.adds())
        };
        self.seen_from(name, space).find(binds).unwrap_or(space)
    }

    /// The space that has what `space` binds to `name`: itself, as a rule.
    fn owner(&self, name: &str, space: usize) -> usize {
        let outer = self.list[space].outer.get(name);
        outer.copied().unwrap_or(space)
    }

    /// From `space` to the file's own, without those that a `global` or `nonlocal` passes over.
    fn seen_from<'s>(&'s self, name: &'s str, space: usize) -> impl Iterator<Item = usize> + 's {
        std::iter::successors(Some(space), move |index| {
            let owner = self.owner(name, *index);
            (owner != *index)
                .then_some(owner)
                .or(self.list[*index].parent)
        })
    }

    /// The star imports that `space` sees.
    pub(super) fn stars(&self, space: usize) -> impl Iterator<Item = &str> {
        self.outward(space)
            .flat_map(|index| self.list[index].stars.iter().map(String::as_str))
    }

    /// The class whose object `name` stands for in `space`.
    pub(super) fn class_of_self(&self, name: &str, space: usize) -> Option<usize> {
        let here = self
            .outward(space)
            .map(|index| &self.list[index])
            .find(|here| {
                here.class.is_some() && (here.self_name.as_deref() == Some(name) || name == "Self")
            });
        here?.class
    }

    /// What the class's `name` may be: a method, a name of its body, or what `self.name` is set to.
    pub(super) fn member(&self, class: usize, name: &str) -> Vec<Binding> {
        let mut found = Vec::new();
        for space in self.same_class(class) {
            let method = space.names.get(&format!("self.{name}"));
            let own = space.names.get(name).into_iter().chain(method).flatten();
            found.extend(own.map(|bound| bound.what.clone()));
            let set = space.attributes.get(name).into_iter().flatten();
            found.extend(set.map(|(id, at)| Binding::Node(*id, *at)));
        }
        found
    }

    /// The values to which `self.name` is set in one space, all of them.
    pub(super) fn set_in(&self, class: usize, name: &str, space: usize) -> Vec<Id> {
        let sets = self.same_class(class);
        let sets = sets.filter_map(|own| own.attributes.get(name)).flatten();
        let own = sets.filter(|(_, at)| *at == space);
        own.map(|(value, _)| *value).collect()
    }

    /// The node around the one at `id`.
    pub(super) fn around(&self, id: Id) -> Option<Id> {
        let around = self.around.get(id.0 as usize).copied();
        around.filter(|around| *around != id)
    }

    /// Whether what stands in `space` is run by the body of `home`, each time that it comes there; a Rust
    /// closure sees what stands before it.
    pub(super) fn runs_in(&self, space: usize, home: usize) -> bool {
        let inside = self.outward(space).take_while(|index| *index != home);
        let inline = |index: usize| {
            let here = &self.list[index];
            !here.is_class && self.scopes[here.scope.0 as usize].inline
        };
        let rust = self.language == Language::Rust;
        inside.into_iter().all(|index| rust && inline(index))
    }

    /// Every `impl` of a Rust type is one class; a Python class is one of its own.
    fn same_class(&self, class: usize) -> impl Iterator<Item = &Space> {
        let name = self.list[class].name.as_str();
        let rust = self.language == Language::Rust;
        let all = self.list.iter().enumerate();
        let same = all.filter(move |(index, space)| {
            *index == class || (rust && space.is_class && space.name == name)
        });
        same.map(|(_, space)| space)
    }

    /// From `space` to the file's own.
    fn outward(&self, space: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(space), |index| self.list[*index].parent)
    }
}

/// The text of a literal key.
pub(super) fn constant_key(tree: &Tree, id: Id) -> Option<String> {
    let Kind::Text(pieces) = &tree.node(id).kind else {
        return None;
    };
    let part = |piece: &Piece| match piece {
        Piece::Text { text, .. } => Some(text.clone()),
        Piece::Hole { .. } => None,
    };
    pieces.iter().map(part).collect()
}
