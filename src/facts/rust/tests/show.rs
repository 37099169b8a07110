//! A short notation of trees.

use crate::facts::tree::{Arg, Form, Id, Kind, Op, Param, Piece, Spread, Tree};

/// The whole tree, without the braces of its root.
pub(super) fn show(tree: &Tree) -> String {
    let Some(root) = tree.root else {
        return String::new();
    };
    match &tree.node(root).kind {
        Kind::Block(parts) => list(tree, parts, "; "),
        _ => one(tree, root),
    }
}

fn list(tree: &Tree, ids: &[Id], with: &str) -> String {
    ids.iter()
        .map(|id| one(tree, *id))
        .collect::<Vec<_>>()
        .join(with)
}

fn args(tree: &Tree, args: &[Arg]) -> String {
    let arg = |arg: &Arg| {
        let name = arg
            .name
            .as_ref()
            .map(|name| format!("{name}: "))
            .unwrap_or_default();
        let stars = if arg.spread == Spread::No { "" } else { ".." };
        format!("{name}{stars}{}", one(tree, arg.value))
    };
    args.iter().map(arg).collect::<Vec<_>>().join(", ")
}

fn params(tree: &Tree, params: &[Param]) -> String {
    let param = |param: &Param| match param.annotation {
        Some(annotation) => format!("{}: {}", param.name, one(tree, annotation)),
        None => param.name.clone(),
    };
    params.iter().map(param).collect::<Vec<_>>().join(", ")
}

fn maybe(tree: &Tree, before: &str, id: Option<Id>) -> String {
    id.map(|id| format!("{before}{}", one(tree, id)))
        .unwrap_or_default()
}

#[expect(clippy::too_many_lines, reason = "a line or two for each kind")]
fn one(tree: &Tree, id: Id) -> String {
    match &tree.node(id).kind {
        Kind::Other(parts) => format!("<{}>", list(tree, parts, " ")),
        Kind::Block(parts) => format!("{{{}}}", list(tree, parts, "; ")),
        Kind::Tail(id) => format!("={}", one(tree, *id)),
        Kind::Name(name) => name.clone(),
        Kind::Attr {
            base, name, path, ..
        } => format!(
            "{}{}{name}",
            one(tree, *base),
            if *path { "::" } else { "." }
        ),
        Kind::Call {
            callee,
            args: own,
            form,
        } => {
            let (open, close) = if matches!(form, Form::Struct) {
                ('{', '}')
            } else {
                ('(', ')')
            };
            format!("{}{open}{}{close}", one(tree, *callee), args(tree, own))
        }
        Kind::Index { base, index } => format!("{}[{}]", one(tree, *base), maybe(tree, "", *index)),
        Kind::Text(pieces) => {
            let piece = |piece: &Piece| match piece {
                Piece::Text { text, .. } => text.clone(),
                Piece::Hole { value, .. } => format!("{{{}}}", maybe(tree, "", *value)),
            };
            format!("\"{}\"", pieces.iter().map(piece).collect::<String>())
        }
        Kind::Int(value) => value.to_string(),
        Kind::Bool(value) => value.to_string(),
        Kind::Nothing => "()".to_owned(),
        Kind::List(parts) => format!("[{}]", list(tree, parts, ", ")),
        Kind::Spread(id) => format!("*{}", one(tree, *id)),
        Kind::Dict(_) => "dict".to_owned(),
        Kind::Closure { params: own, body } => {
            format!("|{}| {}", params(tree, own), one(tree, *body))
        }
        Kind::Not(id) => format!("!{}", one(tree, *id)),
        Kind::Binary { op, left, right } => {
            let sign = match op {
                Op::Add => "+",
                Op::Or => "|",
                Op::Percent => "%",
                Op::Equal => "==",
                Op::Unequal => "!=",
                Op::Other => "~",
            };
            format!("({} {sign} {})", one(tree, *left), one(tree, *right))
        }
        Kind::Choice(parts) => format!("?({})", list(tree, parts, ", ")),
        Kind::If {
            test,
            then,
            otherwise,
        } => {
            format!(
                "if {} {}{}",
                one(tree, *test),
                one(tree, *then),
                maybe(tree, " else ", *otherwise)
            )
        }
        Kind::Bind {
            targets,
            value,
            annotation,
        } => {
            format!(
                "{}{}{}",
                list(tree, targets, " | "),
                maybe(tree, ": ", *annotation),
                maybe(tree, " = ", *value)
            )
        }
        Kind::Function(own) => {
            let foreign = if own.foreign { "foreign " } else { "" };
            let link = own
                .link_name
                .as_ref()
                .map(|name| format!(" as {name}"))
                .unwrap_or_default();
            format!(
                "{foreign}fn {}({}){link}{}",
                own.name,
                params(tree, &own.params),
                maybe(tree, " ", own.body)
            )
        }
        Kind::Class {
            name, bases, body, ..
        } => format!("class {name}({}) {}", args(tree, bases), one(tree, *body)),
        Kind::Import(imports) => {
            let import = |import: &crate::facts::tree::Import| match &import.name {
                Some(name) => format!("{} as {name}", import.path),
                None => format!("{}.*", import.path),
            };
            format!(
                "use {}",
                imports.iter().map(import).collect::<Vec<_>>().join(", ")
            )
        }
        Kind::Outer { names, .. } => format!("outer {}", names.join(", ")),
        Kind::Return(value) => format!("return{}", maybe(tree, " ", *value)),
        Kind::Leave(value) => format!("leave{}", maybe(tree, " ", *value)),
    }
}
