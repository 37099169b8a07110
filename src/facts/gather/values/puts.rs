//! What a name stands for is added to step by step: `text += "…"`, `text.push_str("…")`,
//! `argv.append("…")`, `options["…"] = …`.

use std::rc::Rc;

use crate::facts::gather::File;
use crate::facts::gather::fold::add;
use crate::facts::gather::spaces::{Binding, Pushed};
use crate::facts::tree::{Kind, Op};
use crate::facts::{Item, MAX_ITEMS, Text, Value};

/// What is put into a value by more calls than this is not followed.
const MAX_PUSHED: usize = 32;

impl File<'_> {
    /// Finds the sums among a name's bindings, the last first. Each is of the name's other values, but for
    /// those that are being found: so it is of what stands before it, and never of what comes later.
    pub(super) fn last_sum_first(&self, bindings: &[&Binding]) {
        let sum = |binding: &&Binding| match binding {
            Binding::Node(id, space) => {
                let sum = matches!(self.node(*id).kind, Kind::Binary { op: Op::Add, .. });
                sum.then_some((*id, *space))
            }
            _ => None,
        };
        if bindings.len() > 2 {
            for (id, space) in bindings.iter().rev().filter_map(sum) {
                self.value(id, space);
            }
        }
    }

    /// Puts into a value what is put into it elsewhere, as if all of it always were.
    pub(super) fn put_in(&self, value: &mut Value, entries: &[(String, Value)], pushed: &[Pushed]) {
        match value {
            Value::Dict(own) if !entries.is_empty() => {
                Rc::make_mut(own).extend(entries.iter().cloned());
            }
            Value::List(items) if !pushed.is_empty() => {
                self.push_all(Rc::make_mut(items), pushed);
            }
            Value::Text(text) => self.push_texts(text, pushed),
            Value::OneOf(values) => {
                for value in values {
                    self.put_in(value, entries, pushed);
                }
            }
            _ => {}
        }
    }

    fn push_all(&self, items: &mut Vec<Item>, pushed: &[Pushed]) {
        for own in pushed.iter().take(MAX_PUSHED) {
            let span = self.node(own.value).span;
            let value = self.value(own.value, own.space);
            let spread = own.many;
            let new = match value {
                Value::List(more) if own.many => Rc::unwrap_or_clone(more),
                value => vec![Item {
                    value,
                    span,
                    spread,
                }],
            };
            let at = if own.at_start { 0 } else { items.len() };
            items.splice(at..at, new);
        }
        items.truncate(MAX_ITEMS);
    }

    fn push_texts(&self, text: &mut Text, pushed: &[Pushed]) {
        for own in pushed.iter().take(MAX_PUSHED) {
            let whole = Value::Text(std::mem::take(text));
            let more = self.value(own.value, own.space);
            match add(whole, more).each() {
                [Value::Text(sum), ..] => *text = sum.clone(),
                _ => return,
            }
        }
    }
}
