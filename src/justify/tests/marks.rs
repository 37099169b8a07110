//! What markers say: reasons, days, near misses, doubles.

use super::*;

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
    let found = judge(
        &source,
        &tree,
        mini::findings(&source, &tree),
        &Terms::default(),
        TODAY,
    );
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
    assert_eq!(
        judge(&source, &tree, Vec::new(), &Terms::default(), TODAY).len(),
        1
    );
    tree.fault = Some(crate::facts::tree::Fault {
        at: Span::new(0, 0),
        why: "no".to_owned(),
    });
    assert_eq!(
        judge(&source, &tree, Vec::new(), &Terms::default(), TODAY).len(),
        0
    );
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
            origin: crate::report::Origin::Argument,
        });
        let found = judge(&source, &tree, findings, &Terms::default(), TODAY);
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
        judge(
            &source,
            &tree,
            mini::tokens(&source, span()),
            &Terms::default(),
            TODAY,
        );
        judge(
            &source,
            &empty,
            mini::tokens(&source, span()),
            &Terms::default(),
            TODAY,
        );
    }
}
