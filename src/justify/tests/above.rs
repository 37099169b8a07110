//! Markers above what they justify.

use super::*;

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
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
