//! tree-sitter's syntax tree to the small tree: new syntax, Python 2, broken and huge files.

mod alias;
mod arguments;
mod bitwise;
mod definitions;
mod expressions;
mod imports;
mod loops;
mod params;
mod parts;
mod patterns;
mod recovery;
mod statements;
mod subscripts;

use std::collections::VecDeque;

use tree_sitter::Node;

use super::Code;
use super::build::{Build, DEEPEST, SHALLOW};
use crate::facts::tree::{Fault, Id, Kind, Tree};
use crate::source::Span;

/// Reads it. Never refuses: what it does not understand is the tree's fault.
pub(super) fn read(code: &Code<'_>) -> Tree {
    let text = code.text;
    let plain = plain(&code.parsed);
    let parts = parts::parse(&plain);
    let mut tolerant = Tolerant {
        b: Build::new(text),
        late: VecDeque::new(),
        star: None,
        alias: None,
    };
    for comment in &code.comments {
        tolerant.b.comment(*comment);
    }
    let mut fault = None;
    let mut nodes = Vec::new();
    for part in &parts.trees {
        let own = tolerant.scan(part.root_node());
        fault = fault.or(own);
        nodes.extend(children(part.root_node()).iter().map(|child| child.node));
    }
    let late = parts.unread.map(|at| Fault {
        at: Span::new(at, at),
        why: "not understood within the time that is given to a file".to_owned(),
    });
    let end = Span::new(text.len(), text.len());
    let (root, _) = tolerant.block_of(&nodes, end, true);
    tolerant
        .b
        .finish(root, fault.or(late).or_else(|| null(text)))
}

/// The text as tree-sitter can take it: its grammar knows no lone CR and no NUL, and takes every
/// statement that starts with `type` for an alias.
fn plain(code: &str) -> Vec<u8> {
    let mut bytes = code.as_bytes().to_vec();
    for (at, word) in code.match_indices("type") {
        let rest = code.get(at + word.len()..).unwrap_or_default();
        let next = rest.trim_start_matches([' ', '\t']).chars().next();
        // `type(x).y = z` is none: with another last letter the word is a name like any other.
        if next.is_some_and(|next| matches!(next, '(' | '[' | '.'))
            && let Some(last) = bytes.get_mut(at + word.len() - 1)
        {
            *last = b'_';
        }
    }
    for at in 0..bytes.len() {
        let next = bytes.get(at + 1).copied();
        if let Some(byte) = bytes.get_mut(at) {
            match *byte {
                b'\r' if next != Some(b'\n') => *byte = b'\n',
                0 => *byte = b' ',
                _ => {}
            }
        }
    }
    bytes
}

fn null(text: &str) -> Option<Fault> {
    let at = text.find('\0')?;
    Some(Fault {
        at: Span::new(at, at + 1),
        why: "a NUL byte, which Python refuses".to_owned(),
    })
}

/// A child, and the field in which it stands.
#[derive(Clone, Copy)]
struct Child<'a> {
    field: Option<&'a str>,
    node: Node<'a>,
}

/// What was too deep to stand in its place.
enum Late<'a> {
    Value(Node<'a>),
    Body(Vec<Node<'a>>),
}

struct Tolerant<'a> {
    b: Build<'a>,
    late: VecDeque<Late<'a>>,
    /// A star that stands around more than tree-sitter's node of it, and what follows it.
    star: Option<(u32, u32)>,
    /// The end of a name that belongs to more than tree-sitter's node of it, and of what stands before.
    alias: Option<(u32, u32)>,
}

/// The bytes of `node`.
fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The children of `node` in order, without comments. One cursor: `Node::child` is linear.
fn children(node: Node<'_>) -> Vec<Child<'_>> {
    let mut cursor = node.walk();
    let mut found = Vec::new();
    let mut more = cursor.goto_first_child();
    while more {
        let own = cursor.node();
        if !matches!(own.kind(), "comment" | "line_continuation") {
            found.push(Child {
                field: cursor.field_name(),
                node: own,
            });
        }
        more = cursor.goto_next_sibling();
    }
    found
}

/// The named children of `node`.
fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let all = children(node).into_iter().map(|child| child.node);
    all.filter(Node::is_named).collect()
}

/// The first child in `field`.
fn field<'a>(children: &[Child<'a>], field: &str) -> Option<Node<'a>> {
    children
        .iter()
        .find(|child| child.field == Some(field))
        .map(|child| child.node)
}

/// All children in `field` that are more than punctuation.
fn fields<'a>(children: &[Child<'a>], field: &str) -> Vec<Node<'a>> {
    let own = children
        .iter()
        .filter(|child| child.field == Some(field) && child.node.is_named());
    own.map(|child| child.node).collect()
}

/// The first child that is the keyword or sign `token`.
fn token<'a>(children: &[Child<'a>], token: &str) -> Option<Node<'a>> {
    children
        .iter()
        .find(|child| child.node.kind() == token)
        .map(|child| child.node)
}

impl<'a> Tolerant<'a> {
    /// Notes all comments, and gives the first place that was not understood.
    fn scan(&mut self, root: Node<'a>) -> Option<Fault> {
        let mut fault: Option<Fault> = None;
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            if node.kind() == "comment" {
                // A CRLF's CR is no part of it, nor is what follows a lone one.
                let text = self.b.slice(span(node));
                let length = text.find(['\r', '\n']).unwrap_or(text.len());
                let start = node.start_byte();
                self.b.comment(Span::new(start, start + length));
            }
            if fault.is_none() && (node.is_error() || node.is_missing()) {
                fault = Some(self.fault(node));
            }
            if cursor.goto_first_child() || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    return fault;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
    }

    fn fault(&self, node: Node<'a>) -> Fault {
        let at = span(node);
        let why = if node.is_missing() {
            format!("missing \"{}\"", node.kind())
        } else {
            let line = self.b.slice(at).lines().next().unwrap_or_default().trim();
            let start: String = line.chars().take(40).collect();
            let more = if start.len() < line.len() { "…" } else { "" };
            format!("no Python that is understood here: {start}{more}")
        };
        Fault { at, why }
    }

    /// A body: its block, and where its last statement ends. An empty one stands at `fallback`.
    fn block(&mut self, body: Option<Node<'a>>, fallback: u32, documented: bool) -> (Id, u32) {
        let nodes = body.map(named).unwrap_or_default();
        self.block_of(
            &nodes,
            Span {
                start: fallback,
                end: fallback,
            },
            documented,
        )
    }

    fn block_of(&mut self, nodes: &[Node<'a>], fallback: Span, documented: bool) -> (Id, u32) {
        let start = nodes
            .first()
            .map_or(fallback.start, |node| span(*node).start);
        let mut end = nodes.last().map_or(fallback.end, |node| span(*node).end);
        let mut out = Vec::new();
        if self.b.depth >= DEEPEST {
            self.late.push_back(Late::Body(nodes.to_vec()));
        } else {
            self.b.depth += 1;
            if Self::is_error_run(nodes) {
                self.recover(nodes, &mut out);
            } else {
                for node in nodes {
                    end = self.statement(*node, &mut out);
                }
            }
            while self.b.depth <= SHALLOW {
                let Some(late) = self.late.pop_front() else {
                    break;
                };
                match late {
                    Late::Value(node) => out.push(self.value(node)),
                    Late::Body(nodes) => {
                        for node in nodes {
                            self.statement(node, &mut out);
                        }
                    }
                }
            }
            self.b.depth -= 1;
        }
        let first = nodes
            .first()
            .filter(|node| documented && node.kind() == "expression_statement");
        if first.is_some() {
            self.b.doc(out.first().copied());
        }
        (self.b.add(Kind::Block(out), Span { start, end }), end)
    }
}
