//! Placement and verdicts, a case a text: what is expected stands beside it as `LINE verdict`.

mod mini;

use super::*;
use crate::facts::tree::{Comment, CommentKind};
use crate::source::Language;

const TODAY: Date = Date {
    year: 2026,
    month: 11,
    day: 29,
};

fn judged(language: Language, text: &str) -> Vec<Finding> {
    let source = Source::new("x", language, text.to_owned());
    let tree = mini::tree(&source);
    judge(&source, &tree, mini::findings(&source, &tree), TODAY)
}

/// `3 justified, 5 unjustified, 7 unused-justification`.
fn verdicts(language: Language, text: &str) -> String {
    let source = Source::new("x", language, text.to_owned());
    let said = judged(language, text).into_iter().map(|finding| {
        let word = match finding.id {
            FindingId::DetachingSpawn => finding.verdict.name(),
            fault => fault.name(),
        };
        format!("{} {word}", source.line(finding.evidence[0].start))
    });
    said.collect::<Vec<_>>().join(", ")
}

fn python(cases: &[(&str, &str)]) {
    every(Language::Python, cases);
}

fn rust(cases: &[(&str, &str)]) {
    every(Language::Rust, cases);
}

/// `M` stands for a good marker, `S` for a call that starts a session, `G` for one of a group.
fn every(language: Language, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let text = expand(language, text);
        let found = verdicts(language, &text);
        if found != *expected {
            wrong.push(format!(
                "{text}\n  is       {found}\n  expected {expected}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn expand(language: Language, text: &str) -> String {
    match language {
        Language::Python => text
            .replace("$M", "# detached-spawn: the updater must outlive us")
            .replace("$S", "Popen(a, start_new_session=True)")
            .replace("$G", "Popen(b, process_group=0)")
            .replace("$Q", "Popen(c, shell=\"x &\")"),
        Language::Rust => text
            .replace("$M", "// detached-spawn: the updater must outlive us")
            .replace("$G", "Command::new(\"x\").process_group(0).spawn()")
            .replace("$L", "libc::setsid()"),
    }
}

#[test]
fn above_a_statement() {
    python(&[
        ("$S\n", "1 unjustified"),
        ("$M\n$S\n", "2 justified"),
        (
            "#    detached-spawn: the updater must outlive us\n$S\n",
            "2 justified",
        ),
        (
            "#detached-spawn: the updater must outlive us\n$S\n",
            "2 justified",
        ),
        ("$M\n# and more of it\nx = $S\n", "3 justified"),
        ("$M\n#\n# other words\nx = $S\n", "4 justified"),
        ("$M\n\n$S\n", "1 unused-justification, 3 unjustified"),
        ("$M\nf()\n$S\n", "1 unused-justification, 3 unjustified"),
        ("if x:\n        $M\n    $S\n", "3 justified"),
        (
            "if x:\n    f()\n    $M\nelif $S:\n    pass\n",
            "4 justified",
        ),
        (
            "$M\nif x:\n    $S\n",
            "1 unused-justification, 3 unjustified",
        ),
        ("$M\nif x: $S\n", "1 unused-justification, 2 unjustified"),
        ("$M\nif $S:\n    pass\n", "2 justified"),
        ("$M\nwith $S as p:\n    $G\n", "2 justified, 3 unjustified"),
        ("$M\nx = [\n    1,\n    $S,\n]\n", "4 justified"),
        ("$M\n@deco($S)\ndef f():\n    pass\n", "2 justified"),
        ("@deco\n$M\n@deco($S)\ndef f():\n    pass\n", "3 justified"),
        ("@deco($S)\n$M\ndef f():\n    pass\n", "1 justified"),
        ("@deco  $M\ndef f(x=$S):\n    pass\n", "2 justified"),
        ("$M\nx = $S", "2 justified"),
        ("$M\r\nx = $S\r\n", "2 justified"),
        ("$M\n", "1 unused-justification"),
    ]);
    rust(&[
        (
            "fn f() {\n    $M\n    let c =\n        $G;\n}",
            "4 justified",
        ),
        ("fn f() {\n    $M\n    $G\n}", "3 justified"),
        (
            "fn f() {\n    /* detached-spawn: the updater must outlive us */\n    $G;\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    /*\n     * detached-spawn: the updater\n     * must outlive us\n     */\n    $G;\n}",
            "6 justified",
        ),
        (
            "fn f() {\n    /* detached-spawn: the updater must outlive us */ $G;\n}",
            "2 justified",
        ),
        (
            "fn f() {\n    $M\n    #[cfg(unix)]\n    let c = $G;\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    #[cfg(unix)]\n    $M\n    let c = $G;\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    #[cfg(unix)] $M\n    let c = $G;\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    $M\n    let r = unsafe { $L };\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    $M\n    let r = unsafe {\n        $L\n    };\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    $M\n    unsafe {\n        $L;\n    }\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    $M\n    unsafe {\n        g();\n        $L;\n    }\n}",
            "2 unused-justification, 5 unjustified",
        ),
        (
            "fn f() {\n    unsafe {\n        $M\n        $L;\n    }\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    $M\n    let t = spawn(|| { $G });\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    $M\n    let t = spawn(|| $G);\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    $M\n    let t = spawn(|| {\n        g();\n        $G\n    });\n}",
            "2 unused-justification, 5 unjustified",
        ),
        (
            "fn f() {\n    $M\n    let c = if a { $G } else { g() };\n}",
            "3 justified",
        ),
        (
            "$M\nfn f() {\n    $G\n}",
            "1 unused-justification, 3 unjustified",
        ),
        (
            "fn f() {\n    match x {\n        $M\n        1 => $G,\n        _ => $G,\n    }\n}",
            "4 justified, 5 unjustified",
        ),
        (
            "fn f() {\n    $M\n    match $G {\n        1 => $G,\n        _ => g(),\n    }\n}",
            "3 justified, 4 unjustified",
        ),
    ]);
}

#[test]
fn above_an_argument() {
    python(&[
        (
            "Popen(\n    a,\n    $M\n    start_new_session=True,\n)\n",
            "4 justified",
        ),
        (
            "Popen(\n    $M\n    a,\n    start_new_session=True,\n)\n",
            "2 unused-justification, 4 unjustified",
        ),
        (
            "f(\n    $M\n    $S,\n    $G,\n)\n",
            "3 justified, 4 unjustified",
        ),
        (
            "f(\n    $M\n\n    $S,\n)\n",
            "2 unused-justification, 4 unjustified",
        ),
        (
            "f(\n    $M\n    $S if x\n    else $G,\n)\n",
            "3 ambiguous-justification, 4 ambiguous-justification",
        ),
        (
            "x = {\n    \"a\": 1,\n    $M\n    \"start_new_session\": True,\n    \"b\": 2,\n}\n",
            "4 justified",
        ),
        (
            "with (\n    a as f,\n    $M\n    $S as p,\n):\n    pass\n",
            "4 justified",
        ),
        ("x = (\n    a\n    $M\n    or $S\n)\n", "4 justified"),
        (
            "@deco(\n    1,\n    $M\n    $S,\n)\ndef f():\n    pass\n",
            "4 justified",
        ),
        (
            "x = f(\n    1,\n    $M\n    Popen(\n        \"),\", a,\n        start_new_session=True,\n    ),\n)\n",
            "6 justified",
        ),
    ]);
    rust(&[
        (
            "fn f() {\n    Command::new(\"x\")\n        .arg(\"a\")\n        $M\n        .process_group(0)\n        .spawn();\n}",
            "5 justified",
        ),
        (
            "fn f() {\n    Command::new(\"x\")\n        $M\n        .arg(\"a\")\n        .process_group(0)\n        .spawn();\n}",
            "3 unused-justification, 5 unjustified",
        ),
        (
            "fn f() {\n    Command::new(\"x\")\n        /* detached-spawn: the updater must outlive us */\n        .process_group(0);\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    let c =\n        $M\n        Command::new(\"x\")\n            .process_group(0);\n}",
            "5 justified",
        ),
        (
            "fn f() {\n    g(\n        $M\n        $G,\n        $G,\n    );\n}",
            "4 justified, 5 unjustified",
        ),
    ]);
}

#[test]
fn inside_a_call() {
    python(&[
        (
            "Popen(  $M\n    a,\n    start_new_session=True,\n)\n",
            "3 justified",
        ),
        (
            "Popen(\n    a,  $M\n    start_new_session=True,\n)\n",
            "3 justified",
        ),
        (
            "Popen(\n    a,\n    start_new_session=True,  $M\n)\n",
            "3 justified",
        ),
        (
            "Popen(\n    a,\n    start_new_session=True,\n).wait()  $M\n",
            "3 justified",
        ),
        (
            "x = [\n    $S,  $M\n    $G,\n]\n",
            "2 justified, 3 unjustified",
        ),
        (
            "x = [$S, $G]  $M\n",
            "1 ambiguous-justification, 1 ambiguous-justification",
        ),
        (
            "f(Popen(\n    run(start_new_session=True),  $M\n    process_group=0,\n))\n",
            "2 justified, 3 unjustified",
        ),
        (
            "f(Popen(\n    run(start_new_session=True),\n    process_group=0,\n))  $M\n",
            "2 unjustified, 3 justified",
        ),
        ("$S  $M\n$G\n", "1 justified, 2 unjustified"),
        ("$S; f()  $M\n", "1 unjustified, 1 unused-justification"),
        ("f(); $S  $M\n", "1 justified"),
        ("if $S: f()  $M\n", "1 unjustified, 1 unused-justification"),
        ("if x: $S  $M\n", "1 justified"),
        (
            "x = {  $M\n    \"start_new_session\": True,\n    \"b\": [\n        1,\n    ],\n}\n",
            "2 justified",
        ),
        (
            "x = f(  $M\n    1,\n    $S,\n)\n",
            "1 unused-justification, 3 unjustified",
        ),
        (
            "run(\"\"\"\na # detached-spawn: no comment at all\n\"\"\", start_new_session=True)  $M\n",
            "3 justified",
        ),
    ]);
    rust(&[
        (
            "fn f() {\n    $G; $M\n    $G;\n}",
            "2 justified, 3 unjustified",
        ),
        (
            "fn f() {\n    Command::new(\"x\") $M\n        .arg(1)\n        .process_group(0)\n        .spawn();\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    match x {\n        1 => $G, $M\n        _ => $G,\n    }\n}",
            "3 justified, 4 unjustified",
        ),
        (
            "fn f() {\n    match x {\n        1 => { $G } $M\n        _ => {}\n    }\n}",
            "3 justified",
        ),
        ("fn f() {\n    unsafe { $L }; $M\n}", "2 justified"),
        ("fn f() {\n    if let Ok(c) = $G {} $M\n}", "2 justified"),
        (
            "fn f() {\n    let c = if a { $G } else { g() }; $M\n}",
            "2 justified",
        ),
    ]);
}

#[test]
fn after_a_statement() {
    python(&[
        ("x = f(\n    $S\n)  $M\n", "2 justified"),
        (
            "x = f(\n    $S,\n    $G,\n)  $M\n",
            "2 ambiguous-justification, 3 ambiguous-justification",
        ),
        (
            "with open(\n    a\n) as f, Popen(\n    b, start_new_session=True\n) as p:  $M\n    pass\n",
            "4 justified",
        ),
        (
            "with (\n    open(a) as f,\n    $S as p,\n):  $M\n    pass\n",
            "3 justified",
        ),
        ("assert $S, (\n    \"long\"\n)  $M\n", "1 justified"),
        ("assert (\n    $S\n), \"long\"  $M\n", "2 justified"),
        (
            "if f(\n    $S\n):  $M\n    $G\n",
            "2 justified, 4 unjustified",
        ),
        ("x = [\n    $S\n    for y in z\n]  $M\n", "2 justified"),
        (
            "if x:\n    f(\n        $S\n    )\ng()  $M\n",
            "3 unjustified, 5 unused-justification",
        ),
    ]);
    rust(&[
        (
            "fn f() {\n    let c = g(\n        $G,\n    ); $M\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    let t = spawn(move || {\n        $G\n    }); $M\n}",
            "3 justified",
        ),
        (
            "fn f() {\n    let t = spawn(move || {\n        g();\n        $G\n    }); $M\n}",
            "4 unjustified, 5 unused-justification",
        ),
        (
            "fn f() {\n    match x {\n        1 => g(\n            $G,\n        ), $M\n        _ => {}\n    }\n}",
            "4 justified",
        ),
        (
            "fn f() {\n    if let Ok(c) = g(\n        $G,\n    ) {} $M\n}",
            "3 justified",
        ),
    ]);
}

#[test]
fn brackets_select() {
    python(&[
        (
            "# detached-spawn[new-session]: the updater must outlive us\n$S\n",
            "2 justified",
        ),
        (
            "# detached-spawn[new-group]: the updater must outlive us\n$S\n",
            "2 mechanism-mismatch",
        ),
        (
            "# detached-spawn[new-group,new-session]: the updater must outlive us\n$S\n",
            "2 mechanism-mismatch",
        ),
        (
            "# detached-spawn[new-group]: the updater must outlive us\nx = $S, $G\n",
            "2 unjustified, 2 justified",
        ),
        (
            "# detached-spawn[new-group]: the updater must outlive us\n\
             # detached-spawn[new-session]: the pager must outlive us\nx = $S, $G\n",
            "3 justified, 3 justified",
        ),
        (
            "# detached-spawn[pty-spawn]: the updater must outlive us\nx = $S, $G\n",
            "2 ambiguous-justification, 2 ambiguous-justification",
        ),
        (
            "# detached-spawn[new-session]: the updater must outlive us\nx = $S, $S\n",
            "2 ambiguous-justification, 2 ambiguous-justification",
        ),
    ]);
}

#[test]
fn what_is_allowed_by_default_is_not_counted() {
    python(&[
        ("$M\nx = $S, $Q\n", "2 justified, 2 unjustified"),
        ("$M\nx = $Q\n", "2 justified"),
        (
            "$M\nx = $Q, $Q\n",
            "2 ambiguous-justification, 2 ambiguous-justification",
        ),
        (
            "# detached-spawn[shell-background]: a prefetch, it ends by itself\nx = $S, $Q\n",
            "2 unjustified, 2 justified",
        ),
        (
            "x = $S, $Q  $M\n",
            "1 ambiguous-justification, 1 ambiguous-justification",
        ),
    ]);
}

#[test]
fn two_markers_for_one() {
    python(&[
        ("$M\n$S  $M\n", "1 unused-justification, 2 justified"),
        ("$M\n$M\n$S\n", "1 unused-justification, 3 justified"),
        (
            "$M\nPopen(\n    a,\n    $M\n    start_new_session=True,\n)\n",
            "1 unused-justification, 5 justified",
        ),
        (
            "$M\nPopen(\n    start_new_session=True,\n    a,\n    b,\n    c,\n)  $M\n",
            "3 justified, 7 unused-justification",
        ),
        (
            "# detached-spawn: TODO\n$S  $M\n",
            "1 unused-justification, 2 justified",
        ),
        (
            "$M\nx = [\n    $S,  $M\n    $G,  $M\n]\n",
            "1 unused-justification, 3 justified, 4 justified",
        ),
        (
            "$M\nx = [\n    $S,  $M\n    $G,\n]\n",
            "3 justified, 4 ambiguous-justification",
        ),
    ]);
}

#[test]
fn reasons_and_days() {
    python(&[
        ("# detached-spawn:\n$S\n", "2 empty-justification"),
        ("# detached-spawn: todo\n$S\n", "2 empty-justification"),
        (
            "# detached-spawn: short\n# but it goes on here\n$S\n",
            "3 justified",
        ),
        (
            "# detached-spawn: short\n#\n# but it does not go on\n$S\n",
            "4 empty-justification",
        ),
        (
            "# detached-spawn: short\n# noqa: S603 and more words\n$S\n",
            "3 empty-justification",
        ),
        (
            "# detached-spawn: short\n#~ new-session justified\n$S\n",
            "3 empty-justification",
        ),
        (
            "# detached-spawn: short  # noqa: S603 some more\n$S\n",
            "2 empty-justification",
        ),
        (
            "# detached-spawn: # type: ignore[call-arg]\n$S\n",
            "2 empty-justification",
        ),
        (
            "# detached-spawn: see issue #typeahead for why\n$S\n",
            "2 justified",
        ),
        (
            "$S  # detached-spawn: short\n# words that speak of the code below\nf()\n",
            "1 empty-justification",
        ),
        (
            "$S  # detached-spawn: short\n                                  # aligned words go on\nf()\n",
            "1 justified",
        ),
        (
            "# detached-spawn(until=2026-11-29): the updater must outlive us\n$S\n",
            "2 justified",
        ),
        (
            "# detached-spawn(until=2026-11-28): the updater must outlive us\n$S\n",
            "2 expired-justification",
        ),
        (
            "# detached-spawn[new-session](until=2027-01-01): the updater must outlive us\n$S\n",
            "2 justified",
        ),
        (
            "# detached-spawn(until=2026-11-31): the updater must outlive us\n$S\n",
            "1 malformed-marker, 2 unjustified",
        ),
    ]);
    rust(&[(
        "fn f() {\n    /* detached-spawn: short\n     *\n     * not this */\n    $G;\n}",
        "5 empty-justification",
    )]);
}

#[test]
fn near_misses_and_prose() {
    python(&[
        (
            "# detached-spawn : the updater must outlive us\n$S\n",
            "1 malformed-marker, 2 unjustified",
        ),
        (
            "# Detached-Spawn: the updater must outlive us\n$S\n",
            "1 malformed-marker, 2 unjustified",
        ),
        (
            "# detached_spawn: the updater must outlive us\nf()\n",
            "1 malformed-marker",
        ),
        (
            "# detached-spawn the updater must outlive us\n$S\n",
            "1 malformed-marker, 2 unjustified",
        ),
        (
            "# detached-spawn comments are explained in the guide\nf()\n",
            "",
        ),
        (
            "# a detached-spawn: comment must stand here\n$S\n",
            "2 unjustified",
        ),
        ("# noqa  $M\n$S\n", "1 malformed-marker, 2 unjustified"),
        ("nodetached_spawn()\n", ""),
        (
            "x = \"# detached-spawn: the updater must outlive us\"\n$S\n",
            "2 unjustified",
        ),
        (
            "#~ detached-spawn: the updater must outlive us\n$S\n",
            "2 unjustified",
        ),
        (
            "#: detached-spawn: the updater must outlive us\nx = $S\n",
            "1 malformed-marker, 2 unjustified",
        ),
        (
            "#: detached-spawn: the updater must outlive us\nx = f()\n",
            "",
        ),
    ]);
    rust(&[
        (
            "fn f() {\n    /// detached-spawn: the updater must outlive us\n    let c = $G;\n}",
            "2 malformed-marker, 3 unjustified",
        ),
        (
            "/// detached-spawn: the updater must outlive us\nfn f() {\n    let c = $G;\n}",
            "3 unjustified",
        ),
    ]);
}

#[test]
fn docstrings_are_no_comments() {
    let text = "\"\"\"Words.\n\ndetached-spawn: the updater must outlive us\n\"\"\"\nPopen(start_new_session=True)\n";
    let source = Source::new("x", Language::Python, text.to_owned());
    let mut tree = mini::tree(&source);
    tree.docs = vec![Span::new(0, text.rfind("\"\"\"").unwrap() + 3)];
    let found = judge(&source, &tree, mini::findings(&source, &tree), TODAY);
    let ids: Vec<&str> = found.iter().map(|finding| finding.id.name()).collect();
    assert_eq!(ids, ["malformed-marker", "detaching-spawn"]);
    assert_eq!(
        source.slice(found[0].evidence[0]),
        "detached-spawn: the updater must outlive us"
    );
}

#[test]
fn nothing_is_stale_in_a_file_that_was_not_understood() {
    let source = Source::new(
        "x",
        Language::Python,
        "# detached-spawn: the updater must outlive us\n".to_owned(),
    );
    let mut tree = mini::tree(&source);
    assert_eq!(judge(&source, &tree, Vec::new(), TODAY).len(), 1);
    tree.fault = Some(crate::facts::tree::Fault {
        at: Span::new(0, 0),
        why: "no".to_owned(),
    });
    assert_eq!(judge(&source, &tree, Vec::new(), TODAY).len(), 0);
}

#[test]
fn reasons_from_arguments() {
    let argued = |reason: &str, text: &str| {
        let source = Source::new("x", Language::Python, text.to_owned());
        let tree = mini::tree(&source);
        let mut findings = mini::findings(&source, &tree);
        findings[0].justification = Some(crate::report::Justification {
            span: findings[0].evidence[0],
            reason: reason.to_owned(),
            mechanisms: Vec::new(),
            until: None,
            argument: true,
        });
        let found = judge(&source, &tree, findings, TODAY);
        found
            .iter()
            .map(|it| format!("{} {}", it.id.name(), it.verdict.name()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let plain = "Popen(start_new_session=True)\n";
    assert_eq!(
        argued("the updater must outlive us", plain),
        "detaching-spawn justified"
    );
    assert_eq!(argued("", plain), "empty-justification unjustified");
    assert_eq!(argued("TODO", plain), "empty-justification unjustified");
    let marked = format!("# detached-spawn: the updater must outlive us\n{plain}");
    assert_eq!(
        argued("the updater must outlive us", &marked),
        "unused-justification fault, detaching-spawn justified"
    );
}

#[test]
fn a_faulty_marker_keeps_the_finding() {
    let found = judged(
        Language::Python,
        "# detached-spawn[new-session]: todo\nPopen(start_new_session=True)\n",
    );
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(finding.rules.len(), 1);
    assert_eq!(
        (finding.verdict, finding.level),
        (Verdict::Unjustified, Level::Deny)
    );
    assert_eq!(finding.justification.as_ref().unwrap().reason, "todo");
    assert_eq!(
        finding.justification.as_ref().unwrap().mechanisms,
        ["new-session"]
    );
    assert_eq!(
        finding.message,
        "the reason `todo` is a placeholder (line 1)"
    );
}

#[test]
fn the_reason_is_joined_and_cut() {
    let text = "# detached-spawn: the updater  # noqa: S603\n# must outlive us  # type: ignore\nPopen(start_new_session=True)\n";
    let found = judged(Language::Python, text);
    let justification = found[0].justification.as_ref().unwrap();
    assert_eq!(justification.reason, "the updater must outlive us");
    assert_eq!((justification.span.start, justification.span.end), (0, 43));
}

#[test]
fn a_marker_out_of_reach_says_so() {
    let found = judged(
        Language::Python,
        "# detached-spawn: the updater must outlive us\n\n\nPopen(start_new_session=True)\n",
    );
    assert_eq!(
        found[0].message,
        "the justification does not reach the detaching spawn on line 4"
    );
    assert_eq!(found[1].notes.len(), 1);
    let found = judged(
        Language::Python,
        "# detached-spawn: the updater must outlive us\nf()\n",
    );
    assert_eq!(
        found[0].message,
        "no detaching spawn is in reach of this justification"
    );
    assert_eq!(found[0].statement.span, found[0].evidence[0]);
}

/// A marker on a line of its own anywhere but above the statement or inside it justifies nothing.
#[test]
fn a_moved_marker_never_speaks_for_another_statement() {
    let lines = [
        "a = 1",
        "b = f(",
        "    2,",
        ")",
        "Popen(",
        "    c,",
        "    start_new_session=True,",
        ")",
        "if d:",
        "    e()",
        "g()",
    ];
    for line in 0..=lines.len() {
        let mut moved: Vec<&str> = lines.to_vec();
        moved.insert(line, "# detached-spawn: the updater must outlive us");
        let found = judged(Language::Python, &(moved.join("\n") + "\n"));
        let justified = found
            .iter()
            .any(|finding| finding.verdict == Verdict::Justified);
        assert_eq!(justified, line == 4 || line == 6, "{}", moved.join("\n"));
        assert_eq!(
            found.len(),
            if justified { 1 } else { 2 },
            "{}",
            moved.join("\n")
        );
    }
    for line in 0..lines.len() {
        let mut moved: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        moved[line].push_str("  # detached-spawn: the updater must outlive us");
        let found = judged(Language::Python, &(moved.join("\n") + "\n"));
        let justified = found
            .iter()
            .any(|finding| finding.verdict == Verdict::Justified);
        assert_eq!(justified, (4..=7).contains(&line), "{}", moved.join("\n"));
    }
}

/// Comments over trees that do not fit them: wrong is allowed, a panic is not.
#[test]
fn no_comments_and_no_trees_break_it() {
    let parts = [
        "#",
        "# detached-spawn: the updater",
        "detached-spawn[new-group]:",
        "\n",
        " ",
        "x(",
        ")",
        "'",
        "\"",
        "é",
        "@",
        "if a:",
        "start_new_session=True",
        "/*",
        "*/",
        "{",
        "\r",
        ",",
    ];
    let mut seed: usize = 11;
    let mut next = |limit: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % limit.max(1)
    };
    for round in 0..2_000 {
        let text: String = (0..30).map(|_| parts[next(parts.len())]).collect();
        let language = if round % 2 == 0 {
            Language::Python
        } else {
            Language::Rust
        };
        let source = Source::new("x", language, text.clone());
        let mut span = || {
            let start = next(text.len());
            Span::new(start, start + next(text.len() - start + 2))
        };
        let statements = (0..6).map(|_| {
            let span = span();
            Statement {
                span,
                header: Span::new(span.start as usize, (span.start + span.end) as usize / 2),
            }
        });
        let mut tree = Tree {
            statements: statements.collect(),
            ..Tree::default()
        };
        for kind in [CommentKind::Line, CommentKind::Block, CommentKind::Doc] {
            tree.comments.push(Comment {
                span: span(),
                kind,
                own_line: round % 3 == 0,
            });
        }
        tree.docs = vec![span()];
        tree.comments.sort_by_key(|comment| comment.span);
        let empty = Tree::default();
        judge(&source, &tree, mini::tokens(&source, span()), TODAY);
        judge(&source, &empty, mini::tokens(&source, span()), TODAY);
    }
}
