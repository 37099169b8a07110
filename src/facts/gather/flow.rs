//! Which of a name's bindings reach a use of it: one that every way to the use passes hides what stands
//! before it.
//!
//! Only the order of statements is looked at. A binding hides others where it is a statement of a block
//! in which the use stands further down, however deep; what stands between the two may reach the use
//! as well, in branches and loops. A use in another body may run at any time: there nothing is hidden.
//!
//! Readers make a node after its parts and a statement after those before it, so a node's number is its
//! place in the order.

use super::File;
use super::spaces::{Binding, Bound};
use crate::facts::MAX_ITEMS;
use crate::facts::tree::{Id, Kind};
use crate::source::Language;

/// A value of more nodes than this is taken for one that is made of what was before.
const MAX_PARTS: usize = 256;
/// How many nodes may stand between an attribute that is set and its use.
const MAX_BETWEEN: u32 = 4096;

/// A binding that every way to a use passes, and the last node of the statement with the use.
struct Passed {
    at: Id,
    until: Id,
}

impl Passed {
    /// Whether a binding made at `at` is this one, or may come between it and the use.
    fn lets(&self, at: Id) -> bool {
        at == self.at || (self.at < at && at < self.until)
    }
}

impl<'a> File<'a> {
    /// What `name`, which stands at `id` in `space`, may be there.
    pub(super) fn bindings(&self, name: &str, id: Id, space: usize) -> Vec<&'a Binding> {
        let found = self.spaces.find_bound(name, space);
        let is_own = |bound: &Bound| bound.by == space || self.spaces.runs_in(space, bound.by);
        // The last space is the one that gives the name its values, if any does.
        let passed = found.last().and_then(|(_, bounds)| {
            let values = bounds.iter().filter(|bound| !bound.what.adds());
            let own = values
                .clone()
                .filter(|bound| bound.at < id && is_own(bound));
            let made = own.map(|bound| bound.at);
            // One alone hides nothing.
            let several = values.clone().nth(1).is_some();
            several.then(|| self.passed(id, &made)).flatten()
        });
        let last = found.len().saturating_sub(1);
        let all = found.into_iter().enumerate();
        let reach = all.flat_map(|(at, (home, bounds))| {
            let passed = passed.as_ref().filter(|_| at == last);
            let lets = move |bound: &&Bound| {
                // What another function sets, by `global x`, may be set at any time.
                let elsewhere = bound.by != home && !is_own(bound);
                passed.is_none_or(|passed| elsewhere || passed.lets(bound.at))
            };
            bounds.iter().filter(lets).map(|bound| &bound.what)
        });
        // With each use of a name of which this is cut off, time would grow by the square.
        reach.take(MAX_ITEMS).collect()
    }

    /// What the attribute at `id`, `base.name` of an object of this file's class, was set to just before
    /// in the same body, with nothing between that runs elsewhere.
    pub(super) fn set_before(
        &self,
        base: Id,
        name: &str,
        id: Id,
        space: usize,
    ) -> Option<Vec<Binding>> {
        let Kind::Name(object) = &self.node(base).kind else {
            return None;
        };
        let class = self.spaces.class_of_self(object, space)?;
        // The last of those that stand before, and what follows in a loop.
        let sets = self.spaces.set_in(class, name, space).into_iter();
        let (before, behind): (Vec<Id>, Vec<Id>) = sets.partition(|value| *value < id);
        let last = before.len().saturating_sub(MAX_ITEMS);
        let near = before.iter().skip(last).chain(&behind).take(2 * MAX_ITEMS);
        let sets: Vec<(Id, Id)> = near
            .filter_map(|value| Some((*value, self.statement_of(*value)?)))
            .collect();
        let passed = self.passed(id, &sets.iter().map(|(_, at)| *at))?;
        if self.is_exposed(&passed, id) {
            return None;
        }
        let reach = sets.into_iter().filter(|(_, at)| passed.lets(*at));
        Some(
            reach
                .map(|(value, _)| Binding::Node(value, space))
                .collect(),
        )
    }

    /// The assignment whose value, or a part of whose list of values, stands at `id`.
    fn statement_of(&self, id: Id) -> Option<Id> {
        let mut around = self.spaces.around(id)?;
        while let Kind::List(_) = self.node(around).kind {
            around = self.spaces.around(around)?;
        }
        matches!(self.node(around).kind, Kind::Bind { .. }).then_some(around)
    }

    /// Whether anything is called from where an attribute is set to the end of the statement with its use,
    /// but for what the use is an argument of: whatever runs may set it anew.
    fn is_exposed(&self, set: &Passed, id: Id) -> bool {
        if set.until.0.saturating_sub(set.at.0) > MAX_BETWEEN {
            return true;
        }
        let around = std::iter::successors(Some(id), |id| self.spaces.around(*id));
        let own: Vec<Id> = around.take_while(|id| *id <= set.until).collect();
        let mut between = (set.at.0 + 1..set.until.0).map(Id);
        between.any(|id| matches!(self.node(id).kind, Kind::Call { .. }) && !own.contains(&id))
    }

    /// The last of the bindings made at `made`, in order, that every way to `id` passes.
    fn passed(
        &self,
        id: Id,
        made: &(impl DoubleEndedIterator<Item = Id> + Clone),
    ) -> Option<Passed> {
        // What was not understood has no order.
        if self.tree.fault.is_some() {
            return None;
        }
        let mut child = id;
        while let Some(around) = self.spaces.around(child) {
            let at = match &self.node(around).kind {
                Kind::Function(_) | Kind::Class { .. } => return None,
                Kind::Block(_) => self.last_before(child, around, made),
                Kind::Other(parts) => {
                    // The names of a `with` or `for`, of its first block alone.
                    let last = self.last_before(child, around, made);
                    let is_block = |part: &Id| matches!(self.node(*part).kind, Kind::Block(_));
                    let mut between = parts.iter().filter(|part| **part < child);
                    last.filter(|_| !between.any(is_block))
                }
                // `if let`, `while (x := f())`.
                Kind::If { test, then, .. } if *then == child => {
                    Some(*test).filter(|test| made.clone().any(|at| at == *test))
                }
                _ => None,
            };
            if let Some(at) = at {
                return Some(Passed { at, until: child });
            }
            child = around;
        }
        None
    }

    /// The last of the statements `made` directly in `around` that stands before its part `child`.
    fn last_before(
        &self,
        child: Id,
        around: Id,
        made: &(impl DoubleEndedIterator<Item = Id> + Clone),
    ) -> Option<Id> {
        let here = |at: &Id| *at < child && self.spaces.around(*at) == Some(around);
        let mut here = made.clone().rev().filter(here).take(MAX_ITEMS);
        here.find(|at| {
            let known = self.sure.borrow().get(at).copied();
            known.unwrap_or_else(|| {
                let sure = self.is_sure(*at);
                self.sure.borrow_mut().insert(*at, sure);
                sure
            })
        })
    }

    /// Whether a statement always binds when its block comes to it.
    fn is_sure(&self, id: Id) -> bool {
        let node = self.node(id);
        match (&node.kind, self.source.language) {
            // `x: int` says nothing of a value.
            (
                Kind::Bind {
                    value: None,
                    annotation: Some(_),
                    ..
                },
                Language::Python,
            ) => false,
            // `x &= ~y`, `x = x[1:]`: it is taken for what it was before, too.
            (
                Kind::Bind {
                    targets,
                    value: Some(value),
                    ..
                },
                _,
            ) if self.goes_on(targets, *value) => false,
            (
                Kind::Bind { .. } | Kind::Import(_) | Kind::Function(_) | Kind::Class { .. },
                Language::Python,
            ) => true,
            // Items have no order. A `let` with an attribute is there on some platforms; one behind a word
            // or an arrow, in a macro's tokens, is part of a branch.
            (Kind::Bind { .. }, Language::Rust) => {
                let own = self.source.slice(node.span);
                let before = self.code_before(node.span.start);
                let statement = before.ends_with([';', '{', '}', ',']) || before.is_empty();
                !own.starts_with('#') && (statement || before.ends_with("for"))
            }
            _ => false,
        }
    }

    /// Whether a value is made of what one of the targets was: not all that makes one of another is folded.
    fn goes_on(&self, targets: &[Id], value: Id) -> bool {
        let name = |id: &Id| match &self.node(*id).kind {
            Kind::Name(name) | Kind::Attr { name, .. } => Some(name.as_str()),
            _ => None,
        };
        let targets: Vec<&str> = targets.iter().filter_map(name).collect();
        let mut open = vec![value];
        let mut seen = 0;
        while let Some(id) = open.pop() {
            seen += 1;
            if seen > MAX_PARTS || name(&id).is_some_and(|name| targets.contains(&name)) {
                return true;
            }
            open.extend(self.node(id).kind.children());
        }
        false
    }

    /// The text before a byte, without blanks and comments at its end.
    fn code_before(&self, at: u32) -> &'a str {
        let comments = &self.tree.comments;
        let mut end = at;
        loop {
            let before = self.source.text.get(..end as usize).unwrap_or_default();
            let before = before.trim_end();
            let last = comments.partition_point(|own| (own.span.end as usize) <= before.len());
            let last = last.checked_sub(1).and_then(|last| comments.get(last));
            match last.filter(|own| own.span.end as usize == before.len()) {
                Some(comment) => end = comment.span.start,
                None => return before,
            }
        }
    }
}
