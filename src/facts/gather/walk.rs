//! Second pass: every call that can run, in order, with its settings.

mod calls;
mod dicts;
mod handed;
mod inert;
mod replaced;

use std::cell::OnceCell;
use std::collections::HashMap;

use super::File;
use super::argv::{self, Builder};
use super::spaces::constant_key;
use crate::facts::tree::{Arg as TreeArg, Id, Kind, Op, Param};
use crate::facts::{Facts, Holder, ScopeId, Setting, Value};
use crate::source::{Language, Span};
use dicts::{Flow, Owner};
use handed::Handed;
use replaced::Replaced;

/// Visits everything below `root`.
pub(super) fn walk(file: &File<'_>, root: Id) -> (Facts, Vec<Builder>) {
    let mut facts = Facts::new(file.source.language);
    facts.scopes.clone_from(&file.spaces.scopes);
    let seen = vec![false; file.tree.nodes.len()];
    let mut walk = Walk {
        file,
        facts,
        seen,
        dicts: Vec::new(),
        flows: Vec::new(),
        inert: Vec::new(),
        cases: Vec::new(),
        held: HashMap::new(),
        builders: Vec::new(),
        handed: Handed::default(),
        replaced: Vec::new(),
        takes_back: OnceCell::new(),
        class: None,
    };
    walk.visit(
        root,
        Place {
            space: 0,
            chain: None,
            quoted: false,
        },
    );
    walk.connect_dicts();
    walk.hand_on();
    walk.keep_doubles();
    (walk.facts, walk.builders)
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Place {
    space: usize,
    /// The method chain around it.
    chain: Option<Span>,
    quoted: bool,
}

impl Place {
    /// A place in a body that stands here.
    fn inside(self, space: usize) -> Self {
        Self { space, ..self }
    }
}

struct Walk<'a> {
    file: &'a File<'a>,
    facts: Facts,
    seen: Vec<bool>,
    /// Settings that are held by a dictionary, and which.
    dicts: Vec<(usize, Owner)>,
    /// Dictionaries that flow into calls.
    flows: Vec<Flow>,
    /// Where dictionaries may go to nothing, and the space.
    inert: Vec<(Id, usize, &'static str)>,
    /// Dictionaries that a test is run with, and the parameters that may be one of them.
    cases: Vec<(Vec<Owner>, Vec<Owner>)>,
    /// Variables that hold what a call made: `kw = dict(…)`.
    held: HashMap<Owner, Owner>,
    /// Commands that are put together in steps.
    builders: Vec<Builder>,
    /// Options that are given what the function around them is given.
    handed: Handed<'a>,
    /// Functions that a test replaces.
    replaced: Vec<Replaced>,
    /// Whether the file gives one of them back, once somebody asks.
    takes_back: OnceCell<bool>,
    /// The class that is being read.
    class: Option<Span>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, id: Id, place: Place) {
        if std::mem::replace(&mut self.seen[id.0 as usize], true) {
            return;
        }
        let node = self.file.node(id);
        let plain = Place {
            chain: None,
            ..place
        };
        match &node.kind {
            Kind::Call { callee, args, form } => self.call(id, *callee, args, *form, place),
            Kind::Attr { base, .. } => self.visit(*base, place),
            Kind::Block(ids) => self.block(ids, plain),
            Kind::If {
                test,
                then,
                otherwise,
            } => self.branch(*test, *then, *otherwise, plain),
            Kind::Function(function) => {
                let Some(inner) = self.file.spaces.at(id) else {
                    return;
                };
                self.all(&function.decorators, plain);
                self.replaced_below(&function.decorators, node.span, plain);
                self.parametrized(&function.decorators, (plain.space, inner));
                self.defaults(&function.params, inner, plain);
                if let Some(body) = function.body {
                    self.visit(body, plain.inside(inner));
                }
            }
            Kind::Closure { params, body } => {
                let Some(inner) = self.file.spaces.at(id) else {
                    return;
                };
                self.defaults(params, inner, plain);
                self.visit(*body, plain.inside(inner));
            }
            Kind::Class {
                bases,
                decorators,
                body,
                ..
            } => self.class(id, decorators, bases, *body, plain),
            Kind::Return(Some(value)) => {
                self.inert.push((*value, plain.space, inert::RETURNED));
                self.visit(*value, plain);
            }
            Kind::Bind { targets, value, .. } => self.bind(id, targets, *value, plain),
            Kind::Other(parts) => {
                self.replaced_within(parts, node.span, plain);
                self.all(parts, plain);
            }
            Kind::Dict(entries) => {
                self.dict_literal(&Owner::Node(id), entries, plain);
            }
            Kind::Index {
                base,
                index: Some(index),
            } => {
                self.visit(*base, place);
                self.visit(*index, plain);
                let at = (place.chain.unwrap_or(node.span), self.scope(place));
                argv::follow_index(
                    self.file,
                    &mut self.builders,
                    (id, *base, *index),
                    place.space,
                    at,
                );
            }
            Kind::Binary {
                op: Op::Equal | Op::Unequal,
                left,
                right,
            } => {
                for side in [*left, *right] {
                    self.inert.push((side, plain.space, inert::COMPARED));
                    self.visit(side, plain);
                }
            }
            Kind::Binary {
                op: Op::Other,
                right,
                ..
            } => {
                self.all(&node.kind.children(), plain);
                self.modifier(id, *right, plain);
            }
            kind => self.all(&kind.children(), plain),
        }
    }

    fn class(&mut self, id: Id, decorators: &[Id], bases: &[TreeArg], body: Id, place: Place) {
        self.all(decorators, place);
        for base in bases {
            self.visit(base.value, place);
        }
        let space = self.file.spaces.at(id).unwrap_or(place.space);
        self.replaced_in_tests(decorators, body, place);
        let span = self.file.node(id).span;
        let outer = self.class.replace(span);
        self.visit(body, place.inside(space));
        self.class = outer;
    }

    fn all(&mut self, ids: &[Id], place: Place) {
        for id in ids {
            self.visit(*id, place);
        }
    }

    /// Statements in order; nothing runs after the block was left.
    fn block(&mut self, ids: &[Id], place: Place) {
        for id in ids {
            self.visit(*id, place);
            if matches!(self.file.node(*id).kind, Kind::Return(_) | Kind::Leave(_)) {
                // Definitions after it may still be named, but nothing here calls them.
                break;
            }
        }
    }

    /// A branch that is never taken is not read. Platform checks are: the program may run there.
    fn branch(&mut self, test: Id, then: Id, otherwise: Option<Id>, place: Place) {
        self.visit(test, place);
        let constant = match &self.file.node(test).kind {
            Kind::Bool(value) => Some(*value),
            Kind::Int(value) => Some(*value != 0),
            Kind::Name(name) if name == "TYPE_CHECKING" => Some(false),
            Kind::Attr { name, .. } if name == "TYPE_CHECKING" => Some(false),
            _ => None,
        };
        if constant != Some(false) {
            self.visit(then, place);
        }
        if let Some(otherwise) = otherwise.filter(|_| constant != Some(true)) {
            self.visit(otherwise, place);
        }
    }

    fn bind(&mut self, id: Id, targets: &[Id], value: Option<Id>, place: Place) {
        let Some(value_id) = value else { return };
        if let [target] = targets
            && let Kind::Dict(entries) = &self.file.node(value_id).kind
            && let Some(owner) = self.owner(*target, place.space)
            && !std::mem::replace(&mut self.seen[value_id.0 as usize], true)
        {
            self.dict_literal(&owner, entries, place);
        }
        if let [target] = targets
            && let Some(owner) = self.owner(*target, place.space)
        {
            self.held.insert(Owner::Node(value_id), owner);
        }
        self.visit(value_id, place);
        for target in targets {
            self.field(id, *target, value_id, place);
            if let Kind::Index {
                base,
                index: Some(index),
            } = &self.file.node(*target).kind
                && let Some(key) = constant_key(self.file.tree, *index)
            {
                let owner = self.owner(*base, place.space).unwrap_or(Owner::Node(*base));
                let span = self.file.node(id).span;
                let value = self.file.value(value_id, place.space);
                self.dict_setting(owner, key, value, (span, span), place);
            }
            self.visit(*target, place);
        }
    }

    /// A field that is set: C's `action.sa_sigaction = SIG_IGN`. In Python an attribute is no option.
    fn field(&mut self, id: Id, target: Id, value: Id, place: Place) {
        let Kind::Attr {
            name, path: false, ..
        } = &self.file.node(target).kind
        else {
            return;
        };
        if self.file.source.language == Language::Rust {
            let span = self.file.node(id).span;
            let value = self.file.value(value, place.space);
            let holder = Holder::Dict {
                keys: Vec::new(),
                reaches: Vec::new(),
            };
            self.setting(name.clone(), value, (span, span), holder, place);
        }
    }

    fn setting(
        &mut self,
        name: String,
        value: Value,
        at: (Span, Span),
        holder: Holder,
        place: Place,
    ) {
        let (span, act) = at;
        let scope = self.scope(place);
        self.facts.settings.push(Setting {
            name,
            value,
            span,
            holder,
            act,
            scope,
        });
    }

    fn scope(&self, place: Place) -> ScopeId {
        self.file.spaces.list[place.space].scope
    }

    fn defaults(&mut self, params: &'a [Param], inner: usize, place: Place) {
        let scope = self.file.spaces.list[inner].scope;
        self.handed.declare(scope, params);
        for param in params {
            let Some(default) = param.default else {
                continue;
            };
            self.visit(default, place);
            let value = self.file.value(default, place.space);
            let holder = Holder::Default(scope);
            self.setting(
                param.name.clone(),
                value,
                (param.span, param.span),
                holder,
                place,
            );
        }
    }
}
