//! First pass: which names each body of code binds, and to what.

use std::collections::HashMap;

use crate::facts::tree::{Arg, Function, Id, Kind, Param, Piece, Tree};
use crate::facts::{Scope, ScopeId};
use crate::source::{Language, Span};

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
    /// Reads all bindings below `root`.
    pub(super) fn of(tree: &Tree, root: Id, language: Language) -> Self {
        let spaces = Self {
            list: Vec::new(),
            scopes: Vec::new(),
            of_scope: Vec::new(),
            of_node: HashMap::new(),
            around: (0..).map(Id).take(tree.nodes.len()).collect(),
            language,
        };
        let mut pass = Pass {
            spaces,
            tree,
            seen: vec![false; tree.nodes.len()],
            at: root,
        };
        pass.spaces
            .open("<module>", tree.node(root).span, None, Some(false));
        pass.declare(root, 0);
        pass.spaces
    }

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
        for (depth, index) in self.outward(space).enumerate() {
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
        self.outward(space).find(binds).unwrap_or(space)
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

    /// What `self.name` is set to in the class: the values, and the spaces in which they stand.
    pub(super) fn attribute(&self, class: usize, name: &str) -> Vec<(Id, usize)> {
        let sets = self.same_class(class);
        let sets = sets.filter_map(|space| space.attributes.get(name));
        sets.flatten().copied().collect()
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

    /// Opens a space; without `inline` it is a class's, which its surroundings run.
    fn open(
        &mut self,
        name: &str,
        span: Span,
        parent: Option<usize>,
        inline: Option<bool>,
    ) -> usize {
        let outer = parent.map(|index| self.list[index].scope);
        let scope = if let Some(inline) = inline {
            let id = ScopeId(u32::try_from(self.scopes.len()).unwrap_or(u32::MAX));
            self.scopes.push(Scope {
                name: name.to_owned(),
                span,
                parent: outer,
                inline,
            });
            self.of_scope.push(self.list.len());
            id
        } else {
            outer.unwrap_or(ScopeId(0))
        };
        self.list.push(Space {
            parent,
            scope,
            is_class: inline.is_none(),
            class: None,
            name: name.to_owned(),
            names: HashMap::new(),
            stars: Vec::new(),
            attributes: HashMap::new(),
            bases: Vec::new(),
            returns: Vec::new(),
            self_name: None,
        });
        self.list.len() - 1
    }

    fn bind(&mut self, space: usize, name: &str, bound: Bound) {
        let names = &mut self.list[space].names;
        names.entry(name.to_owned()).or_default().push(bound);
    }
}

/// What is put into a list that has this many bindings already is not noted.
const MAX_BOUND: usize = 64;

struct Pass<'a> {
    spaces: Spaces,
    tree: &'a Tree,
    seen: Vec<bool>,
    /// What is being read.
    at: Id,
}

impl Pass<'_> {
    fn bind(&mut self, space: usize, name: &str, what: Binding) {
        let at = self.at;
        self.spaces.bind(space, name, Bound { what, at });
    }

    /// Goes on with a part of what is at `id`.
    fn below(&mut self, id: Id, child: Id, space: usize) {
        self.spaces.around[child.0 as usize] = id;
        self.declare(child, space);
        self.at = id;
    }

    fn declare(&mut self, id: Id, space: usize) {
        if std::mem::replace(&mut self.seen[id.0 as usize], true) {
            return;
        }
        self.at = id;
        let node = self.tree.node(id);
        match &node.kind {
            Kind::Function(function) => return self.function(id, function, space),
            Kind::Closure { params, body } => {
                let inner = self.spaces.open("", node.span, Some(space), Some(true));
                self.spaces.of_node.insert(id, inner);
                self.spaces.list[inner].returns.push(*body);
                self.params(params, inner, space);
                return self.below(id, *body, inner);
            }
            Kind::Class {
                name,
                bases,
                decorators,
                body,
            } => {
                let inner = self.spaces.open(name, node.span, Some(space), None);
                self.spaces.of_node.insert(id, inner);
                self.spaces.list[inner].bases = bases.iter().map(|base| base.value).collect();
                self.bind(space, name, Binding::Class(inner));
                for outer in decorators
                    .iter()
                    .copied()
                    .chain(bases.iter().map(|base| base.value))
                {
                    self.below(id, outer, space);
                }
                return self.below(id, *body, inner);
            }
            Kind::Import(imports) => {
                for import in imports {
                    match &import.name {
                        Some(name) => {
                            self.bind(space, name, Binding::Import(import.path.clone()));
                        }
                        None => self.spaces.list[space].stars.push(import.path.clone()),
                    }
                }
            }
            Kind::Bind {
                targets,
                value,
                annotation,
            } => {
                for target in targets {
                    self.target(*target, (*value, *annotation), space);
                }
            }
            Kind::Call { callee, args, .. } => self.pushed(*callee, args, space),
            Kind::Return(Some(value)) => {
                let body = self
                    .spaces
                    .outward(space)
                    .find(|index| !self.spaces.list[*index].is_class);
                self.spaces.list[body.unwrap_or(0)].returns.push(*value);
            }
            _ => {}
        }
        for child in node.kind.children() {
            self.below(id, child, space);
        }
    }

    fn function(&mut self, id: Id, function: &Function, space: usize) {
        for decorator in &function.decorators {
            self.below(id, *decorator, space);
        }
        let Some(body) = function.body else {
            if function.foreign {
                let real = function.link_name.as_ref().unwrap_or(&function.name);
                self.bind(space, &function.name, Binding::Extern(real.clone()));
            } else if self.spaces.list[space].is_class {
                self.declared(&function.name, space);
            }
            return;
        };
        let inner = self.spaces.open(
            &function.name,
            self.tree.node(id).span,
            Some(space),
            Some(false),
        );
        self.spaces.of_node.insert(id, inner);
        if self.spaces.language == Language::Rust {
            self.spaces.list[inner].returns.push(body);
        }
        let first = function.params.first().map(|param| param.name.clone());
        // A Rust method is no bare name of its module; a free function of a module is one.
        let method = self.spaces.list[space].is_class && first.as_deref() == Some("self");
        if !(method && self.spaces.language == Language::Rust) {
            self.bind(space, &function.name, Binding::Code(inner));
        }
        if self.spaces.list[space].is_class {
            if method && self.spaces.language == Language::Rust {
                let hidden = format!("self.{}", function.name);
                self.bind(space, &hidden, Binding::Code(inner));
            }
            self.spaces.list[inner].class = Some(space);
            // A function of a Rust module, or of a type, has no object.
            let has_object = method || self.spaces.language == Language::Python;
            self.spaces.list[inner].self_name = first.filter(|_| has_object);
        }
        self.params(&function.params, inner, space);
        self.below(id, body, inner);
    }

    /// A method that a trait demands: of some type, which is not known here.
    fn declared(&mut self, name: &str, space: usize) {
        let path = format!("?.{}().{name}", self.spaces.list[space].name);
        let hidden = format!("self.{name}");
        self.bind(space, &hidden, Binding::Import(path));
    }

    fn params(&mut self, params: &[Param], inner: usize, outer: usize) {
        for param in params {
            let binding = Binding::Param {
                annotation: param.annotation,
                default: param.default,
                outer,
            };
            self.bind(inner, &param.name, binding);
            if let Some(default) = param.default {
                self.below(self.at, default, outer);
            }
        }
    }

    /// `cmd.append("x")`, `cmd.extend(more)`, `cmd.insert(0, "x")`; `cmd.push("x")`, `cmd.push_str("x")`.
    fn pushed(&mut self, callee: Id, args: &[Arg], space: usize) {
        let Kind::Attr {
            base,
            name: method,
            path: false,
            ..
        } = &self.tree.node(callee).kind
        else {
            return;
        };
        let (Kind::Name(list), [.., last]) = (&self.tree.node(*base).kind, args) else {
            return;
        };
        let (count, many, at_start) = match method.as_str() {
            "append" | "push" | "push_str" => (1, false, false),
            "extend" => (1, true, false),
            "insert" => (2, false, true),
            _ => return,
        };
        let first = self.tree.node(args[0].value);
        if args.len() == count && (!at_start || matches!(first.kind, Kind::Int(0))) {
            let pushed = Pushed {
                value: last.value,
                space,
                many,
                at_start,
            };
            // Of so many only the first are followed, and each is looked at wherever the name stands.
            let known = self.spaces.list[space].names.get(list).map_or(0, Vec::len);
            if known < MAX_BOUND {
                self.bind(space, list, Binding::Pushed(pushed));
            }
        }
    }

    fn target(&mut self, target: Id, (value, annotation): (Option<Id>, Option<Id>), space: usize) {
        match &self.tree.node(target).kind {
            Kind::Name(name) => {
                let binding = match (value, annotation) {
                    (Some(value), _) => Binding::Node(value, space),
                    (None, Some(_)) => Binding::Param {
                        annotation,
                        default: None,
                        outer: space,
                    },
                    (None, None) => Binding::Opaque,
                };
                self.bind(space, name, binding);
            }
            Kind::List(items) => {
                let values = match value.map(|value| &self.tree.node(value).kind) {
                    Some(Kind::List(values)) if values.len() == items.len() => Some(values),
                    _ => None,
                };
                for (index, item) in items.iter().enumerate() {
                    let one = values.map(|values| values[index]);
                    self.target(*item, (one, None), space);
                }
            }
            Kind::Attr { base, name, .. } => {
                if let (Kind::Name(object), Some(value)) = (&self.tree.node(*base).kind, value)
                    && let Some(class) = self.spaces.class_of_self(object, space)
                {
                    let attributes = &mut self.spaces.list[class].attributes;
                    attributes
                        .entry(name.clone())
                        .or_default()
                        .push((value, space));
                }
            }
            Kind::Index {
                base,
                index: Some(index),
            } => {
                if let (Kind::Name(name), Some(value)) = (&self.tree.node(*base).kind, value)
                    && let Some(key) = constant_key(self.tree, *index)
                {
                    self.bind(space, name, Binding::Entry(key, value, space));
                }
            }
            _ => {}
        }
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
