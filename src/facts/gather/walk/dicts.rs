//! Dictionaries of options: what each holds, and into which calls it flows.

use std::collections::{BTreeSet, HashMap};

use super::super::spaces::{Binding, constant_key};
use super::{Place, Walk};
use crate::facts::tree::{Arg as TreeArg, Id, Kind, Op};
use crate::facts::{Holder, Value};
use crate::source::Span;

/// How many names and helpers a dictionary is followed through on its way into a call.
pub(super) const MAX_FLOW: usize = 8;
/// How many keys of one dictionary are told to each of its settings.
const MAX_KEYS: usize = 32;

/// A dictionary, to tell which settings are in the same one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    /// A variable, by its space and name; or an attribute of a class.
    Name(usize, String),
    /// A literal that is not bound.
    Node(Id),
}

/// A dictionary that goes into a call.
pub(super) struct Flow {
    pub owner: Owner,
    /// Canonical paths of what is called.
    pub paths: Vec<String>,
    /// Whether its entries become keywords.
    pub spread: bool,
}

impl Walk<'_> {
    /// The variable or attribute that an expression names.
    pub(super) fn owner(&self, id: Id, space: usize) -> Option<Owner> {
        match &self.file.node(id).kind {
            Kind::Name(name) => Some(Owner::Name(
                self.file.spaces.home(name, space),
                name.clone(),
            )),
            Kind::Attr { base, name, .. } => match &self.file.node(*base).kind {
                Kind::Name(object) => {
                    let class = self.file.spaces.class_of_self(object, space)?;
                    Some(Owner::Name(class, name.clone()))
                }
                _ => None,
            },
            Kind::Dict(_) | Kind::Call { .. } => Some(Owner::Node(id)),
            _ => None,
        }
    }

    pub(super) fn dict_literal(
        &mut self,
        owner: &Owner,
        entries: &[(Option<Id>, Id)],
        place: Place,
    ) {
        for (key, value) in entries {
            if let Some(key) = key {
                self.visit(*key, place);
            }
            self.visit(*value, place);
            let Some(name) = key.and_then(|key| constant_key(self.file.tree, key)) else {
                continue;
            };
            let start = key.map_or(*value, |key| key);
            let span = self.file.node(start).span.to(self.file.node(*value).span);
            let act = match owner {
                Owner::Node(id) => self.file.node(*id).span,
                Owner::Name(..) => span,
            };
            let value = self.file.value(*value, place.space);
            self.dict_setting(owner.clone(), name, value, (span, act), place);
        }
    }

    pub(super) fn dict_setting(
        &mut self,
        owner: Owner,
        name: String,
        value: Value,
        at: (Span, Span),
        place: Place,
    ) {
        self.dicts.push((self.facts.settings.len(), owner));
        let holder = Holder::Dict {
            keys: Vec::new(),
            reaches: Vec::new(),
        };
        self.setting(name, value, at, holder, place);
    }

    /// The dictionaries from which an expression's value may come.
    pub(super) fn sources(&self, id: Id, space: usize, depth: usize, found: &mut Vec<Owner>) {
        if depth == 0 || found.len() > MAX_KEYS {
            return;
        }
        if let Some(owner) = self.owner(id, space) {
            // Each is followed once, however many ways lead to it.
            if found.contains(&owner) {
                return;
            }
            found.push(owner);
        }
        match &self.file.node(id).kind {
            Kind::Name(name) => {
                for binding in self.file.bindings(name, id, space) {
                    if let Binding::Node(value, at) = binding {
                        self.sources(*value, *at, depth - 1, found);
                    }
                }
            }
            Kind::Dict(entries) => {
                for (_, value) in entries.iter().filter(|(key, _)| key.is_none()) {
                    self.sources(*value, space, depth - 1, found);
                }
            }
            Kind::Call { callee, args, .. } => {
                self.call_sources(*callee, args, space, depth, found);
            }
            Kind::Binary {
                op: Op::Or,
                left,
                right,
            } => {
                self.sources(*left, space, depth - 1, found);
                self.sources(*right, space, depth - 1, found);
            }
            Kind::If {
                then, otherwise, ..
            } => {
                for branch in std::iter::once(then).chain(otherwise) {
                    self.sources(*branch, space, depth - 1, found);
                }
            }
            Kind::Choice(ids) => ids
                .iter()
                .for_each(|id| self.sources(*id, space, depth - 1, found)),
            Kind::Tail(inner) => self.sources(*inner, space, depth - 1, found),
            _ => {}
        }
    }

    /// What a helper of this file returns; what `dict(d)` and `d.copy()` copy.
    fn call_sources(
        &self,
        callee: Id,
        args: &[TreeArg],
        space: usize,
        depth: usize,
        found: &mut Vec<Owner>,
    ) {
        for scope in self.file.value(callee, space).code() {
            let Some(inner) = self.file.spaces.of_scope(scope) else {
                continue;
            };
            for value in &self.file.spaces.list[inner].returns {
                self.sources(*value, inner, depth - 1, found);
            }
        }
        match &self.file.node(callee).kind {
            Kind::Name(name) if name == "dict" => {
                for arg in args {
                    self.sources(arg.value, space, depth - 1, found);
                }
            }
            Kind::Attr {
                base,
                name,
                path: false,
                ..
            } if name == "copy" => {
                self.sources(*base, space, depth - 1, found);
            }
            _ => {}
        }
    }

    /// The dictionary that the call's keywords are put into: `dict(…)`, `d.update(…)`.
    pub(super) fn built_dict(
        &self,
        id: Id,
        callee: Id,
        paths: &[String],
        space: usize,
    ) -> Option<Owner> {
        if paths.iter().any(|path| path == "dict") {
            return Some(Owner::Node(id));
        }
        match &self.file.node(callee).kind {
            Kind::Attr {
                base,
                name,
                path: false,
                ..
            } if name == "update" || name == "setdefault" => {
                Some(self.owner(*base, space).unwrap_or(Owner::Node(id)))
            }
            _ => None,
        }
    }

    /// `d.setdefault("key", value)`.
    pub(super) fn dict_calls(
        &mut self,
        callee: Id,
        paths: &[String],
        args: &[TreeArg],
        act: Span,
        place: Place,
    ) {
        if let [key, value] = args
            && let Some(owner) = self.built_dict(callee, callee, paths, place.space)
            && let Some(name) = constant_key(self.file.tree, key.value)
        {
            let value_of = self.file.value(value.value, place.space);
            let span = key.span.to(value.span);
            self.dict_setting(owner, name, value_of, (span, act), place);
        }
    }

    /// Tells each setting of a dictionary what else the dictionary holds and where it goes.
    pub(super) fn connect_dicts(&mut self) {
        if self.dicts.is_empty() {
            return;
        }
        let held = |owner: &Owner| self.held.get(owner).unwrap_or(owner).clone();
        let mut keys: HashMap<Owner, Vec<String>> = HashMap::new();
        let mut into: HashMap<Owner, BTreeSet<String>> = HashMap::new();
        for (setting, owner) in &self.dicts {
            let known = keys.entry(held(owner)).or_default();
            if known.len() < MAX_KEYS {
                known.push(self.facts.settings[*setting].name.clone());
            }
        }
        for flow in &self.flows {
            into.entry(held(&flow.owner))
                .or_default()
                .extend(flow.paths.iter().cloned());
        }
        for (owner, path) in self.inert_flows() {
            let owner = held(&owner);
            if !self.is_exported(&owner) {
                into.entry(owner).or_default().insert(path.to_owned());
            }
        }
        for (owner, reaches) in self.reaches_of_cases() {
            into.entry(held(&owner)).or_default().extend(reaches);
        }
        for (setting, owner) in &self.dicts {
            let owner = held(owner);
            let reaches = into
                .get(&owner)
                .map(|paths| paths.iter().cloned().collect());
            self.facts.settings[*setting].holder = Holder::Dict {
                keys: keys.get(&owner).cloned().unwrap_or_default(),
                reaches: reaches.unwrap_or_default(),
            };
        }
    }
}
