//! Dictionaries that go where nothing is spawned: into a comparison, a request, the cases of a test.

use super::Walk;
use super::dicts::{Flow, MAX_FLOW, Owner};
use crate::facts::gather::File;
use crate::facts::gather::spaces::Binding;
use crate::facts::tree::{Arg, Id, Kind};
use crate::facts::{PARAMETERS, Value};

pub(super) use crate::facts::{COMPARED, REQUEST, RETURNED};

/// Methods of HTTP clients that send a body or a query.
const VERBS: &[&str] = &[
    "delete", "get", "head", "options", "patch", "post", "put", "request", "stream",
];

/// Into what an argument goes, if it is data whatever its keys say: what an HTTP client sends, and the
/// case of a test.
pub(super) fn data(
    file: &File<'_>,
    callee: Id,
    paths: &[String],
    arg: &Arg,
) -> Option<&'static str> {
    let sends = match &file.node(callee).kind {
        Kind::Attr { name, .. } | Kind::Name(name) => VERBS.contains(&name.as_str()),
        _ => false,
    };
    match arg.name.as_deref() {
        Some("json") => Some(REQUEST),
        Some("data" | "params" | "headers" | "content") if sends => Some(REQUEST),
        _ => {
            let case = paths.iter().any(|path| path == "pytest.param");
            case.then_some(PARAMETERS)
        }
    }
}

impl Walk<'_> {
    /// The dictionaries that go to nothing, each with where it goes.
    pub(super) fn inert_flows(&self) -> Vec<(Owner, &'static str)> {
        let mut found = Vec::new();
        for (id, space, into) in &self.inert {
            let mut owners = Vec::new();
            self.nested(*id, *space, MAX_FLOW, &mut owners);
            found.extend(owners.into_iter().map(|owner| (owner, *into)));
        }
        found
    }

    /// Whether other files, or other methods, may take a dictionary as well.
    pub(super) fn is_exported(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Name(space, _) => *space == 0 || self.file.spaces.list[*space].is_class,
            Owner::Node(_) => false,
        }
    }

    /// The dictionaries from which a value may come, and those inside of it.
    fn nested(&self, id: Id, space: usize, depth: usize, found: &mut Vec<Owner>) {
        if depth == 0 {
            return;
        }
        let inside: Vec<Id> = match &self.file.node(id).kind {
            Kind::Dict(entries) => {
                let own = entries.iter().filter(|(key, _)| key.is_some());
                own.map(|(_, value)| *value).collect()
            }
            Kind::List(items) => items.clone(),
            // `pytest.param(…)` in the cases of a test.
            Kind::Call { callee, args, .. } if self.is_param(*callee) => {
                args.iter().map(|arg| arg.value).collect()
            }
            _ => Vec::new(),
        };
        self.sources(id, space, depth, found);
        for id in inside {
            let literal = matches!(
                self.file.node(id).kind,
                Kind::Dict(_) | Kind::List(_) | Kind::Call { .. }
            );
            if literal {
                self.nested(id, space, depth - 1, found);
            }
        }
    }

    fn is_param(&self, callee: Id) -> bool {
        match &self.file.node(callee).kind {
            Kind::Attr { name, .. } | Kind::Name(name) => name == "param",
            _ => false,
        }
    }

    /// `@pytest.mark.parametrize("kw", [{…}])`: the dictionaries are what the parameters of that name
    /// are, of a function whose decorators stand in the first space and which opens the second.
    pub(super) fn parametrized(&mut self, decorators: &[Id], (space, inner): (usize, usize)) {
        for decorator in decorators {
            let Kind::Call { callee, args, .. } = &self.file.node(*decorator).kind else {
                continue;
            };
            let is_cases = matches!(&self.file.node(*callee).kind, Kind::Attr { name, .. } if name == "parametrize");
            let [names, cases, ..] = args.as_slice() else {
                continue;
            };
            if !is_cases {
                continue;
            }
            let mut owners = Vec::new();
            for list in self.lists(cases.value, space) {
                self.nested(list, space, MAX_FLOW, &mut owners);
            }
            let params: Vec<Owner> = names_in(&self.file.value(names.value, space))
                .map(|name| Owner::Name(inner, name))
                .collect();
            self.cases.push((owners, params));
        }
    }

    /// The list itself, or those that a name stands for.
    fn lists(&self, id: Id, space: usize) -> Vec<Id> {
        let Kind::Name(name) = &self.file.node(id).kind else {
            return vec![id];
        };
        let bindings = self.file.spaces.find(name, space).into_iter();
        bindings
            .filter_map(|binding| match binding {
                Binding::Node(id, _) => Some(*id),
                _ => None,
            })
            .collect()
    }

    /// Where the cases of tests go: where their parameters' entries become keywords, and into what
    /// this file defines. What else is done with them is a test's business.
    pub(super) fn reaches_of_cases(&self) -> Vec<(Owner, Vec<String>)> {
        let goes_on =
            |flow: &&Flow| flow.spread || flow.paths.iter().any(|path| path.starts_with("<here>"));
        let of = |params: &[Owner]| -> Vec<String> {
            let flows = self.flows.iter().filter(goes_on);
            let own = flows.filter(|flow| params.contains(&flow.owner));
            own.flat_map(|flow| flow.paths.iter().cloned())
                .chain([PARAMETERS.to_owned()])
                .collect()
        };
        let mut found = Vec::new();
        for (owners, params) in &self.cases {
            let reaches = of(params);
            found.extend(owners.iter().map(|owner| (owner.clone(), reaches.clone())));
        }
        found
    }
}

/// The names in `"a, b"` or `["a", "b"]`.
fn names_in(names: &Value) -> impl Iterator<Item = String> {
    let texts: Vec<&Value> = match names {
        Value::List(items) => items.iter().map(|item| &item.value).collect(),
        value => vec![value],
    };
    let text = |value: &Value| match value {
        Value::Text(text) => text.text.clone(),
        _ => String::new(),
    };
    let all: Vec<String> = texts.into_iter().map(text).collect();
    all.into_iter().flat_map(|names| {
        names
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect::<Vec<_>>()
    })
}
