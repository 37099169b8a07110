//! Nesting far deeper than any stack: nothing aborts, and the call inside is found.

use std::thread;

use super::*;
use crate::facts::tree::MAX_DEPTH;

fn on_a_large_stack(run: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(256 << 20);
        builder.spawn_scoped(scope, run).unwrap().join().unwrap();
    });
}

fn depth(tree: &Tree) -> usize {
    let mut deepest = 0;
    let mut todo: Vec<(usize, Id)> = tree.root.iter().map(|id| (1, *id)).collect();
    while let Some((depth, id)) = todo.pop() {
        deepest = deepest.max(depth);
        todo.extend(
            tree.node(id)
                .kind
                .children()
                .into_iter()
                .map(|id| (depth + 1, id)),
        );
    }
    deepest
}

fn nested(head: &str, open: &str, middle: &str, close: &str, times: usize) -> String {
    format!(
        "{head}{}{middle}{}\n",
        open.repeat(times),
        close.repeat(times)
    )
}

fn blocks(open: &str, times: usize) -> String {
    let lines = (0..times).map(|depth| format!("{}{open}\n", " ".repeat(depth)));
    let body = format!("{}setsid()\n", " ".repeat(times));
    lines.chain([body]).collect()
}

#[test]
fn expressions_of_any_depth() {
    on_a_large_stack(|| {
        for times in [60, 150, 300, 10_000] {
            for (head, open, middle, close) in [
                ("x = ", "(", "setsid()", ")"),
                ("x = ", "[", "setsid()", "]"),
                ("x = ", "{1: ", "setsid()", "}"),
                ("x = ", "f(", "setsid()", ")"),
                ("x = ", "f(k=", "setsid()", ")"),
                ("x = ", "a[", "setsid()", "]"),
                ("x = ", "[y for y in ", "setsid()", "]"),
                ("x = ", "-", "setsid()", ""),
                ("x = ", "not ", "setsid()", ""),
                ("x = ", "lambda: ", "setsid()", ""),
                ("x = ", "a if b else ", "setsid()", ""),
                ("x = ", "a or ", "setsid()", ""),
                ("x = ", "1 + ", "setsid()", ""),
                ("x = ", "2 ** ", "setsid()", ""),
                ("x = setsid()", "+ 1 ", "", ""),
                ("x = setsid()", ".a", "", ""),
                ("x = setsid()", "()", "", ""),
                ("x = setsid()", "[0]", "", ""),
                ("x = setsid()", ".a(b)", "", ""),
                ("x = setsid()", " < a", "", ""),
                ("x = ", "'a' ", "+ setsid()", ""),
                ("", "x = ", "setsid()", ""),
                ("", "if x: y()\nel", "if setsid(): z()", ""),
                ("if x: y()\n", "elif x: y()\n", "elif setsid(): z()", ""),
                ("try: x()\n", "except A: y()\n", "except setsid(): z()", ""),
                ("", "@f\n", "@setsid()\ndef g(): pass", ""),
            ] {
                let text = nested(head, open, middle, close, times);
                let tree = read(&source(&text));
                assert!(
                    depth(&tree) <= MAX_DEPTH,
                    "{head}{open} {times}: {}",
                    depth(&tree)
                );
                let found = calls(&tree, &text);
                let found = found.iter().any(|call| call.callee == "setsid");
                assert!(found, "{head}{open} {times}");
            }
        }
    });
}

#[test]
fn blocks_of_any_depth() {
    on_a_large_stack(|| {
        for times in [60, 110, 500] {
            for open in [
                "if x:",
                "def f():",
                "class A:",
                "while x:",
                "with a as b:",
                "for x in y:",
            ] {
                let text = blocks(open, times);
                let tree = read(&source(&text));
                assert!(
                    depth(&tree) <= MAX_DEPTH,
                    "{open} {times}: {}",
                    depth(&tree)
                );
                let found = calls(&tree, &text);
                assert!(
                    found.iter().any(|call| call.callee == "setsid"),
                    "{open} {times}"
                );
            }
        }
    });
}

#[test]
fn strings_of_any_depth() {
    on_a_large_stack(|| {
        for (open, close) in [
            ("f'{", "}'"),
            ("f'{x:{", "}}'"),
            ("{", "}"),
            ("f\"{f'{", "}'}\""),
        ] {
            let text = nested("x = ", open, "a()", close, 1000);
            let tree = read(&source(&text));
            assert!(depth(&tree) <= MAX_DEPTH, "{open}: {}", depth(&tree));
        }
    });
}
