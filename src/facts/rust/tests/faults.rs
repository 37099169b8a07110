//! What syn refuses, and what nobody may give it.

use super::{bad, good, on_a_big_stack, show, tree};

const CALL: &str = "fn g() { c.process_group(0); }";
const SHOWN: &str = "fn g() {c.process_group(0)}";

#[test]
fn new_syntax_is_read() {
    for text in [
        "fn f() { if let Some(a) = b && let Some(c) = d {} }",
        "fn f() { let Some(a) = b else { return }; async move |x| y; }",
        "unsafe extern \"C\" { safe fn a(); } #[unsafe(no_mangle)] fn b() {}",
        "fn f() -> impl Sized + use<'a> { c\"x\" }",
        "trait A { type B<'a>; } fn f() { match a { b if let c = d => e, _ => {} } }",
    ] {
        let shown = good(&format!("{text} {CALL}"));
        assert!(shown.ends_with(SHOWN), "{shown}");
    }
}

#[test]
fn what_stands_around_a_fault_is_found() {
    for text in [
        "fn f() { let a = (b; }",
        "<<<<<<< HEAD\nfn f() {}\n=======\nfn h() {}\n>>>>>>> x",
        "{{ jinja }} fn f() { \0 }",
        "gen fn f() { yield 1; }",
        "fn f() { let super = do yeet; }",
        "fn f() { x y z }",
        "type A = fn(u8 + ;",
    ] {
        for text in [format!("{text}\n{CALL}"), format!("{CALL}\n{text}")] {
            let shown = show(&tree(&text));
            assert!(shown.contains("c.process_group(0)"), "{text}: {shown}");
        }
    }
    assert!(bad(&format!("{CALL} fn f() {{ \"abc \n d(); }} {CALL}")).contains(SHOWN));
}

#[test]
fn the_scan_knows_declarations() {
    let text = "x y z; use a::{self, b as c, d::*}; pub(crate) async fn f(mut c: &mut Box<m::Command>) -> X { let d = e(); g = h; } impl T for U { fn i() {} }";
    assert_eq!(
        bad(text),
        "<x y z>; use a as a, a.b as c, a.d.*; fn f(c: m::Command) {d = e(); g = h}; class U(T) {fn i() {}}".replace("<x y z>", "x; y; z")
    );
    assert_eq!(
        bad("x y; fn f() { a.b(|c, d| e(c)).g(-1)?; S { h: i(), ..j }; k!(l) }"),
        "x; y; fn f() {a.b(|c, d| e(c)).g(-1); S{h: i(), ..j}; k!(l)}"
    );
    assert_eq!(
        bad("x y; extern \"C\" { fn s() -> i32; }"),
        "x; y; foreign fn s()"
    );
}

#[test]
fn faults_say_what_and_where() {
    let fault = tree("fn f() {\n a b\n}").fault.unwrap();
    assert!(fault.why.starts_with("cannot parse as Rust: "), "{fault:?}");
    assert_eq!(fault.at.start, 12, "{fault:?}");
    assert_eq!(
        tree("fn f() { (").fault.unwrap().why,
        "cannot parse as Rust: unclosed \"(\""
    );
}

#[test]
fn nothing_nests_too_deeply() {
    on_a_big_stack(|| {
        let nests = [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("{", "1", "}"),
            ("f(", "1", ")"),
            ("-", "1", ""),
            ("!", "a", ""),
            ("&", "a", ""),
            ("*", "a", ""),
            ("|a|", "1", ""),
            ("||", "1", ""),
            ("if a {", "b", "}"),
            ("return ", "1", ""),
            ("a = ", "1", ""),
            ("a + ", "1", ""),
            ("1 | ", "1", ""),
            ("m!(", "1", ")"),
            ("vec![", "1", "]"),
            ("match a { _ => ", "1", "}"),
            ("unsafe {", "1", "}"),
            ("loop {", "1", "}"),
            ("fn a(){", "", "}"),
            ("mod a {", "", "}"),
            ("if a {} else ", "{}", ""),
            ("S{a:", "1", "}"),
            ("async move {", "1", "}"),
            ("a..", "1", ""),
            ("a.b(|| ", "1", ")"),
            ("let a = {", "1", "};"),
        ];
        let tails = [
            ".a()",
            "?",
            ".b",
            "(1)",
            "[0]",
            " as u8",
            " + 1",
            "::a",
            ".await",
            "::<u8>::a",
        ];
        for count in [200, 10_000] {
            for (open, inside, close) in nests {
                let text = format!(
                    "fn f() {{ {}{inside}{} }} {CALL}",
                    open.repeat(count),
                    close.repeat(count)
                );
                let shown = tree(&text);
                assert!(show_has_call(&shown), "{open} {count}");
                // The same without its ends.
                tree(&format!("fn f() {{ {}", open.repeat(count)));
            }
            for tail in tails {
                let text = format!("fn f() {{ x{} }} {CALL}", tail.repeat(count));
                assert!(show_has_call(&tree(&text)), "{tail} {count}");
            }
            for (open, close) in [
                ("Vec<", ">"),
                ("&", ""),
                ("(", ",)"),
                ("impl Fn() -> ", ""),
                ("[", ";1]"),
                ("fn(", ")"),
            ] {
                let text = format!(
                    "fn f(a: {}u8{}) {{}} {CALL}",
                    open.repeat(count),
                    close.repeat(count)
                );
                assert!(show_has_call(&tree(&text)), "{open} {count}");
            }
        }
    });
}

fn show_has_call(tree: &crate::facts::tree::Tree) -> bool {
    use crate::facts::tree::Kind;
    tree.nodes
        .iter()
        .any(|node| matches!(&node.kind, Kind::Attr { name, .. } if name == "process_group"))
}

#[test]
fn a_text_may_end_anywhere() {
    on_a_big_stack(|| {
        let text = "#!/x\n---\na\n---\n//! é\nuse a::{b as c, d::*};\nimpl<T> A for B<T> { fn f(&self, c: &mut Command) -> R<X> { unsafe { c.pre_exec(|| { libc::setsid(); Ok(()) }) }; \
            let Some(x) = y::<u8>(\"a\\n{{}} {}\", r#\"b\"#, b'c', -1) else { return }; tokio::select! { a = b() => { c!(d, /* e */ f) } } \
            match z { P { q, .. } if r => s[0].t?, _ => |u, v| w } } }\nmacro_rules! m { ($x:expr) => { $x.y() } }\n";
        assert_eq!(tree(text).fault, None);
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            tree(&text[..end]);
            tree(&text[end..]);
        }
    });
}
