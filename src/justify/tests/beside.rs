//! Markers inside a call, behind a statement, and out of reach.

use super::*;

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
    // What stood above a spawn that is none any more was not meant for the one before.
    for (between, near) in [("", true), ("\n", false), ("\n\ndef f():\n    ", false)] {
        let text = format!(
            "Popen(start_new_session=True)\n{between}# detached-spawn: the updater must outlive us\n\nPopen()\n"
        );
        let found = judged(Language::Python, &text);
        let unused = found
            .iter()
            .find(|own| own.id == FindingId::UnusedJustification);
        let message = &unused.unwrap().message;
        assert_eq!(
            message.contains("does not reach"),
            near,
            "{text}: {message}"
        );
        assert_eq!(unused.unwrap().removable.is_none(), near, "{text}");
    }
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
