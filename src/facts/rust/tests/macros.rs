//! Code in macros.

use super::{body, good};

#[test]
fn arguments() {
    assert_eq!(
        body("tokio::join!(a(), b.c());"),
        "tokio::join!(a(), b.c())"
    );
    assert_eq!(body("vec![a(), 1]; vec![b(); 3]"), "[a(), 1]; =[b()]");
    assert_eq!(body("assert!(a(vec![b!(c())]));"), "assert!(a([b!(c())]))");
    assert_eq!(
        body("duct::cmd!(\"setsid\", x = y);"),
        "duct::cmd!(\"setsid\", x: y)"
    );
    assert_eq!(body("concat!(\"a\", \"b\")"), "=\"ab\"");
    assert_eq!(body("m!()"), "=m!()");
}

#[test]
fn format_strings_have_holes() {
    assert_eq!(
        body("format!(\"a {{}} {} {x} {y:?} {0}\", f(), y = g());"),
        "format!(\"a {} {f()} {x} {g()} {}\")"
    );
    assert_eq!(body("write!(w, \"{}\", a)"), "=write!(w, \"{a}\")");
    assert_eq!(body("m!(\"{}\", a)"), "=m!(\"{}\", a)");
}

#[test]
fn statements_arms_and_items() {
    assert_eq!(body("m! { let a = b(); a.c() }"), "=m!({a = b(); =a.c()})");
    assert_eq!(
        body(
            "tokio::select! { biased; Some(x) = a.recv(), if ok => b(x), _ = c() => { d(); } else => e() }"
        ),
        "=tokio::select!(?({x = a.recv(); ok; =b(x)}, {<> = c(); ={d()}}, { = e}))"
            .replace("{ = e}", "{=e()}")
    );
    assert_eq!(
        good("lazy_static! { pub static ref A: Child = f(); }"),
        "lazy_static!(); A: Child = f()"
    );
    assert_eq!(
        good("thread_local!(static A: B = const { f() });"),
        "thread_local!(); A: B = {=f()}"
    );
    assert_eq!(
        good("cfg_if! { if #[cfg(unix)] { use a::b; fn f() {} } else { fn g() {} } }"),
        "cfg_if!(); use a.b as b; fn f() {}; fn g() {}"
    );
    assert_eq!(
        good("macro_rules! m { ($c:expr) => { $c.process_group(0) }; () => { $($x;)* f() }; }"),
        "macro_rules!({=c.process_group(0)}, {x; =f()})"
    );
    assert_eq!(
        body("quote! { #c.process_group(0); #(#d),* }"),
        "=quote!({c.process_group(0); =d})"
    );
}

#[test]
fn other_tokens_are_scanned() {
    assert_eq!(
        body("m!(a => b(c.d::<u8>(1)).e(), f)"),
        "=m!(<a b(c.d(1)).e()>, f)"
    );
    assert_eq!(body("error!(%x, \"no {}\", y)"), "=error!(x, \"no {y}\")");
    assert_eq!(
        body("m![x y(-1) -> \"s\" in z!(w())]"),
        "=m!(<x y(-1) \"s\" z!(w())>)"
    );
}
