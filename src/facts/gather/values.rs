//! What an expression may be when the program runs, as far as this file says.

mod calls;
mod classes;
mod puts;

use super::File;
use super::spaces::Binding;
use crate::facts::tree::{Id, Kind, Op, Piece};
use crate::facts::{HOLE, Item, MAX_ITEMS, Text, Value};
use crate::source::Language;
pub(super) use classes::Family;

/// Alternatives beyond this many are not told apart.
const MAX_CHOICES: usize = 24;
/// A name that stands for a name that stands for a name … is followed this far.
const MAX_CHAIN: usize = 1_000;
/// Longest text (bytes) that is folded.
const MAX_TEXT: usize = 1 << 16;
/// Values of more parts than this are not followed: each name doubles it in `b = [a, a]`.
const MAX_PARTS: usize = 4096;

impl File<'_> {
    /// What the expression at `id`, standing in `space`, may be.
    pub(super) fn value(&self, id: Id, space: usize) -> Value {
        // What says itself needs no memory: most of a table of words is such.
        match &self.node(id).kind {
            Kind::Text(pieces) if pieces.iter().all(|piece| piece.value().is_none()) => {
                return self.text(pieces, space);
            }
            Kind::Int(value) => return Value::Int(*value),
            Kind::Bool(value) => return Value::Bool(*value),
            Kind::Nothing => return Value::Nothing,
            _ => {}
        }
        let key = (id, space);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        if self.depth.get() >= MAX_CHAIN {
            return Value::Unknown;
        }
        self.known.borrow_mut().insert(key, Value::Unknown);
        self.depth.set(self.depth.get() + 1);
        let value = bounded(self.find_value(id, space));
        self.depth.set(self.depth.get() - 1);
        self.known.borrow_mut().insert(key, value.clone());
        value
    }

    fn find_value(&self, id: Id, space: usize) -> Value {
        let node = self.node(id);
        match &node.kind {
            Kind::Name(name) => self.name(name, id, space),
            Kind::Attr { base, name, .. } => self.attribute(*base, name, id, space),
            Kind::Call { callee, args, form } => self.call_value(*callee, args, *form, space),
            Kind::Index { base, index } => self.index(*base, *index, space),
            Kind::Text(pieces) => self.text(pieces, space),
            Kind::List(items) => self.list(items, space),
            Kind::Dict(entries) => self.dict(entries, space),
            Kind::Closure { .. } => self.code_at(id),
            Kind::Not(inner) => not(&self.value(*inner, space)),
            Kind::Binary { op, left, right } => self.binary(*op, *left, *right, space),
            Kind::Choice(ids) => one_of(ids.iter().map(|id| self.value(*id, space)).collect()),
            Kind::If {
                then, otherwise, ..
            } => {
                let branches = [Some(*then), *otherwise].into_iter().flatten();
                one_of(branches.map(|id| self.value(id, space)).collect())
            }
            Kind::Block(ids) => ids
                .last()
                .map_or(Value::Nothing, |id| self.tail(*id, space)),
            Kind::Tail(inner) => self.value(*inner, space),
            Kind::Bind {
                value: Some(value), ..
            } => self.value(*value, space),
            _ => Value::Unknown,
        }
    }

    /// The value of a block's last statement: only a tail has one.
    fn tail(&self, id: Id, space: usize) -> Value {
        match &self.node(id).kind {
            Kind::Tail(inner) => self.value(*inner, space),
            _ => Value::Unknown,
        }
    }

    fn code_at(&self, id: Id) -> Value {
        let scope = self
            .spaces
            .at(id)
            .map(|space| self.spaces.list[space].scope);
        scope.map_or(Value::Unknown, Value::Code)
    }

    /// What a name may be; a name that nothing binds is a path, through each star import too.
    fn name(&self, name: &str, id: Id, space: usize) -> Value {
        if name == "None" && self.source.language == Language::Rust {
            return Value::Nothing;
        }
        if let Some(class) = self.spaces.class_of_self(name, space) {
            return Value::Made(format!("{}()", self.class_path(class)));
        }
        // A macro is imported without its mark: `use duct::cmd; cmd!(…)`.
        if let Some(bare) = name.strip_suffix('!')
            && let [Binding::Import(path), ..] = self.spaces.find(bare, space).as_slice()
        {
            return Value::Path(vec![format!("{path}!")]);
        }
        let bindings = self.bindings(name, id, space);
        let pushed = |binding: &&Binding| matches!(binding, Binding::Pushed(_));
        if bindings.iter().all(pushed) {
            let stars = self
                .spaces
                .stars(space)
                .map(|star| format!("{star}.{name}"));
            return Value::Path(stars.chain([name.to_owned()]).collect());
        }
        self.last_sum_first(&bindings);
        self.bound(bindings.into_iter())
    }

    /// What any of `bindings` gives; keys that are set are put into the dictionaries among them.
    pub(super) fn bound<'b>(&self, bindings: impl Iterator<Item = &'b Binding>) -> Value {
        let mut values = Vec::new();
        let mut entries = Vec::new();
        let mut pushed = Vec::new();
        for binding in bindings {
            let full = values.len() + entries.len() >= MAX_CHOICES;
            match binding {
                Binding::Pushed(own) => pushed.push(*own),
                _ if full => {}
                Binding::Import(path) => values.push(Value::Path(vec![path.clone()])),
                Binding::Node(id, at) => values.push(self.value(*id, *at)),
                Binding::Entry(key, id, at) => entries.push((key.clone(), self.value(*id, *at))),
                Binding::Code(space) => values.push(Value::Code(self.spaces.list[*space].scope)),
                Binding::Class(space) => values.push(Value::Path(self.class_paths(*space))),
                Binding::Extern(name) => values.push(Value::Path(vec![format!("<extern>.{name}")])),
                Binding::Param {
                    annotation,
                    default,
                    outer,
                } => {
                    values.extend(default.map(|id| self.value(id, *outer)));
                    let typed = annotation.map(|id| self.value(id, *outer));
                    values.push(typed.map_or(Value::Unknown, |path| self.instance_of(&path)));
                }
                Binding::Opaque => values.push(Value::Unknown),
            }
        }
        for value in &mut values {
            self.put_in(value, &entries, &pushed);
        }
        if values.is_empty() && !entries.is_empty() {
            return Value::dict(entries);
        }
        one_of(values)
    }

    /// The paths of a class of this file: its own, then its bases' (a Python subclass is one).
    fn class_paths(&self, class: usize) -> Vec<String> {
        let mut paths = vec![self.class_path(class)];
        if self.source.language == Language::Python {
            let outer = self.spaces.list[class].parent.unwrap_or(0);
            for base in &self.spaces.list[class].bases {
                if let Value::Path(more) = self.value(*base, outer) {
                    paths.extend(more);
                }
            }
        }
        paths
    }

    fn class_path(&self, class: usize) -> String {
        format!("<here>.{}", self.spaces.list[class].name)
    }

    /// The class of this file that the path names, and what follows its name.
    pub(super) fn class_named(&self, path: &str) -> Option<usize> {
        let name = path.strip_prefix("<here>.")?.trim_end_matches("()");
        self.spaces
            .list
            .iter()
            .position(|space| space.is_class && space.name == name)
    }

    fn attribute(&self, base: Id, name: &str, id: Id, space: usize) -> Value {
        if let Some(set) = self.set_before(base, name, id, space) {
            return self.bound(set.iter());
        }
        let values = self.value(base, space);
        one_of(
            values
                .each()
                .iter()
                .map(|value| self.attribute_of(value, name))
                .collect(),
        )
    }

    pub(super) fn attribute_of(&self, value: &Value, name: &str) -> Value {
        let paths = match value {
            Value::Path(paths) => paths.as_slice(),
            Value::Made(path) => std::slice::from_ref(path),
            _ => return Value::Unknown,
        };
        for path in paths {
            if let Some(class) = self.class_named(path) {
                let members = self.members(class, name);
                if !members.is_empty() {
                    return self.bound(members.iter());
                }
                // Rust's `self.field` of an unknown type, Python's attribute set elsewhere.
                if path.ends_with("()") && paths.len() == 1 {
                    return self.inherited(class, name);
                }
            }
        }
        Value::Path(paths.iter().map(|path| format!("{path}.{name}")).collect())
    }

    /// An attribute that the class does not have itself: its first base's, if that is known.
    fn inherited(&self, class: usize, name: &str) -> Value {
        let bases = self.class_paths(class);
        match bases.get(1) {
            Some(base) => Value::Path(vec![format!("{base}().{name}")]),
            None => Value::Unknown,
        }
    }

    fn index(&self, base: Id, index: Option<Id>, space: usize) -> Value {
        let values = self.value(base, space);
        let key = index.map(|id| self.value(id, space));
        one_of(
            values
                .each()
                .iter()
                .map(|value| element(value, key.as_ref()))
                .collect(),
        )
    }

    fn text(&self, pieces: &[Piece], space: usize) -> Value {
        let mut text = Text::default();
        for piece in pieces {
            match piece {
                Piece::Text { text: part, span } => {
                    text.parts.push((text.text.len(), *span));
                    text.text.push_str(part);
                }
                Piece::Hole { value, span } => {
                    text.parts.push((text.text.len(), *span));
                    match value.map(|id| self.value(id, space)) {
                        Some(Value::Text(inner)) => text.text.push_str(&inner.text),
                        Some(Value::Int(number)) => text.text.push_str(&number.to_string()),
                        _ => text.text.push(HOLE),
                    }
                }
            }
        }
        limited(text)
    }

    fn list(&self, ids: &[Id], space: usize) -> Value {
        let mut items = Vec::new();
        for id in ids.iter().take(MAX_ITEMS) {
            let span = self.node(*id).span;
            if let Kind::Spread(inner) = self.node(*id).kind {
                match self.value(inner, space) {
                    Value::List(more) => items.extend(more.iter().cloned()),
                    value => items.push(Item {
                        value,
                        span,
                        spread: true,
                    }),
                }
            } else {
                items.push(Item {
                    value: self.value(*id, space),
                    span,
                    spread: false,
                });
            }
        }
        items.truncate(MAX_ITEMS);
        Value::list(items)
    }

    fn dict(&self, entries: &[(Option<Id>, Id)], space: usize) -> Value {
        let mut found = Vec::new();
        for (key, id) in entries.iter().take(MAX_ITEMS) {
            let value = self.value(*id, space);
            match key.map(|key| self.value(key, space)) {
                Some(Value::Text(key)) => found.push((key.text, value)),
                Some(_) => {}
                None => {
                    if let Value::Dict(more) = value {
                        found.extend(more.iter().cloned());
                    }
                }
            }
        }
        found.truncate(MAX_ITEMS);
        Value::dict(found)
    }

    fn binary(&self, op: Op, left: Id, right: Id, space: usize) -> Value {
        let (left, right) = (self.value(left, space), self.value(right, space));
        match op {
            Op::Add => super::fold::add(left, right),
            Op::Or => super::fold::or(left, right),
            Op::Percent => super::fold::percent(left, &right),
            Op::Equal => super::fold::same_platform(&left, &right),
            Op::Unequal => not(&super::fold::same_platform(&left, &right)),
            Op::Other => Value::Unknown,
        }
    }
}

/// The value, unless it is too large to be handed on from name to name.
fn bounded(value: Value) -> Value {
    if parts(&value) > MAX_PARTS {
        Value::Unknown
    } else {
        value
    }
}

/// Of how many parts a value is, long paths counted by their length.
fn parts(value: &Value) -> usize {
    let of_path = |path: &String| path.len() / 64;
    1 + match value {
        Value::List(items) => items.iter().map(|item| parts(&item.value)).sum(),
        Value::Dict(entries) => entries.iter().map(|(_, value)| parts(value)).sum(),
        Value::OneOf(values) | Value::Bits(values) => values.iter().map(parts).sum(),
        Value::Partial(inner, args) => {
            parts(inner) + args.iter().map(|arg| parts(&arg.value)).sum::<usize>()
        }
        Value::Path(paths) => paths.iter().map(of_path).sum(),
        Value::Made(path) => of_path(path),
        Value::Unknown
        | Value::Nothing
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Text(_)
        | Value::Code(_) => 0,
    }
}

fn element(value: &Value, key: Option<&Value>) -> Value {
    match (value, key) {
        (Value::Dict(entries), Some(Value::Text(key))) => {
            let found = entries.iter().filter(|(name, _)| *name == key.text);
            one_of(found.map(|(_, value)| value.clone()).collect())
        }
        (Value::List(items), Some(Value::Int(index))) => {
            let at = usize::try_from(*index).ok().or_else(|| {
                let back = index
                    .checked_neg()
                    .and_then(|back| usize::try_from(back).ok());
                back.and_then(|back| items.len().checked_sub(back))
            });
            at.and_then(|at| items.get(at))
                .map_or(Value::Unknown, |item| item.value.clone())
        }
        (Value::List(items), None) => one_of(items.iter().map(|item| item.value.clone()).collect()),
        (Value::Path(paths), _) => match paths.first() {
            Some(path) => Value::Made(format!("{path}[]")),
            None => Value::Unknown,
        },
        // `cdll["libc.so.6"]["setpgid"]`: the second index names a function.
        (Value::Made(path), Some(Value::Text(key)))
            if path.ends_with("[]") && is_identifier(&key.text) =>
        {
            Value::Path(vec![format!("{path}.{}", key.text)])
        }
        (Value::Made(path), _) if path.ends_with("[]") => Value::Made(path.clone()),
        _ => Value::Unknown,
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|char| char == '_' || char.is_alphanumeric())
}

pub(super) fn limited(text: Text) -> Value {
    if text.text.len() > MAX_TEXT {
        Value::Unknown
    } else {
        Value::Text(text)
    }
}

fn not(value: &Value) -> Value {
    match value {
        Value::Bool(value) => Value::Bool(!value),
        Value::Nothing => Value::Bool(true),
        Value::Int(value) => Value::Bool(*value == 0),
        _ => Value::Unknown,
    }
}

/// One of `values`, flattened; the value itself if they are all the same.
pub(super) fn one_of(mut values: Vec<Value>) -> Value {
    if values.len() == 1 {
        return values.remove(0);
    }
    let mut flat: Vec<Value> = Vec::new();
    for value in values {
        let parts = if let Value::OneOf(parts) = value {
            parts
        } else {
            vec![value]
        };
        for part in parts {
            if !flat.contains(&part) && flat.len() < MAX_CHOICES {
                flat.push(part);
            }
        }
    }
    match flat.len() {
        0 => Value::Unknown,
        1 => flat.remove(0),
        _ => Value::OneOf(flat),
    }
}
