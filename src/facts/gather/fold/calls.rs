//! Functions and methods that pass a value on, or build one.

use super::{Fill, brace_specs, constant_fill, filled, hole, joined, part};
use crate::facts::gather::File;
use crate::facts::gather::argv::ends_with_path;
use crate::facts::gather::values::{limited, one_of};
use crate::facts::tree::{Id, Kind};
use crate::facts::{Arg, HOLE, Item, Text, Value};

/// The value of a call of a function that is known to pass on or to build a value.
pub(in crate::facts::gather) fn known_call(
    file: &File<'_>,
    callee: Id,
    called: &Value,
    args: &[Arg],
    space: usize,
) -> Option<Value> {
    let first = args
        .iter()
        .find(|arg| arg.name.is_none())
        .map(|arg| &arg.value);
    if let Value::Path(paths) = called {
        for path in paths {
            if let Some(value) = known_function(file, path, first, args) {
                return Some(value);
            }
        }
    }
    match &file.node(callee).kind {
        // `Pid::from_raw(0)` is as good as 0.
        Kind::Attr {
            name, path: true, ..
        } if name == "from_raw" => first.cloned(),
        Kind::Attr {
            base,
            name,
            path: false,
            ..
        } => known_method(&file.value(*base, space), name, first, args),
        _ => None,
    }
}

/// Rust's boxes: what they hold is what matters.
const BOXES: &[&str] = &[
    "Arc.new",
    "Rc.new",
    "Box.new",
    "Mutex.new",
    "RwLock.new",
    "RefCell.new",
    "Cell.new",
    "Pin.new",
    "OnceCell.from",
];

fn known_function(
    file: &File<'_>,
    path: &str,
    first: Option<&Value>,
    args: &[Arg],
) -> Option<Value> {
    if BOXES.iter().any(|name| ends_with_path(path, name)) {
        return first.cloned();
    }
    match path {
        "getattr" => getattr(file, first?, args),
        "__import__"
        | "importlib.import_module"
        | "pytest.importorskip"
        | "_pytest.outcomes.importorskip" => match first? {
            Value::Text(name) => Some(Value::Path(vec![name.text.clone()])),
            _ => None,
        },
        "functools.partial" | "functools.partialmethod" => {
            let rest = args.iter().skip(1).cloned().collect();
            Some(Value::Partial(Box::new(first?.clone()), rest))
        }
        "dict" => Some(dict(first, args)),
        "list" | "tuple" | "iter" => Some(list(args)),
        "sorted" => sorted(args),
        "reversed" => reversed(first?),
        "next" => next(first?, args.get(1)),
        "Vec.new" | "Vec.with_capacity" => Some(Value::list(Vec::new())),
        "shlex.split" => Some(split(first?)),
        "os.path.join" | "posixpath.join" => Some(path_join(args)),
        "format!"
        | "std.format!"
        | "format_args!"
        | "str"
        | "Some"
        | "Ok"
        | "bytes"
        | "copy.copy"
        | "copy.deepcopy"
        | "textwrap.dedent"
        | "inspect.cleandoc"
        | "shutil.which"
        | "distutils.spawn.find_executable"
        | "which"
        | "which.which"
        | "os.fspath"
        | "os.fsencode"
        | "pathlib.Path"
        | "pathlib.PurePath"
        | "shlex.join"
        | "subprocess.list2cmdline"
        | "bool"
        | "int"
        | "typing.cast"
        | "String.from"
        | "OsString.from"
        | "OsStr.new"
        | "Path.new"
        | "PathBuf.from"
        | "Cow.from"
        | "std.ffi.OsString.from"
        | "std.ffi.OsStr.new"
        | "std.path.Path.new"
        | "std.path.PathBuf.from"
        | "std.borrow.Cow.from" => {
            let value = if path == "typing.cast" {
                &args.get(1)?.value
            } else {
                first?
            };
            let keeps_list = !matches!(path, "shlex.join" | "subprocess.list2cmdline");
            if keeps_list {
                Some(value.clone())
            } else {
                Some(join(value, " "))
            }
        }
        _ => None,
    }
}

/// `getattr(object, "name", default)`.
fn getattr(file: &File<'_>, object: &Value, args: &[Arg]) -> Option<Value> {
    let Value::Text(name) = &args.get(1)?.value else {
        return None;
    };
    let found = file.attribute_of(object, &name.text);
    let default = args.get(2).map(|arg| arg.value.clone());
    Some(one_of(
        [Some(found), default].into_iter().flatten().collect(),
    ))
}

/// `list(x)`: what is not known has any number of elements.
fn list(args: &[Arg]) -> Value {
    let item = |arg: &Arg| Item {
        value: arg.value.clone(),
        span: arg.span,
        spread: true,
    };
    match args {
        [arg] if arg.value != Value::Unknown => arg.value.clone(),
        _ => Value::list(args.iter().map(item).collect()),
    }
}

/// `reversed(x)`.
fn reversed(over: &Value) -> Option<Value> {
    let Value::List(items) = over else {
        return None;
    };
    Some(Value::list(items.iter().rev().cloned().collect()))
}

/// `sorted(x)`. An argv has another program first then: of texts the order must be known, which it is not where a
/// key makes it.
fn sorted(args: &[Arg]) -> Option<Value> {
    let Value::List(items) = &args.first()?.value else {
        return None;
    };
    let text = |item: &Item| match &item.value {
        Value::Text(text) if !item.spread => Some(text.text.clone()),
        _ => None,
    };
    let mut items = items.to_vec();
    if items.iter().any(|item| text(item).is_some()) {
        if args.len() > 1 || !items.iter().all(|item| text(item).is_some()) {
            return None;
        }
        items.sort_by_key(text);
    }
    Some(Value::list(items))
}

/// `next(x)`, `next(x, default)`: any element, for what was taken before is not known.
fn next(over: &Value, default: Option<&Arg>) -> Option<Value> {
    let Value::List(items) = over else {
        return None;
    };
    let item = |item: &Item| {
        if item.spread {
            Value::Unknown
        } else {
            item.value.clone()
        }
    };
    let values = items.iter().map(item);
    let default = default.map(|own| own.value.clone());
    Some(one_of(values.chain(default).collect()))
}

fn dict(first: Option<&Value>, args: &[Arg]) -> Value {
    let mut entries = match first {
        Some(Value::Dict(entries)) => entries.to_vec(),
        _ => Vec::new(),
    };
    for arg in args {
        match (&arg.name, &arg.value) {
            (Some(name), value) => entries.push((name.clone(), value.clone())),
            (None, Value::Dict(more)) => entries.extend(more.iter().cloned()),
            _ => {}
        }
    }
    Value::dict(entries)
}

fn known_method(object: &Value, name: &str, first: Option<&Value>, args: &[Arg]) -> Option<Value> {
    match (object, name) {
        (Value::Text(text), "format") => {
            let mut given = args.iter().map(|arg| &arg.value);
            let fill = |_: &str| given.next().map_or(Fill::Hole, constant_fill);
            Some(limited(filled(text, brace_specs(&text.text), fill)))
        }
        (Value::Text(_), "split") if first.is_none() => Some(split(object)),
        (Value::Text(separator), "join") => Some(join(first?, &separator.text)),
        (Value::List(_), "join") => match first? {
            Value::Text(separator) => Some(join(object, &separator.text)),
            _ => None,
        },
        (
            Value::Text(_) | Value::List(_) | Value::Dict(_) | Value::Bool(_) | Value::Int(_),
            "strip" | "rstrip" | "lstrip" | "encode" | "decode" | "copy" | "clone" | "cloned"
            | "to_string" | "to_owned" | "into" | "as_str" | "as_ref" | "as_bytes" | "as_ptr"
            | "as_slice" | "to_vec" | "to_str" | "into_owned" | "iter" | "into_iter" | "trim"
            | "as_deref" | "unwrap" | "expect" | "absolute" | "resolve" | "as_posix" | "expanduser"
            | "lower",
        )
        | (Value::Path(_) | Value::Code(_), "clone" | "unwrap" | "expect") => Some(object.clone()),
        (Value::Dict(entries), "get" | "pop") => match first? {
            Value::Text(key) => {
                let found = entries.iter().filter(|(name, _)| *name == key.text);
                Some(one_of(found.map(|(_, value)| value.clone()).collect()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Text split at white space, each word with its place.
fn split(value: &Value) -> Value {
    let Value::Text(text) = value else {
        return Value::Unknown;
    };
    let mut items = Vec::new();
    let mut from = None;
    let ends = text.text.char_indices().chain([(text.text.len(), ' ')]);
    for (at, char) in ends {
        match (char.is_whitespace(), from) {
            (true, Some(start)) => {
                let value = Value::Text(part(text, start, at));
                items.push(Item {
                    value,
                    span: text.span(start, at),
                    spread: false,
                });
                from = None;
            }
            (false, None) => from = Some(at),
            _ => {}
        }
    }
    Value::list(items)
}

/// A list's texts joined.
fn join(list: &Value, separator: &str) -> Value {
    let Value::List(items) = list else {
        return Value::Text(hole());
    };
    let mut result = Text::default();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            result.text.push_str(separator);
        }
        match &item.value {
            Value::Text(text) => result = joined(result, text),
            _ => result.text.push(HOLE),
        }
    }
    limited(result)
}

fn path_join(args: &[Arg]) -> Value {
    let items = args.iter().map(|arg| Item {
        value: arg.value.clone(),
        span: arg.span,
        spread: false,
    });
    join(&Value::list(items.collect()), "/")
}
