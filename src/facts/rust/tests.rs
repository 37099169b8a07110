//! The reader, seen through a short notation of its tree.

mod faults;
mod macros;
mod show;
mod strict;

use super::read;
use crate::facts::tree::{MAX_DEPTH, Tree};
use crate::source::{Language, Source};
use show::show;

/// Reads `text` and checks what holds of every tree.
fn tree(text: &str) -> Tree {
    let tree = read(&Source::new("x.rs", Language::Rust, text.to_owned()));
    let mut seen = vec![false; tree.nodes.len()];
    let mut level: Vec<_> = tree.root.into_iter().collect();
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        let mut next = Vec::new();
        for id in level {
            let node = tree.node(id);
            assert!(
                !std::mem::replace(&mut seen[id.0 as usize], true),
                "{:?} stands twice in {text}",
                node.kind
            );
            assert!(
                node.span.start <= node.span.end && node.span.end as usize <= text.len(),
                "{node:?} in {text}"
            );
            for child in node.kind.children() {
                assert!(child < id, "a parent before its child: {node:?} in {text}");
                next.push(child);
            }
        }
        level = next;
    }
    assert!(depth <= MAX_DEPTH, "{depth} levels");
    for statement in &tree.statements {
        assert!(
            statement.span.contains(statement.header),
            "{statement:?} in {text}"
        );
    }
    tree
}

/// The notation of what `text` says; it must have no fault.
fn good(text: &str) -> String {
    let tree = tree(text);
    assert_eq!(tree.fault, None, "{text}");
    show(&tree)
}

/// The notation of what `text` says; it must have a fault.
fn bad(text: &str) -> String {
    let tree = tree(text);
    assert!(tree.fault.is_some(), "{text}");
    show(&tree)
}

/// The notation of the body of a function with the statements `text`.
fn body(text: &str) -> String {
    let shown = good(&format!("fn f() {{ {text} }}"));
    shown
        .strip_prefix("fn f() {")
        .and_then(|shown| shown.strip_suffix('}'))
        .unwrap_or(&shown)
        .to_owned()
}

/// Runs `test` with the stack that readers have.
fn on_a_big_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}
