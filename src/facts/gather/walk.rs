//! Second pass: every call that can run, in order, with its settings.

use super::spaces::{Binding, constant_key};
use std::collections::{BTreeSet, HashMap};

use super::argv::{self, Builder};
use super::{File, signatures};
use crate::facts::tree::{Arg as TreeArg, Form, Id, Kind, Op, Param, Spread};
use crate::facts::{Arg, Call, Facts, Holder, ScopeId, Setting, Value};
use crate::source::{Language, Span};

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
        held: HashMap::new(),
        builders: Vec::new(),
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

/// A dictionary, to tell which settings are in the same one.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Owner {
    /// A variable, by its space and name; or an attribute of a class.
    Name(usize, String),
    /// A literal that is not bound.
    Node(Id),
}

struct Walk<'a> {
    file: &'a File<'a>,
    facts: Facts,
    seen: Vec<bool>,
    /// Settings that are held by a dictionary, and which.
    dicts: Vec<(usize, Owner)>,
    /// Dictionaries that flow into calls, with the calls' paths.
    flows: Vec<(Owner, Vec<String>)>,
    /// Variables that hold what a call made: `kw = dict(…)`.
    held: HashMap<Owner, Owner>,
    /// Commands that are put together in steps.
    builders: Vec<Builder>,
}

impl Walk<'_> {
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
                self.defaults(&function.params, inner, plain);
                if let Some(body) = function.body {
                    self.visit(
                        body,
                        Place {
                            space: inner,
                            ..plain
                        },
                    );
                }
            }
            Kind::Closure { params, body } => {
                let Some(inner) = self.file.spaces.at(id) else {
                    return;
                };
                self.defaults(params, inner, plain);
                self.visit(
                    *body,
                    Place {
                        space: inner,
                        ..plain
                    },
                );
            }
            Kind::Class {
                bases,
                decorators,
                body,
                ..
            } => {
                self.all(decorators, plain);
                for base in bases {
                    self.visit(base.value, plain);
                }
                let inner = self.file.spaces.at(id).unwrap_or(place.space);
                self.visit(
                    *body,
                    Place {
                        space: inner,
                        ..plain
                    },
                );
            }
            Kind::Bind { targets, value, .. } => self.bind(id, targets, *value, plain),
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

    /// `command & NOHUP` of plumbum runs the command as a call does.
    fn modifier(&mut self, id: Id, right: Id, place: Place) {
        let Value::Path(paths) = self.file.value(right, place.space) else {
            return;
        };
        if !paths.iter().any(|path| path.starts_with("plumbum.")) {
            return;
        }
        let (name, evidence) = self.callee_name(right);
        let span = self.file.node(id).span;
        let scope = self.scope(place);
        self.facts.calls.push(Call {
            paths,
            name,
            args: Vec::new(),
            receiver: None,
            target: None,
            form: Form::Call,
            evidence,
            span,
            act: span,
            scope,
            quoted: place.quoted,
        });
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

    /// The variable or attribute that an expression names.
    fn owner(&self, id: Id, space: usize) -> Option<Owner> {
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

    fn dict_literal(&mut self, owner: &Owner, entries: &[(Option<Id>, Id)], place: Place) {
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

    fn dict_setting(
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

    fn defaults(&mut self, params: &[Param], inner: usize, place: Place) {
        for param in params {
            let Some(default) = param.default else {
                continue;
            };
            self.visit(default, place);
            let value = self.file.value(default, place.space);
            let holder = Holder::Default(self.file.spaces.list[inner].scope);
            self.setting(
                param.name.clone(),
                value,
                (param.span, param.span),
                holder,
                place,
            );
        }
    }

    fn call(&mut self, id: Id, callee: Id, args: &[TreeArg], form: Form, place: Place) {
        let span = self.file.node(id).span;
        let act = place.chain.unwrap_or(span);
        self.visit(
            callee,
            Place {
                chain: Some(act),
                ..place
            },
        );
        let called = self.file.value(callee, place.space);
        let mut paths = paths_of(self.file, callee, &called, place.space);
        let quoted = place.quoted
            || paths
                .iter()
                .any(|path| path.ends_with("quote!") || path.ends_with("quote_spanned!"));
        for arg in args {
            self.visit(
                arg.value,
                Place {
                    chain: None,
                    quoted,
                    ..place
                },
            );
        }
        let (name, callee_span) = self.callee_name(callee);
        let index = self.facts.calls.len();
        let mut values = self.file.args(args, place.space);
        if let Form::Macro { tokens } = form
            && name == "asm!"
        {
            values.extend(integers(self.file.source.slice(tokens), tokens));
        }
        if let Value::Partial(inner, _) = &called {
            paths.extend(direct_paths(inner));
        }
        self.call_settings((index, id, callee), &paths, args, &values, act, place);
        let scope = self.scope(place);
        argv::follow(
            self.file,
            &mut self.builders,
            (id, callee, place.space),
            &paths,
            &values,
            (act, scope),
        );
        let evidence = self.evidence(callee, callee_span, span);
        let receiver = self.receiver(callee, place.space);
        let target = called.code().first().copied();
        let call = Call {
            paths,
            name,
            args: values,
            receiver,
            target,
            form,
            evidence,
            span,
            act,
            scope,
            quoted,
        };
        self.facts.calls.push(call);
    }

    /// Last name of what is called, and where it stands.
    fn callee_name(&self, callee: Id) -> (String, Span) {
        let node = self.file.node(callee);
        match &node.kind {
            Kind::Name(name) => (name.clone(), node.span),
            Kind::Attr {
                name, name_span, ..
            } => (name.clone(), *name_span),
            _ => (String::new(), node.span),
        }
    }

    fn evidence(&self, callee: Id, name: Span, call: Span) -> Span {
        let node = self.file.node(callee);
        let start = match &node.kind {
            // A method of a value says it by its own name, one of a module or type by its path.
            Kind::Attr {
                base, path: false, ..
            } if !self.is_plain_path(*base) => name.start,
            _ => node.span.start,
        };
        let whole = Span {
            start,
            end: call.end,
        };
        let one_line =
            self.file.source.line(start) == self.file.source.line(call.end.saturating_sub(1));
        if one_line {
            whole
        } else {
            Span {
                start,
                end: name.end,
            }
        }
    }

    fn is_plain_path(&self, id: Id) -> bool {
        match &self.file.node(id).kind {
            Kind::Name(_) => self.file.source.language == Language::Python,
            Kind::Attr { base, path, .. } => *path || self.is_plain_path(*base),
            _ => false,
        }
    }

    fn receiver(&self, callee: Id, space: usize) -> Option<Value> {
        match &self.file.node(callee).kind {
            Kind::Attr {
                base, path: false, ..
            } => Some(self.file.value(*base, space)),
            _ => None,
        }
    }

    /// Keywords, named positions and the dictionaries that are spread into the call.
    fn call_settings(
        &mut self,
        (index, id, callee): (usize, Id, Id),
        paths: &[String],
        args: &[TreeArg],
        values: &[Arg],
        act: Span,
        place: Place,
    ) {
        let partial = paths
            .iter()
            .any(|path| path.starts_with("functools.partial"));
        let into: Vec<String> = match values.first().filter(|_| partial) {
            Some(arg) => direct_paths(&arg.value),
            None => paths.to_vec(),
        };
        let builds = self.built_dict(id, callee, paths, place.space);
        for arg in values {
            let Some(name) = &arg.name else { continue };
            let at = (arg.span, act);
            if let Some(owner) = &builds {
                self.dict_setting(owner.clone(), name.clone(), arg.value.clone(), at, place);
            } else {
                let holder = if partial {
                    Holder::Dict {
                        keys: names(values),
                        reaches: into.clone(),
                    }
                } else {
                    Holder::Call(index)
                };
                self.setting(name.clone(), arg.value.clone(), at, holder, place);
            }
        }
        let plain = values.iter().take_while(|arg| arg.spread != Spread::List);
        let positional = plain.filter(|arg| arg.name.is_none() && arg.spread == Spread::No);
        for (position, arg) in positional.enumerate() {
            if let Some(name) = signatures::name_of(paths, position) {
                let holder = Holder::Call(index);
                self.setting(
                    name.to_owned(),
                    arg.value.clone(),
                    (arg.span, act),
                    holder,
                    place,
                );
            }
        }
        for arg in args {
            let mut owners = Vec::new();
            self.sources(arg.value, place.space, MAX_FLOW, &mut owners);
            self.flows
                .extend(owners.into_iter().map(|owner| (owner, into.clone())));
        }
        self.dict_calls(callee, paths, args, act, place);
    }

    /// The dictionaries from which an expression's value may come.
    fn sources(&self, id: Id, space: usize, depth: usize, found: &mut Vec<Owner>) {
        if depth == 0 || found.len() > MAX_KEYS {
            return;
        }
        found.extend(self.owner(id, space).filter(|owner| !found.contains(owner)));
        match &self.file.node(id).kind {
            Kind::Name(name) => {
                for binding in self.file.spaces.find(name, space) {
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
                self.call_sources(*callee, args, space, depth, found)
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
                args.iter()
                    .for_each(|arg| self.sources(arg.value, space, depth - 1, found));
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
    fn built_dict(&self, id: Id, callee: Id, paths: &[String], space: usize) -> Option<Owner> {
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
    fn dict_calls(
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
    fn connect_dicts(&mut self) {
        let held = |owner: &Owner| self.held.get(owner).unwrap_or(owner).clone();
        let mut keys: HashMap<Owner, Vec<String>> = HashMap::new();
        let mut into: HashMap<Owner, BTreeSet<String>> = HashMap::new();
        for (setting, owner) in &self.dicts {
            let known = keys.entry(held(owner)).or_default();
            if known.len() < MAX_KEYS {
                known.push(self.facts.settings[*setting].name.clone());
            }
        }
        for (owner, paths) in &self.flows {
            into.entry(held(owner))
                .or_default()
                .extend(paths.iter().cloned());
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

/// How many names and helpers a dictionary is followed through on its way into a call.
const MAX_FLOW: usize = 8;
/// How many keys of one dictionary are told to each of its settings.
const MAX_KEYS: usize = 32;

/// The integers in the operands of inline assembly, which are no expressions of their own.
fn integers(text: &str, span: Span) -> Vec<Arg> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    let number = |word: &str| {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let arg = |value| Arg {
        name: None,
        spread: Spread::No,
        value: Value::Int(value),
        span,
    };
    words.filter_map(number).map(arg).collect()
}

fn names(args: &[Arg]) -> Vec<String> {
    args.iter().filter_map(|arg| arg.name.clone()).collect()
}

fn direct_paths(value: &Value) -> Vec<String> {
    let of = |value: &Value| match value {
        Value::Path(paths) => paths.clone(),
        _ => Vec::new(),
    };
    value.each().into_iter().flat_map(of).collect()
}

/// Canonical paths of what is called.
fn paths_of(file: &File<'_>, callee: Id, called: &Value, space: usize) -> Vec<String> {
    let mut paths = Vec::new();
    for value in called.each() {
        match value {
            Value::Path(own) => paths.extend(own.iter().cloned()),
            Value::Made(path) => paths.push(format!("{path}()")),
            Value::Code(scope) => paths.push(here(file, *scope)),
            Value::Partial(inner, _) => paths.extend(direct_paths(inner)),
            _ => {}
        }
    }
    let callee = file.node(callee);
    if paths.is_empty() {
        paths.push(match &callee.kind {
            Kind::Attr { name, .. } => format!("?.{name}"),
            Kind::Name(name) if bound_opaquely(file, name, space) => format!("?{name}"),
            _ => "?".to_owned(),
        });
    }
    paths.dedup();
    paths
}

fn bound_opaquely(file: &File<'_>, name: &str, space: usize) -> bool {
    file.spaces
        .find(name, space)
        .iter()
        .any(|binding| !matches!(binding, Binding::Import(_)))
}

/// The path of a function of this file: with its class, if it has one.
fn here(file: &File<'_>, scope: ScopeId) -> String {
    let Some(space) = file.spaces.of_scope(scope) else {
        return "<here>".to_owned();
    };
    let own = &file.spaces.list[space];
    match own.class {
        Some(class) => format!("<here>.{}.{}", file.spaces.list[class].name, own.name),
        None => format!("<here>.{}", own.name),
    }
}
