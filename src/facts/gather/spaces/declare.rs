//! First pass: every binding of a file, noted where it is made.

use std::collections::HashMap;

use super::{Binding, Bound, Pushed, Space, Spaces, constant_key};
use crate::facts::tree::{Arg, Function, Id, Kind, Param, Tree};
use crate::facts::{Scope, ScopeId};
use crate::source::{Language, Span};

impl Spaces {
    /// Reads all bindings below `root`.
    pub(in crate::facts::gather) fn of(tree: &Tree, root: Id, language: Language) -> Self {
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
            outer: HashMap::new(),
            stars: Vec::new(),
            attributes: HashMap::new(),
            bases: Vec::new(),
            returns: Vec::new(),
            self_name: None,
        });
        self.list.len() - 1
    }

    fn bind(&mut self, name: &str, bound: Bound) {
        let owner = self.owner(name, bound.by);
        let elsewhere = owner != bound.by;
        let names = &mut self.list[owner].names;
        let known = names.entry(name.to_owned()).or_default();
        // Of what so many functions set only the first are followed: each is looked at by all of them.
        if !elsewhere || known.len() < MAX_BOUND {
            known.push(bound);
        }
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
        let by = space;
        self.spaces.bind(name, Bound { what, at, by });
    }

    /// `global x`, `nonlocal x`: which space has the name. One that the enclosing functions bind further
    /// down, or never, is taken for the nearest one's.
    fn outer(&mut self, names: &[String], of_file: bool, space: usize) {
        let is_function = |index: &usize| *index > 0 && !self.spaces.list[*index].is_class;
        let around = self.spaces.outward(space).skip(1);
        let functions: Vec<usize> = around.filter(is_function).collect();
        for name in names {
            let binds = |index: &&usize| self.spaces.list[**index].names.contains_key(name);
            let nearest = functions.iter().find(binds).or(functions.first());
            let owner = if of_file { Some(0) } else { nearest.copied() };
            if let Some(owner) = owner {
                self.spaces.list[space].outer.insert(name.clone(), owner);
            }
        }
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
            Kind::Outer { names, of_file } => self.outer(names, *of_file, space),
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
            let owner = &self.spaces.list[self.spaces.owner(list, space)];
            let known = owner.names.get(list).map_or(0, Vec::len);
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
