//! Hooks: functions that a spawner runs in the child, between fork and exec.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{is_asserted, mentions};
use super::{leaving, names};
use crate::facts::{Call, Facts, ScopeId, Setting, Truth, Value};
use crate::source::Span;

/// A function given to a spawner to be run in the child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook<'f> {
    /// The act of spawning.
    pub(super) act: Span,
    /// The keyword and its value, or the method that takes it.
    pub(super) evidence: Span,
    /// The function.
    pub(super) value: &'f Value,
    /// Whether anything in this file makes it run.
    pub(super) runs: bool,
    /// Whether it is given the command, before the spawn.
    pub(super) prepares: bool,
}

/// All hooks of a file and the bodies that run in them.
#[derive(Debug)]
pub(super) struct Hooks<'f> {
    /// In the order of settings, then of calls.
    pub(super) all: Vec<Hook<'f>>,
    /// Which hooks run a body: its own, those of closures in it, and of the functions that it calls,
    /// one level down.
    bodies: BTreeMap<ScopeId, Vec<usize>>,
    /// Acts whose child asks in a hook to die with its parent or its terminal.
    tethered: BTreeSet<Span>,
}

impl<'f> Hooks<'f> {
    /// Finds them.
    pub(super) fn of(facts: &'f Facts) -> Self {
        let forks = || {
            let forking = |call: &Call| {
                leaving::is_fork(call)
                    || names::is_of(call, &["multiprocessing.", "billiard."])
                        && matches!(call.name.as_str(), "Process" | "Pool" | "Manager")
            };
            let before_exec = |setting: &Setting| {
                setting.name == "preexec_fn" && setting.value.truth() != Truth::No
            };
            facts.calls.iter().any(forking) || facts.settings.iter().any(before_exec)
        };
        let option = |setting: &'f Setting| {
            let of_fork = setting.name == "after_in_child";
            let of_thread = || {
                names::holder(facts, setting)
                    .is_some_and(|call| call.paths.iter().any(|path| path.contains("Thread")))
            };
            let is_hook = match setting.name.as_str() {
                "preexec_fn" | "_preexec_fn" | "child_setup" | "after_in_child" => true,
                "initializer" => !of_thread(),
                _ => false,
            };
            let runs = !of_fork || forks();
            let hook = Hook {
                act: setting.act,
                evidence: setting.span,
                value: &setting.value,
                runs,
                prepares: false,
            };
            (is_hook && !is_asserted(facts, setting)).then_some(hook)
        };
        let method = |call: &'f Call| {
            let is_hook = matches!(
                call.name.as_str(),
                "pre_exec" | "before_exec" | "before_spawn"
            );
            let value = &call.positional().last()?.value;
            is_hook.then_some(Hook {
                act: call.act,
                evidence: call.evidence,
                value,
                runs: true,
                prepares: call.name == "before_spawn",
            })
        };
        let mut all: Vec<Hook<'f>> = facts.settings.iter().filter_map(option).collect();
        all.extend(facts.calls.iter().filter_map(method));
        let mut bodies: BTreeMap<ScopeId, Vec<usize>> = BTreeMap::new();
        let mut tethered = BTreeSet::new();
        for (index, hook) in all.iter().enumerate() {
            for scope in bodies_of(facts, hook.value) {
                bodies.entry(scope).or_default().push(index);
                if facts.calls_in(scope).any(|(_, call)| is_tether(call)) {
                    tethered.insert(hook.act);
                }
            }
        }
        Self {
            all,
            bodies,
            tethered,
        }
    }

    /// The hooks that run a body.
    pub(super) fn uses(&self, scope: ScopeId) -> Vec<Hook<'f>> {
        let used = self.bodies.get(&scope).into_iter().flatten();
        used.filter_map(|index| self.all.get(*index).copied())
            .collect()
    }

    /// Whether a body runs in a hook.
    pub(super) fn runs(&self, scope: ScopeId) -> bool {
        self.bodies.contains_key(&scope)
    }

    /// Whether a call changes the command that its hook is given.
    pub(super) fn prepares(&self, call: &Call) -> bool {
        let unknown = call.paths.iter().any(|path| path.starts_with("?."));
        unknown && self.uses(call.scope).iter().any(|hook| hook.prepares)
    }

    /// The act to which a call belongs: the spawn in whose hook it is written, else its own.
    pub(super) fn act(&self, call: &Call) -> Span {
        let uses = self.uses(call.scope);
        uses.iter()
            .find(|hook| hook.act.contains(call.span))
            .map_or(call.act, |hook| hook.act)
    }

    /// Whether the child of this act asks in a hook to die with its parent or its terminal.
    pub(super) fn is_tethered(&self, act: Span) -> bool {
        self.tethered.contains(&act)
    }
}

/// Whether a call ties the caller's life to its parent's or its terminal's.
pub(super) fn is_tether(call: &Call) -> bool {
    let asks = |names: &[&str]| call.args.iter().any(|arg| mentions(&arg.value, names));
    match call.name.as_str() {
        "prctl" => {
            asks(&["PR_SET_PDEATHSIG"])
                || call
                    .args
                    .first()
                    .is_some_and(|arg| arg.value == Value::Int(1))
        }
        "set_pdeathsig" | "set_parent_process_death_signal" => true,
        "ioctl" => asks(&["TIOCSCTTY"]),
        _ => false,
    }
}

/// The bodies of this file that run when `value` is called.
fn bodies_of(facts: &Facts, value: &Value) -> Vec<ScopeId> {
    let mut bodies = value.code();
    if bodies.is_empty() {
        return bodies;
    }
    // Closures written in a body run with it; those in them too.
    let mut next = 0;
    while let Some(scope) = bodies.get(next) {
        bodies.extend(facts.closures_in(*scope).collect::<Vec<_>>());
        next += 1;
    }
    let calls = bodies.iter().flat_map(|scope| facts.calls_in(*scope));
    let called: Vec<ScopeId> = calls.filter_map(|(_, call)| call.target).collect();
    bodies.extend(called);
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}
