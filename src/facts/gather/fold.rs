//! Constants folded: operators, and the library calls that only pass a value on.

mod calls;

use std::rc::Rc;

use super::values::{limited, one_of};
use crate::facts::{HOLE, Item, MAX_ITEMS, Text, Value};
pub(super) use calls::known_call;

/// Of texts with alternatives, this many sums are told apart, each of parts of up to so many bytes.
const MAX_SUMS: usize = 4;
const MAX_SUMMED: usize = 4096;

/// `left + right`, for each of the alternatives on the left: `cmd += ["x"]` where `cmd` is one of
/// several lists. Texts are joined with their alternatives on both sides.
pub(super) fn add(left: Value, right: Value) -> Value {
    if let Value::OneOf(lefts) = &left
        && lefts.iter().any(|left| matches!(left, Value::List(_)))
    {
        let sums = lefts.iter().map(|left| add(left.clone(), right.clone()));
        return one_of(sums.collect());
    }
    if matches!(left, Value::OneOf(_)) || matches!(right, Value::OneOf(_)) {
        let pairs =
            short_texts(&left).flat_map(|left| short_texts(&right).map(move |right| (left, right)));
        let sums: Vec<Value> = pairs
            .take(MAX_SUMS)
            .map(|(left, right)| Value::Text(joined(left.clone(), right)))
            .collect();
        if !sums.is_empty() {
            return one_of(sums);
        }
    }
    match sum(left, right) {
        Value::List(mut items) if items.len() > MAX_ITEMS => {
            Rc::make_mut(&mut items).truncate(MAX_ITEMS);
            Value::List(items)
        }
        value => value,
    }
}

/// The texts among the alternatives that are short enough to be joined with others.
fn short_texts(value: &Value) -> impl Iterator<Item = &Text> {
    value.each().iter().filter_map(|value| match value {
        Value::Text(text) if text.text.len() <= MAX_SUMMED => Some(text),
        _ => None,
    })
}

fn sum(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            left.checked_add(right).map_or(Value::Unknown, Value::Int)
        }
        (Value::List(mut left), Value::List(right)) => {
            Rc::make_mut(&mut left).extend(right.iter().cloned());
            Value::List(left)
        }
        (Value::List(mut left), value) => {
            Rc::make_mut(&mut left).push(Item {
                value,
                span: crate::source::Span::default(),
                spread: true,
            });
            Value::List(left)
        }
        (value, Value::List(right)) => {
            let first = Item {
                value,
                span: crate::source::Span::default(),
                spread: true,
            };
            let rest = right.iter().cloned();
            Value::list(std::iter::once(first).chain(rest).collect())
        }
        (Value::Text(left), Value::Text(right)) => limited(joined(left, &right)),
        (Value::Text(left), _) => limited(joined(left, &hole())),
        (_, Value::Text(right)) => limited(joined(hole(), &right)),
        _ => Value::Unknown,
    }
}

fn hole() -> Text {
    Text {
        text: HOLE.to_string(),
        parts: Vec::new(),
    }
}

/// `left` and then `right`.
pub(super) fn joined(mut left: Text, right: &Text) -> Text {
    let shift = left.text.len();
    left.text.push_str(&right.text);
    left.parts
        .extend(right.parts.iter().map(|(at, span)| (at + shift, *span)));
    left
}

/// `left | right`: dictionaries are merged, flags are kept as bits.
pub(super) fn or(left: Value, right: Value) -> Value {
    match either(left, right) {
        Value::Dict(mut entries) if entries.len() > MAX_ITEMS => {
            Rc::make_mut(&mut entries).truncate(MAX_ITEMS);
            Value::Dict(entries)
        }
        Value::Bits(mut bits) => {
            bits.truncate(MAX_ITEMS);
            Value::Bits(bits)
        }
        value => value,
    }
}

fn either(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Int(left | right),
        (Value::Dict(mut left), Value::Dict(right)) => {
            Rc::make_mut(&mut left).extend(right.iter().cloned());
            Value::Dict(left)
        }
        (Value::Bits(mut left), Value::Bits(right)) => {
            left.extend(right);
            Value::Bits(left)
        }
        (Value::Bits(mut bits), other) | (other, Value::Bits(mut bits)) => {
            bits.push(other);
            Value::Bits(bits)
        }
        (left, right) => Value::Bits(vec![left, right]),
    }
}

/// `template % values`: each conversion gets its constant, or becomes a hole.
pub(super) fn percent(template: Value, values: &Value) -> Value {
    let Value::Text(template) = template else {
        return Value::Unknown;
    };
    let given: Vec<&Value> = match values {
        Value::List(items) => items.iter().map(|item| &item.value).collect(),
        value => vec![value],
    };
    let mut given = given.into_iter();
    let fill = |spec: &str| match spec {
        "%%" => Fill::Same("%"),
        _ => given.next().map_or(Fill::Hole, constant_fill),
    };
    limited(filled(&template, percent_specs(&template.text), fill))
}

/// What takes the place of a conversion.
enum Fill<'a> {
    Same(&'a str),
    Hole,
}

fn constant_fill(value: &Value) -> Fill<'_> {
    match value {
        Value::Text(text) => Fill::Same(&text.text),
        _ => Fill::Hole,
    }
}

/// Byte ranges of `%s`, `%(name)d`, `%%`.
fn percent_specs(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'%' {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        if bytes.get(end) == Some(&b'(') {
            end += text[end..].find(')').map_or(0, |close| close + 1);
        }
        while bytes
            .get(end)
            .is_some_and(|byte| b"#0- +.123456789*".contains(byte))
        {
            end += 1;
        }
        if bytes
            .get(end)
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'%')
        {
            end += 1;
            found.push((at, end));
        }
        at = end.max(at + 1);
    }
    found
}

/// Byte ranges of `{}`, `{0}`, `{name!r:>4}`; `{{` and `}}` are left as they are.
fn brace_specs(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        if text[open + 1..].starts_with('{') {
            at = open + 2;
            continue;
        }
        let Some(close) = text[open..].find('}').map(|close| open + close + 1) else {
            break;
        };
        found.push((open, close));
        at = close;
    }
    found
}

/// `template` with the ranges in `specs` replaced by what `fill` gives for each.
fn filled<'v>(
    template: &Text,
    specs: Vec<(usize, usize)>,
    mut fill: impl FnMut(&str) -> Fill<'v>,
) -> Text {
    let mut result = Text::default();
    let mut copied = 0;
    for (start, end) in specs {
        result = joined(result, &part(template, copied, start));
        result
            .parts
            .push((result.text.len(), template.span(start, end)));
        match fill(&template.text[start..end]) {
            Fill::Same(text) => result.text.push_str(text),
            Fill::Hole => result.text.push(HOLE),
        }
        copied = end;
    }
    joined(result, &part(template, copied, template.text.len()))
}

/// The bytes `start..end` of a text, as a text of its own; the ends are on character boundaries.
pub(super) fn part(text: &Text, start: usize, end: usize) -> Text {
    let mut found = Text {
        text: text.text[start..end].to_owned(),
        parts: Vec::new(),
    };
    for (index, (from, span)) in text.parts.iter().enumerate() {
        let until = text
            .parts
            .get(index + 1)
            .map_or(text.text.len(), |(next, _)| *next);
        let (low, high) = ((*from).max(start), until.min(end));
        if low < high {
            let exact = span.len() == until - from;
            let place = if exact { text.span(low, high) } else { *span };
            found.parts.push((low - start, place));
        }
    }
    found
}

/// Whether `left == right`, where one is the platform's name and the other a constant: as on Linux.
pub(super) fn same_platform(left: &Value, right: &Value) -> Value {
    let platform = |value: &Value| match value {
        Value::Path(paths) => match paths.first().map(String::as_str) {
            Some("os.name") => Some("posix"),
            Some("sys.platform") => Some("linux"),
            _ => None,
        },
        Value::Made(path) if path == "platform.system()" => Some("Linux"),
        _ => None,
    };
    match (platform(left), right, left, platform(right)) {
        (Some(name), Value::Text(text), ..) | (.., Value::Text(text), Some(name)) => {
            Value::Bool(text.text.trim_end_matches('2') == name)
        }
        _ => Value::Unknown,
    }
}
