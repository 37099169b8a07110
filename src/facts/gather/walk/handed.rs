//! Options that a function gives what it is given itself, under another name or by position:
//! `def start(cmd, hook): Popen(cmd, preexec_fn=hook)` and then `start(cmd, os.setsid)`.

use std::collections::BTreeMap;

use super::Walk;
use crate::facts::gather::spaces::Binding;
use crate::facts::tree::{Arg, Kind, Param, Spread};
use crate::facts::{Call, Holder, ScopeId, Setting, Truth, Value};

/// How many options one function hands on.
const MAX_PASSES: usize = 16;

/// What is handed on in a file.
#[derive(Default)]
pub(super) struct Handed<'a> {
    /// Parameters of each function, in order.
    params: BTreeMap<ScopeId, &'a [Param]>,
    /// The parameters of a function that are handed on.
    options: BTreeMap<ScopeId, Vec<Pass>>,
}

/// A parameter that is the value of an option.
struct Pass {
    param: String,
    option: String,
    /// The call whose option it is, by its place in `Facts::calls`.
    call: usize,
}

impl<'a> Handed<'a> {
    /// Notes the parameters of a function.
    pub(super) fn declare(&mut self, scope: ScopeId, params: &'a [Param]) {
        self.params.insert(scope, params);
    }
}

impl Walk<'_> {
    /// Notes that the call at `index` is given a parameter of the function around it as an option.
    pub(super) fn handed_on(&mut self, index: usize, arg: &Arg, space: usize) {
        let (Some(option), Kind::Name(param)) = (&arg.name, &self.file.node(arg.value).kind) else {
            return;
        };
        let bindings = self.file.spaces.find(param, space);
        let is_param = |binding: &&Binding| matches!(binding, Binding::Param { .. });
        if bindings.is_empty() || !bindings.iter().all(is_param) {
            return;
        }
        let home = self.file.spaces.home(param, space);
        let scope = self.file.spaces.list[home].scope;
        let own = self.handed.options.entry(scope).or_default();
        if own.len() < MAX_PASSES {
            own.push(Pass {
                param: param.clone(),
                option: option.clone(),
                call: index,
            });
        }
    }

    /// Lists what the callers of such functions give them, as the options that it becomes.
    pub(super) fn hand_on(&mut self) {
        let mut found = Vec::new();
        for call in &self.facts.calls {
            let Some(target) = call.target else { continue };
            for pass in self.handed.options.get(&target).into_iter().flatten() {
                found.extend(self.given(call, target, pass));
            }
        }
        self.facts.settings.extend(found);
    }

    fn given(&self, call: &Call, target: ScopeId, pass: &Pass) -> Option<Setting> {
        let params = self.handed.params.get(&target)?;
        let place = params.iter().position(|param| param.name == pass.param)?;
        // A method is not given its object.
        let object = params
            .first()
            .is_some_and(|first| first.name == "self" || first.name == "cls");
        let place = if object && call.receiver.is_some() {
            place.checked_sub(1)?
        } else {
            place
        };
        let arg = call.arg(place, &pass.param)?;
        // Under the option's own name it is a setting of this call already.
        if arg.spread != Spread::No || arg.name.as_ref() == Some(&pass.option) {
            return None;
        }
        says_something(&arg.value).then(|| Setting {
            name: pass.option.clone(),
            value: arg.value.clone(),
            span: if arg.name.is_some() {
                arg.span
            } else {
                call.evidence
            },
            holder: Holder::Through(pass.call),
            act: call.act,
            scope: call.scope,
        })
    }
}

/// Whether a value tells more than the parameter does: a constant, a function, a name from elsewhere.
fn says_something(value: &Value) -> bool {
    let named = |value: &Value| match value {
        Value::Path(paths) => paths.iter().all(|path| !path.contains("()")),
        Value::Partial(..) => true,
        _ => false,
    };
    value.truth() != Truth::Maybe || value.each().iter().any(named)
}
