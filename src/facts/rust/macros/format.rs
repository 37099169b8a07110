//! Format strings: what is put into their holes.

use crate::facts::rust::literal::{Literal, Part};
use crate::facts::rust::reader::Reader;
use crate::facts::tree::{Arg, Id, Kind, Piece};
use crate::source::Span;

/// Whether the first string of the macro `name` is a format string.
pub(in crate::facts::rust) fn formats(name: &str) -> bool {
    matches!(
        name,
        "format"
            | "format_args"
            | "print"
            | "println"
            | "eprint"
            | "eprintln"
            | "write"
            | "writeln"
            | "panic"
            | "unreachable"
            | "todo"
            | "unimplemented"
            | "assert"
            | "assert_eq"
            | "assert_ne"
            | "debug_assert"
            | "anyhow"
            | "bail"
            | "ensure"
            | "eyre"
            | "format_err"
            | "log"
            | "trace"
            | "debug"
            | "info"
            | "warn"
            | "error"
            | "event"
            | "formatdoc"
            | "format_smolstr"
            | "format_compact"
    )
}

impl Reader<'_> {
    /// Reads `args[index]` again as a format string. What its holes take moves into them, so that
    /// each expression stands in the tree once.
    pub(in crate::facts::rust) fn fill(&mut self, args: &mut Vec<Arg>, index: usize) {
        let Some(text) = args.get(index).map(|arg| arg.value) else {
            return;
        };
        let Literal::Text(parts) = self.read_literal(self.span(text), true) else {
            return;
        };
        let mut rest: Vec<Option<Arg>> = args.split_off(index + 1).into_iter().map(Some).collect();
        let mut next = 0;
        let mut pieces = Vec::new();
        for part in parts {
            let Part::Hole(name, span) = part else {
                pieces.push(part.piece());
                continue;
            };
            let value = match name.parse::<usize>() {
                Ok(number) => take(&mut rest, number),
                Err(_) if name.is_empty() => {
                    next += 1;
                    take(&mut rest, next - 1)
                }
                Err(_) => self.captured(&mut rest, &name, span),
            };
            pieces.push(Piece::Hole { value, span });
        }
        if let Some(node) = self.tree.nodes.get_mut(text.0 as usize) {
            node.kind = Kind::Text(pieces);
        }
        args.extend(rest.into_iter().flatten());
        self.children_first(args, index);
    }

    /// The argument called `name`, or the variable of that name.
    fn captured(&mut self, rest: &mut [Option<Arg>], name: &str, span: Span) -> Option<Id> {
        let named = |arg: &Option<Arg>| {
            arg.as_ref()
                .is_some_and(|arg| arg.name.as_deref() == Some(name))
        };
        if let Some(at) = rest.iter().position(named) {
            return take(rest, at);
        }
        let start = span.start as usize + 1;
        let place = Span::new(start, start + name.len());
        Some(self.add(Kind::Name(name.to_owned()), place))
    }

    /// A child comes before its parent: the filled text moves behind what its holes hold.
    fn children_first(&mut self, args: &mut [Arg], index: usize) {
        let Some(arg) = args.get_mut(index) else {
            return;
        };
        let node = self.tree.node(arg.value).clone();
        if matches!(&node.kind, Kind::Text(pieces) if pieces.iter().any(|piece| matches!(piece, Piece::Hole { .. })))
        {
            arg.value = self.add(node.kind, node.span);
        }
    }
}

/// Takes the argument at `index`, once.
fn take(rest: &mut [Option<Arg>], index: usize) -> Option<Id> {
    rest.get_mut(index)
        .and_then(Option::take)
        .map(|arg| arg.value)
}
