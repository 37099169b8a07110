//! A tree as text, to compare two of them.

use std::fmt::Write;

use crate::facts::tree::{Arg, Id, Kind, Param, Piece, Tree};
use crate::source::Span;

/// A call, as far as it can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Called {
    /// Where it is.
    pub(super) span: Span,
    /// Its callee as written.
    pub(super) callee: String,
    /// The names of its arguments.
    pub(super) names: Vec<String>,
}

/// All calls that can be reached, in source order.
pub(super) fn calls(tree: &Tree, text: &str) -> Vec<Called> {
    let mut found = Vec::new();
    let mut todo: Vec<Id> = tree.root.into_iter().collect();
    while let Some(id) = todo.pop() {
        let node = tree.node(id);
        if let Kind::Call { callee, args, .. } = &node.kind {
            let own = tree.node(*callee).span;
            let callee = text[own.start as usize..own.end as usize].to_owned();
            let names = args
                .iter()
                .map(|arg| arg.name.clone().unwrap_or_default())
                .collect();
            found.push(Called {
                span: node.span,
                callee,
                names,
            });
        }
        todo.extend(node.kind.children());
    }
    found.sort();
    found
}

/// The whole tree, a line for each node, with its statements, comments and docs.
pub(super) fn dump(tree: &Tree, text: &str) -> String {
    let mut out = String::new();
    let mut todo: Vec<(usize, Id)> = tree.root.iter().map(|id| (0, *id)).collect();
    while let Some((depth, id)) = todo.pop() {
        let node = tree.node(id);
        let Span { start, end } = node.span;
        let raw: String = text
            .get(start as usize..end as usize)
            .unwrap_or("?")
            .chars()
            .take(30)
            .collect();
        let label = label(&node.kind);
        writeln!(
            out,
            "{:indent$}{label} {start}..{end} {raw:?}",
            "",
            indent = depth * 2
        )
        .unwrap();
        todo.extend(
            node.kind
                .children()
                .into_iter()
                .rev()
                .map(|id| (depth + 1, id)),
        );
    }
    for own in &tree.statements {
        writeln!(out, "statement {:?} {:?}", own.span, own.header).unwrap();
    }
    for own in &tree.comments {
        writeln!(out, "comment {own:?}").unwrap();
    }
    for own in &tree.docs {
        writeln!(out, "doc {own:?}").unwrap();
    }
    out
}

/// What a node says besides its children.
fn label(kind: &Kind) -> String {
    let args = |args: &[Arg]| {
        let all = args
            .iter()
            .map(|arg| format!("{:?} {:?} {:?}", arg.name, arg.spread, arg.span));
        all.collect::<Vec<_>>().join(", ")
    };
    let params = |params: &[Param]| {
        let all = params.iter().map(|own| {
            let (hint, default) = (own.annotation.is_some(), own.default.is_some());
            format!(
                "{} {hint} {default} {:?} {:?}",
                own.name, own.span, own.spread
            )
        });
        all.collect::<Vec<_>>().join(", ")
    };
    match kind {
        Kind::Other(_) => "Other".to_owned(),
        Kind::Block(_) => "Block".to_owned(),
        Kind::Tail(_) => "Tail".to_owned(),
        Kind::Name(name) => format!("Name {name}"),
        Kind::Attr {
            name,
            name_span,
            path,
            ..
        } => format!("Attr {name} {name_span:?} {path}"),
        Kind::Call {
            args: own, form, ..
        } => format!("Call {form:?} ({})", args(own)),
        Kind::Index { index, .. } => format!("Index {}", index.is_some()),
        Kind::Text(pieces) => {
            let all = pieces.iter().map(|piece| match piece {
                Piece::Text { text, span } => format!("{text:?} {span:?}"),
                Piece::Hole { value, span } => format!("<{}> {span:?}", value.is_some()),
            });
            format!("Text {}", all.collect::<Vec<_>>().join(", "))
        }
        Kind::Int(value) => format!("Int {value}"),
        Kind::Bool(value) => format!("Bool {value}"),
        Kind::Nothing => "Nothing".to_owned(),
        Kind::List(_) => "List".to_owned(),
        Kind::Spread(_) => "Spread".to_owned(),
        Kind::Dict(pairs) => {
            format!(
                "Dict {:?}",
                pairs
                    .iter()
                    .map(|(key, _)| key.is_some())
                    .collect::<Vec<_>>()
            )
        }
        Kind::Closure { params: own, .. } => format!("Closure {}", params(own)),
        Kind::Not(_) => "Not".to_owned(),
        Kind::Binary { op, .. } => format!("Binary {op:?}"),
        Kind::Choice(_) => "Choice".to_owned(),
        Kind::If { otherwise, .. } => format!("If {}", otherwise.is_some()),
        Kind::Bind {
            targets,
            value,
            annotation,
        } => {
            format!(
                "Bind {} {} {}",
                targets.len(),
                value.is_some(),
                annotation.is_some()
            )
        }
        Kind::Function(own) => {
            let decorators = own.decorators.len();
            format!(
                "Function {} {:?} {decorators} {}",
                own.name,
                own.name_span,
                params(&own.params)
            )
        }
        Kind::Class {
            name,
            bases,
            decorators,
            ..
        } => {
            format!("Class {name} {} {}", args(bases), decorators.len())
        }
        Kind::Import(imports) => format!("Import {imports:?}"),
        Kind::Outer { names, of_file } => format!("Outer {names:?} {of_file}"),
        Kind::Return(value) => format!("Return {}", value.is_some()),
        Kind::Leave(value) => format!("Leave {}", value.is_some()),
    }
}

/// The lines around the first difference.
pub(super) fn difference(one: &str, two: &str) -> String {
    let (one, two): (Vec<&str>, Vec<&str>) = (one.lines().collect(), two.lines().collect());
    let same = one
        .iter()
        .zip(&two)
        .take_while(|(one, two)| one == two)
        .count();
    let around = |lines: &[&str]| {
        let start = same.saturating_sub(1).min(lines.len());
        lines[start..(same + 3).min(lines.len())].join("\n")
    };
    format!(
        "--- strict\n{}\n--- tolerant\n{}",
        around(&one),
        around(&two)
    )
}
