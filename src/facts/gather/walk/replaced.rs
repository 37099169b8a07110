//! Functions that a test replaces for a while: by `mock.patch`, as decorator, `with` or `.start()`, by
//! `monkeypatch.setattr`, by `self.patch` of trial. A call that would detach through one of them
//! detaches nothing.
//!
//! Only what the file shows counts: where the double stands, and that it does not call the real function.

use super::{Place, Walk};
use crate::facts::gather::makers;
use crate::facts::gather::spaces::Binding;
use crate::facts::tree::{Arg as TreeArg, Form, Id, Kind, Spread};
use crate::facts::{self, Arg, Call, Value};
use crate::source::{Language, Span};

/// How many replacements of one file are followed.
const MAX_REPLACED: usize = 512;

/// A function that is replaced.
pub(super) struct Replaced {
    /// Its dotted path, as the test says it.
    path: String,
    /// Where it is replaced.
    reach: Span,
    /// What is put there, and where that is written; a mock if nothing is said.
    double: Option<(Value, Span)>,
}

/// A call that replaces functions.
struct Patch {
    path: String,
    double: Option<(Value, Span)>,
    /// Whether it does so where it stands; else where it decorates, enters or is started.
    at_once: bool,
}

/// Methods and functions that run before each test of a class.
const SET_UP: &[&str] = &[
    "setUp",
    "setup",
    "setup_method",
    "asyncSetUp",
    "setUpClass",
    "setup_class",
];

impl Walk<'_> {
    /// What decorators replace in what they stand on.
    pub(super) fn replaced_below(&mut self, decorators: &[Id], reach: Span, place: Place) {
        for decorator in decorators {
            self.replaced_by(*decorator, reach, place);
        }
    }

    /// What decorators of a class replace: around its tests, not around what prepares them.
    pub(super) fn replaced_in_tests(&mut self, decorators: &[Id], body: Id, place: Place) {
        let Kind::Block(parts) = &self.file.node(body).kind else {
            return;
        };
        for part in parts {
            let node = self.file.node(*part);
            if matches!(&node.kind, Kind::Function(own) if own.name.starts_with("test")) {
                self.replaced_below(decorators, node.span, place);
            }
        }
    }

    /// What the items of a `with` replace in its body.
    pub(super) fn replaced_within(&mut self, parts: &[Id], whole: Span, place: Place) {
        for part in parts {
            let entered = match &self.file.node(*part).kind {
                Kind::Bind {
                    value: Some(value), ..
                } => *value,
                _ => *part,
            };
            if let Kind::Call { callee, .. } = &self.file.node(entered).kind
                && let Kind::Attr { base, name, .. } = &self.file.node(*callee).kind
                && name == "__enter__"
            {
                let reach = Span {
                    start: self.file.node(*part).span.end,
                    end: whole.end,
                };
                self.replaced_by(*base, reach, place);
            }
        }
    }

    /// What a call replaces from where it stands: a fixture's method, or the `.start()` of a patch.
    pub(super) fn replaced_from(&mut self, id: Id, callee: Id, place: Place) {
        if self.file.source.language != Language::Python {
            return;
        }
        let Kind::Attr { base, name, .. } = &self.file.node(callee).kind else {
            return;
        };
        // Nearly every call ends here: what follows looks at all around it, and once at all of the file.
        let starts = name == "start";
        if !(starts || matches!(name.as_str(), "patch" | "object" | "setattr"))
            || !self.always_runs(id)
            || self.takes_back()
        {
            return;
        }
        let from = self.file.node(id).span.end;
        if starts {
            for maker in makers::of(self.file, *base, place.space, &|_| false) {
                self.replaced_by(maker, self.reach_from(from, place), place);
            }
        } else if let Some(patch) = self.patch(id, place.space).filter(|patch| patch.at_once) {
            self.note(patch, self.reach_from(from, place), place);
        }
    }

    /// Whether a call stands in no branch of its function.
    fn always_runs(&self, id: Id) -> bool {
        let spaces = self.file.spaces;
        let around = std::iter::successors(spaces.around(id), |id| spaces.around(*id));
        let kinds = around.map(|id| &self.file.node(id).kind);
        let mut kinds = kinds.take_while(|kind| !matches!(kind, Kind::Function(_)));
        let mut blocks = 0;
        kinds.all(|kind| {
            blocks += usize::from(matches!(kind, Kind::Block(_)));
            blocks <= 1 && !matches!(kind, Kind::If { .. } | Kind::Choice(_))
        })
    }

    /// Whether the file takes a replacement back somewhere, so that it may end before its body does.
    fn takes_back(&self) -> bool {
        let text = &self.file.source.text;
        let words = [".stop(", ".undo()", ".context()", "stopall("];
        *self
            .takes_back
            .get_or_init(|| words.iter().any(|word| text.contains(word)))
    }

    /// Whether the function has been imported here by its own name, from before it is replaced.
    fn is_had(&self, path: &str, space: usize) -> bool {
        let name = path.rsplit('.').next().unwrap_or_default();
        let imported = |binding: &Binding| match binding {
            Binding::Import(own) => own.contains('.') && path.ends_with(own.as_str()),
            _ => false,
        };
        let bound = self.file.spaces.find(name, space);
        bound.into_iter().any(imported)
    }

    /// From a place to the end of the body around it; what runs before each test of a class, all of it.
    fn reach_from(&self, from: u32, place: Place) -> Span {
        let scope = self.scope(place);
        let body = self.facts.scopes.get(scope.0 as usize);
        let set_up = body.is_some_and(|body| SET_UP.contains(&body.name.as_str()));
        match (self.class, body) {
            (Some(class), _) if set_up => class,
            (_, Some(body)) => Span {
                start: from,
                end: body.span.end,
            },
            _ => Span::default(),
        }
    }

    fn replaced_by(&mut self, id: Id, reach: Span, place: Place) {
        if let Some(patch) = self.patch(id, place.space) {
            self.note(patch, reach, place);
        }
    }

    fn note(&mut self, patch: Patch, reach: Span, place: Place) {
        if self.replaced.len() < MAX_REPLACED && !self.is_had(&patch.path, place.space) {
            self.replaced.push(Replaced {
                path: patch.path,
                reach,
                double: patch.double,
            });
        }
    }

    /// What the call at `id` replaces, if it does.
    fn patch(&self, id: Id, space: usize) -> Option<Patch> {
        let Kind::Call {
            callee,
            args,
            form: Form::Call,
        } = &self.file.node(id).kind
        else {
            return None;
        };
        let words = self.words(*callee, space);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let of_mock = matches!(
            words.as_slice(),
            [.., "mock", "patch"] | [.., "mock", "patch", _]
        );
        let of_fixture =
            matches!(words.as_slice(), [fixture, "patch", ..] if fixture.ends_with("mocker"));
        let of_pytest =
            matches!(words.as_slice(), [fixture, "setattr"] if fixture.ends_with("monkeypatch"));
        // What is spread may say anything of the double.
        if args.iter().any(|arg| arg.spread != Spread::No) {
            return None;
        }
        let (last, of_patch) = (*words.last()?, of_mock || of_fixture);
        let given = |index: usize| args.get(index).filter(|arg| arg.name.is_none());
        let named = |name: &str| args.iter().find(|arg| arg.name.as_deref() == Some(name));
        let text = |index| self.text_of(given(index)?, space);
        let member = || {
            let owner = self.file.value(given(0)?.value, space);
            let Value::Path(owners) = owner else {
                return None;
            };
            Some(format!("{}.{}", owners.first()?, text(1)?))
        };
        let (path, double) = match last {
            "patch" if of_patch => (text(0)?, given(1)),
            "object" if of_patch => (member()?, given(2)),
            "setattr" if of_pytest && args.len() > 2 => (member()?, given(2)),
            "setattr" if of_pytest => (text(0)?, given(1)),
            // `self.patch(os, "setsid", double)`.
            "patch" if self.is_of_self(*callee) && args.len() == 3 => (member()?, given(2)),
            _ => return None,
        };
        // What is called by way of the double.
        let through = ["new", "wraps", "side_effect", "new_callable", "value"];
        let double = double.or_else(|| through.iter().find_map(|name| named(name)));
        Some(Patch {
            path,
            double: double.map(|arg| (self.file.value(arg.value, space), arg.span)),
            at_once: !of_mock,
        })
    }

    fn is_of_self(&self, callee: Id) -> bool {
        let Kind::Attr { base, .. } = &self.file.node(callee).kind else {
            return false;
        };
        matches!(&self.file.node(*base).kind, Kind::Name(name) if name == "self")
    }

    fn text_of(&self, arg: &TreeArg, space: usize) -> Option<String> {
        match self.file.value(arg.value, space) {
            Value::Text(text) => Some(text.text),
            _ => None,
        }
    }

    /// The names of what is called: as imported, or as written on something unknown.
    fn words(&self, callee: Id, space: usize) -> Vec<String> {
        if let Value::Path(paths) = self.file.value(callee, space)
            && let [path] = paths.as_slice()
        {
            return path.split('.').map(str::to_owned).collect();
        }
        let mut words = Vec::new();
        let mut next = Some(callee);
        while let Some(id) = next.take() {
            match &self.file.node(id).kind {
                Kind::Attr { base, name, .. } => {
                    words.push(name.clone());
                    next = Some(*base);
                }
                Kind::Name(name) => words.push(name.clone()),
                _ => words.push(String::new()),
            }
        }
        words.reverse();
        words
    }

    /// Keeps of what is replaced that which is by a double that does not call it.
    pub(super) fn keep_doubles(&mut self) {
        let replaced = std::mem::take(&mut self.replaced);
        let kept = replaced.into_iter().filter(|own| self.is_double(own));
        let told = kept.map(|own| facts::Replaced {
            path: own.path,
            reach: own.reach,
        });
        self.facts.replaced = told.collect();
    }

    /// Whether what is put in the place of a function does not call it.
    fn is_double(&self, own: &Replaced) -> bool {
        let Some((value, span)) = &own.double else {
            return true;
        };
        let inside = |call: &&Call| span.contains(call.span);
        let mut calls = self.facts.calls.iter().filter(inside);
        let wraps = |arg: &Arg| matches!(arg.name.as_deref(), Some("wraps" | "side_effect"));
        if calls.any(|call| call.args.iter().any(wraps)) {
            return false;
        }
        value.each().iter().all(|value| match value {
            Value::Unknown | Value::Path(_) | Value::Partial(..) | Value::OneOf(_) => false,
            Value::Made(path) => path.ends_with("Mock()") || path == "iter()",
            Value::Code(scope) => {
                let name = own.path.rsplit('.').next().unwrap_or_default();
                let body = self.facts.scopes.get(scope.0 as usize);
                let body = body.map(|body| body.span);
                // By its name, or by a variable that keeps it.
                let real = |call: &Call| {
                    let kept = || call.paths.iter().any(|path| path.starts_with('?'));
                    call.name == name || kept()
                };
                let own = |call: &&Call| body.is_some_and(|body| body.contains(call.span));
                !self.facts.calls.iter().filter(own).any(real)
            }
            _ => true,
        })
    }
}
