//! Calls: what is called, by which paths, with which settings.

use super::dicts::{Flow, MAX_FLOW};
use super::{Place, Walk, inert};
use crate::facts::gather::spaces::Binding;
use crate::facts::gather::{File, argv, makers, signatures};
use crate::facts::tree::{Arg as TreeArg, Form, Id, Kind, Spread};
use crate::facts::{Arg, Call, Holder, ScopeId, Value};
use crate::source::{Language, Span};

/// The name under which its own library knows what is called, whatever it is called here:
/// `setsid` for `from os import setsid as leave; leave()`. Only where there is no other possibility.
fn known_name(paths: &[String]) -> Option<&str> {
    let [path] = paths else { return None };
    let (_, name) = path.rsplit_once('.')?;
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '!';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

impl Walk<'_> {
    /// `command & NOHUP` of plumbum runs the command as a call does.
    pub(super) fn modifier(&mut self, id: Id, right: Id, place: Place) {
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
            made_by: Vec::new(),
            target: None,
            form: Form::Call,
            evidence,
            span,
            act: span,
            scope,
            quoted: place.quoted,
        });
    }

    pub(super) fn call(&mut self, id: Id, callee: Id, args: &[TreeArg], form: Form, place: Place) {
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
        let (written, callee_span) = self.callee_name(callee);
        let name = known_name(&paths).map_or(written, str::to_owned);
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
        self.replaced_from(id, callee, place);
        let evidence = self.evidence(callee, callee_span, span);
        let receiver = self.receiver(callee, place.space);
        let made_by = self.made_by(callee, &paths, place.space);
        let target = called.code().first().copied();
        let call = Call {
            paths,
            name,
            args: values,
            receiver,
            made_by,
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

    fn made_by(&self, callee: Id, paths: &[String], space: usize) -> Vec<Span> {
        match &self.file.node(callee).kind {
            Kind::Attr {
                base, path: false, ..
            } if paths.iter().any(|path| path.contains("().")) => {
                let makers = makers::of(self.file, *base, space, &|_| false);
                let span = |id: Id| self.file.node(id).span;
                makers.into_iter().map(span).collect()
            }
            _ => Vec::new(),
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
            if let Some(into) = inert::data(self.file, callee, paths, arg) {
                self.inert.push((arg.value, place.space, into));
                continue;
            }
            let mut owners = Vec::new();
            self.sources(arg.value, place.space, MAX_FLOW, &mut owners);
            let flow = |owner| Flow {
                owner,
                paths: into.clone(),
                spread: arg.spread == Spread::Dict,
            };
            self.flows.extend(owners.into_iter().map(flow));
            self.handed_on(index, arg, place.space);
        }
        self.dict_calls(callee, paths, args, act, place);
    }
}

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
    value.each().iter().flat_map(of).collect()
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
