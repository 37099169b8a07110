//! What a call may give.

use super::{MAX_CHOICES, one_of};
use crate::facts::gather::File;
use crate::facts::gather::fold::known_call;
use crate::facts::tree::{Arg as TreeArg, Form, Id, Kind, Spread};
use crate::facts::{Arg, MAX_ITEMS, ScopeId, Value};
use crate::source::Language;

impl File<'_> {
    /// The arguments of a call, evaluated; those in a spread list that is known are spelled out.
    pub(in crate::facts::gather) fn args(&self, args: &[TreeArg], space: usize) -> Vec<Arg> {
        let mut found = Vec::new();
        for arg in args.iter().take(MAX_ITEMS) {
            let value = self.value(arg.value, space);
            let value = match arg.spread {
                Spread::List => only_list(value),
                Spread::No | Spread::Dict => value,
            };
            match (arg.spread, value) {
                (Spread::List, Value::List(items)) => {
                    found.extend(items.iter().map(|item| Arg {
                        name: None,
                        spread: if item.spread {
                            Spread::List
                        } else {
                            Spread::No
                        },
                        value: item.value.clone(),
                        span: item.span,
                    }));
                }
                (spread, value) => found.push(Arg {
                    name: arg.name.clone(),
                    spread,
                    value,
                    span: arg.span,
                }),
            }
        }
        found
    }

    pub(super) fn call_value(
        &self,
        callee: Id,
        args: &[TreeArg],
        form: Form,
        space: usize,
    ) -> Value {
        let called = self.value(callee, space);
        let args = self.args(args, space);
        if let Some(value) = known_call(self, callee, &called, &args, space) {
            return value;
        }
        // A `with` works, as a rule, with what it was given.
        if let Kind::Attr { base, name, .. } = &self.node(callee).kind
            && name == "__enter__"
            && called.code().is_empty()
        {
            return self.value(*base, space);
        }
        if form != Form::Call {
            return match &called {
                Value::Path(paths) => one_of(
                    paths
                        .iter()
                        .map(|path| Value::Made(format!("{}()", path.trim_end_matches('!'))))
                        .collect(),
                ),
                _ => Value::Unknown,
            };
        }
        let made = called.each().iter().map(|value| match value {
            // A name that a star import may bind, or a crate's: the value is of either.
            Value::Path(paths) => one_of(paths.iter().map(|path| self.made(path)).collect()),
            Value::Made(path) => Value::Made(path.clone()),
            Value::Code(scope) => self.returned(*scope),
            _ => self.method_of_unknown(callee, space),
        });
        one_of(made.collect())
    }

    /// A method of a made value gives the same value again, as builders do.
    fn method_of_unknown(&self, callee: Id, space: usize) -> Value {
        match &self.node(callee).kind {
            Kind::Attr {
                base, path: false, ..
            } => match self.value(*base, space) {
                Value::Made(path) => Value::Made(path),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// What calling `path` makes; see the table in `facts`.
    fn made(&self, path: &str) -> Value {
        // A method in a chain: the chain keeps its root.
        if let Some(end) = path.rfind("().").or_else(|| path.rfind("[].")) {
            return Value::Made(path[..end + 2].to_owned());
        }
        if self.source.language == Language::Rust
            && let Some((owner, _)) = path.rsplit_once('.')
            && owner
                .rsplit('.')
                .next()
                .is_some_and(|name| name.starts_with(char::is_uppercase))
        {
            return Value::Made(format!("{owner}()"));
        }
        Value::Made(format!("{path}()"))
    }

    /// A value of the type that `path` names. A bare Rust name that nothing binds is a type
    /// parameter: it may be any type.
    pub(super) fn instance_of(&self, path: &Value) -> Value {
        let Value::Path(paths) = path else {
            return Value::Unknown;
        };
        let types = paths
            .iter()
            .filter(|path| path.contains('.') || self.source.language == Language::Python);
        one_of(types.map(|path| Value::Made(format!("{path}()"))).collect())
    }

    /// What a function of this file may return.
    fn returned(&self, scope: ScopeId) -> Value {
        let Some(space) = self.spaces.of_scope(scope) else {
            return Value::Unknown;
        };
        let returns = &self.spaces.list[space].returns;
        let values: Vec<Value> = returns
            .iter()
            .take(MAX_CHOICES)
            .map(|id| self.value(*id, space))
            .collect();
        one_of(values)
    }
}

/// The one list among the alternatives of a value, if there is one: a parameter that is made a list.
fn only_list(value: Value) -> Value {
    let Value::OneOf(values) = &value else {
        return value;
    };
    let lists: Vec<&Value> = values
        .iter()
        .filter(|value| matches!(value, Value::List(_)))
        .collect();
    let known = |value: &Value| *value != Value::Unknown;
    match lists.as_slice() {
        [list] if values.iter().filter(|value| known(value)).count() == 1 => (*list).clone(),
        _ => value,
    }
}
