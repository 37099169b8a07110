//! What syn reads.

use super::{body, good, tree};
use crate::facts::tree::{CommentKind, Kind, Piece};

#[test]
fn chains_paths_and_what_is_transparent() {
    assert_eq!(
        body(r#"Command::new("x").arg(1).process_group(-1);"#),
        r#"Command::new("x").arg(1).process_group(-1)"#
    );
    assert_eq!(body("(&mut *a)?.b().await as u8;"), "a.b()");
    assert_eq!(
        body("<Command as os::CommandExt>::process_group(&mut c, 0)"),
        "=os::CommandExt::process_group(c, 0)"
    );
    assert_eq!(body("<Command>::new(1)"), "=Command::new(1)");
    assert_eq!(body("libc::r#setsid()"), "=libc::setsid()");
    assert_eq!(body("f::<{ g() }>(x as [u8; h()]);"), "f(x); {=g()}; h()");
    assert_eq!(body("unsafe { a() }"), "=a()");
    assert_eq!(body("unsafe { a(); }"), "={a()}");
    assert_eq!(body("(self.f.0)(1)[2];"), "self.f.0(1)[2]");
}

#[test]
fn values() {
    assert_eq!(
        body("[0x1F_u8 , 0b11, 0o7, 1_0, -2i32, 1.5, 2f32]"),
        "=[31, 3, 7, 10, -2, <>, <>]"
    );
    assert_eq!(
        body("(\"a\\n\\u{e9}\", r#\"b\"\"#, b\"c\\x41\", c\"d\", 'e', true, ())"),
        "=[\"a\né\", \"b\"\", \"cA\", \"d\", <>, true, ()]"
    );
    assert_eq!(
        body("[a; 3]; S { a: 1, b, ..c() }"),
        "[a]; =S{a: 1, b: b, ..c()}"
    );
    assert_eq!(
        body("a && b || !c; a == b; a | 1; a + 1; a < 2"),
        "?(?(a, b), !c); (a == b); (a | 1); (a + 1); =(a ~ 2)"
    );
    assert_eq!(
        body("a.b += 1; c = d; 1..e()"),
        "a.b = (a.b + 1); c = d; =<1 <>>".replace("<1 <>>", "<1 e()>")
    );
}

#[test]
fn strings_know_where_they_are_written() {
    let text = "fn f() { g(\"ab\\\n   cd\\te\") }";
    let tree = tree(text);
    let pieces = tree.nodes.iter().find_map(|node| match &node.kind {
        Kind::Text(pieces) => Some(pieces),
        _ => None,
    });
    let written: Vec<(String, &str)> = pieces
        .unwrap()
        .iter()
        .map(|piece| match piece {
            Piece::Text { text: own, span } => {
                (own.clone(), &text[span.start as usize..span.end as usize])
            }
            Piece::Hole { .. } => panic!("no hole"),
        })
        .collect();
    let wanted = [("ab", "ab"), ("cd", "cd"), ("\t", "\\t"), ("e", "e")];
    assert_eq!(
        written,
        wanted.map(|(own, source)| (own.to_owned(), source))
    );
}

#[test]
fn control() {
    assert_eq!(
        body("if a { b() } else if c { d } else { e }"),
        "=if a {=b()} else if c {=d} else {=e}"
    );
    assert_eq!(body("if let Some(x) = y() { x }"), "=if x = y() {=x}");
    assert_eq!(body("while let Ok(x) = y { z(x) }"), "=if x = y {=z(x)}");
    assert_eq!(body("for (a, b) in c() { d }"), "={[a, b] = c()[]; {=d}}");
    assert_eq!(
        body("match x { Some(a) if g() => b, None => { c(); } }"),
        "=?({a = x; g(); =b}, {={c()}})"
    );
    assert_eq!(
        body("match y() { Ok(a) => b, _ => c }"),
        "={match@9 = y(); =?({a = match@9; =b}, {=c})}"
    );
    assert_eq!(
        body("let Some(x) = y else { return z() };"),
        "x = y; {=return z()}"
    );
    assert_eq!(
        body("'a: loop { break 'a h(); continue }"),
        "={leave h(); =leave}"
    );
    assert_eq!(
        body("move |a: &mut Command, b| async move { c }"),
        "=|a: Command, b| {=c}"
    );
    assert_eq!(
        body("let c: Option<Box<Command>> = None;"),
        "c: Command = None"
    );
}

#[test]
fn items() {
    assert_eq!(
        good("use a::{self, b as c, d::*}; use ::e; extern crate x as y;"),
        "use a as a, a.b as c, a.d.*; use e as e; use x as y"
    );
    assert_eq!(
        good("impl<T> Ext for m::X<T> { const A: u8 = f(); fn g(&self) {} }"),
        "class X(Ext) {A: u8 = f(); fn g(self) {}}"
    );
    assert_eq!(
        good("trait T { fn a(); fn b() { c() } } mod m { fn d() {} }"),
        "class T() {fn a(); fn b() {=c()}}; class m() {fn d() {}}"
    );
    assert_eq!(
        good(
            "unsafe extern \"C\" { #[link_name = \"setsid\"] safe fn s() -> i32; fn t(a: c_int); }"
        ),
        "foreign fn s() as setsid; foreign fn t(a: c_int)"
    );
    assert_eq!(
        good("static A: [u8; f()] = B; type C = std::process::Command; enum E { V = g() }"),
        "A = B; f(); C = std::process::Command; class E() {V = g()}"
    );
    assert_eq!(
        good(
            "fn f<C: AsMut<Command>>(a: C, b: impl Into<Command>, c: Box<tokio::process::Command>, d: Result<Child, E>) {}"
        ),
        "fn f(a: Command, b: Command, c: tokio::process::Command, d: Child) {}"
    );
    assert_eq!(
        good("#[cfg(windows)] fn a() {} #[cfg(unix)] fn b() { fn c() { d() } }"),
        "fn a() {}; fn b() {fn c() {=d()}}"
    );
}

#[test]
fn included_files_are_bodies_or_expressions() {
    assert_eq!(good("let a = b(); c(a)"), "a = b(); =c(a)");
    assert_eq!(good("[a(), b()]"), "=[a(), b()]");
}

fn statements(text: &str) -> Vec<(&str, &str)> {
    let slice = |span: crate::source::Span| &text[span.start as usize..span.end as usize];
    tree(text)
        .statements
        .iter()
        .map(|own| (slice(own.span), slice(own.header)))
        .collect()
}

#[test]
fn statements_and_headers() {
    let text =
        "#[test]\nfn f() {\n    #[cfg(unix)]\n    a()?;\n    if b { c } else { d }\n    (e)?\n}";
    let wanted = [
        (text, "#[test]\nfn f() {"),
        ("#[cfg(unix)]\n    a()?;", "#[cfg(unix)]\n    a()?;"),
        ("if b { c } else { d }", "if b {"),
        ("c", "c"),
        ("else { d }", "else {"),
        ("d", "d"),
        ("(e)?", "(e)?"),
    ];
    assert_eq!(statements(text), wanted);
}

#[test]
fn match_arms_are_statements() {
    let text = "fn f() { match a { B => c(), D => { e() } #[x] _ => g } }";
    let arms: Vec<_> = statements(text).into_iter().skip(2).collect();
    let wanted = [
        ("B => c(),", "B => c(),"),
        ("D => { e() }", "D => {"),
        ("e()", "e()"),
        ("#[x] _ => g", "#[x] _ => g"),
    ];
    assert_eq!(arms, wanted);
}

#[test]
fn comments_are_found_everywhere() {
    let text = "#!/usr/bin/env run\n//! doc\nfn f() { m!(a, /* b */ c); r\"// no\" } // é\r\n/// doc\nfn g() {}";
    let tree = tree(text);
    let found: Vec<_> = tree
        .comments
        .iter()
        .map(|own| {
            (
                &text[own.span.start as usize..own.span.end as usize],
                own.kind,
                own.own_line,
            )
        })
        .collect();
    let wanted = [
        ("//! doc", CommentKind::Doc, true),
        ("/* b */", CommentKind::Block, false),
        ("// é", CommentKind::Line, false),
        ("/// doc", CommentKind::Doc, true),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn marks_shebangs_frontmatter_and_windows_line_ends_keep_places() {
    for before in [
        "\u{feff}",
        "#!/bin/x\n",
        "---\n[package]\n---\n",
        "#!/bin/x\n---cargo\na = 1\n---\n",
        "\u{feff}// é\r\n",
        "\r\n",
    ] {
        let text = format!("{before}fn f() {{ g() }}");
        let tree = tree(&text);
        assert_eq!(tree.fault, None, "{before:?}");
        let call = tree
            .nodes
            .iter()
            .find(|node| matches!(node.kind, Kind::Call { .. }))
            .unwrap();
        assert_eq!(
            &text[call.span.start as usize..call.span.end as usize],
            "g()",
            "{before:?}"
        );
    }
}
