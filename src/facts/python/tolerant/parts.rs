//! A file in parts: where a bracket or string is not closed, the next definition starts afresh.
//!
//! tree-sitter reads what follows an open bracket as the inside of that bracket, to the end of the
//! file. People and Python's own tools take a `def` at the start of a line for a definition.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// Its recovery from garbage can take minutes; text takes milliseconds, on a busy machine a second.
/// Steps cannot be counted instead: in garbage, one takes as long as a file.
/// Tests of what is read must not depend on how busy the machine is.
const BUDGET: Duration = Duration::from_secs(if cfg!(test) { 600 } else { 10 });
/// Each part is parsed to the end of the file first, so their number is bounded.
const MAX_PARTS: usize = 16;

/// What was parsed, in order.
pub(super) struct Parts {
    pub(super) trees: Vec<Tree>,
    /// The byte from which on there was no time left.
    pub(super) unread: Option<usize>,
}

/// Parses `code`. Every tree's places are those in `code`.
pub(super) fn parse(code: &[u8]) -> Parts {
    let start = Instant::now();
    let mut trees = Vec::new();
    let mut from = 0;
    loop {
        let Some(tree) = parse_part(code, from, code.len(), start) else {
            break;
        };
        let restart = restart(code, from, tree.root_node());
        let Some(until) = restart.filter(|_| trees.len() + 1 < MAX_PARTS) else {
            trees.push(tree);
            return Parts {
                trees,
                unread: None,
            };
        };
        let Some(part) = parse_part(code, from, until, start) else {
            break;
        };
        trees.push(part);
        from = until;
    }
    Parts {
        trees,
        unread: Some(from),
    }
}

/// Parses the bytes `from..until`, in their place.
fn parse_part(code: &[u8], from: usize, until: usize, start: Instant) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_python::LANGUAGE.into())
        .ok()?;
    let mut in_time = |_: &ParseState| {
        if start.elapsed() > BUDGET {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut rest = |at: usize, _| {
        if at < from {
            &BLANK[..BLANK.len().min(from - at)]
        } else {
            code.get(at..until).unwrap_or_default()
        }
    };
    parser.parse_with_options(&mut rest, None, Some(options))
}

/// Stands for what belongs to the parts before.
const BLANK: &[u8] = &[b'\n'; 4096];

/// The first definition after a fault that the fault swallowed.
fn restart(code: &[u8], from: usize, root: Node<'_>) -> Option<usize> {
    let mut cursor = root.walk();
    let broken = if root.is_error() {
        root
    } else {
        root.children(&mut cursor).find(Node::has_error)?
    };
    let mut at = first_error(broken).start_byte().max(from);
    while at < broken.end_byte() {
        at += code.get(at..)?.iter().position(|byte| *byte == b'\n')? + 1;
        let line = code.get(at..)?;
        if at < broken.end_byte() && defines(line) && !in_string(root, at) {
            return Some(at);
        }
    }
    None
}

fn first_error(broken: Node<'_>) -> Node<'_> {
    let mut node = broken;
    while !node.is_error() && !node.is_missing() {
        let mut cursor = node.walk();
        let inner = node.children(&mut cursor).find(Node::has_error);
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Whether a line starts a definition that stands alone.
fn defines(line: &[u8]) -> bool {
    let words: [&[u8]; 6] = [
        b"def ",
        b"async def ",
        b"class ",
        b"@",
        b"import ",
        b"if __name__",
    ];
    words.iter().any(|word| line.starts_with(word))
}

fn in_string(root: Node<'_>, at: usize) -> bool {
    let node = root.descendant_for_byte_range(at, at + 1);
    node.is_some_and(|node| node.kind().starts_with("string"))
}
