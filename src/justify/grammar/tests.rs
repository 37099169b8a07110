//! Markers, near misses and prose, a case a line.

use super::*;

fn read(text: &str) -> Reading {
    super::read(MARKER, text)
}

fn marker(text: &str) -> Words {
    match read(text) {
        Reading::Marker(words) => words,
        other => panic!("{text:?} is {other:?}"),
    }
}

#[test]
fn markers() {
    let long = "the updater outlives us";
    let day = Some(Date {
        year: 2027,
        month: 6,
        day: 30,
    });
    let cases: [(&str, &[&str], Option<Date>, &str); 9] = [
        ("detached-spawn: the updater outlives us", &[], None, long),
        (
            "   detached-spawn:the updater outlives us  ",
            &[],
            None,
            long,
        ),
        (
            "detached-spawn[new-group]: the updater outlives us",
            &["new-group"],
            None,
            long,
        ),
        (
            "detached-spawn[new-session,pty-spawn]: x",
            &["new-session", "pty-spawn"],
            None,
            "x",
        ),
        (
            "detached-spawn[ new-session , pty-spawn ]: x",
            &["new-session", "pty-spawn"],
            None,
            "x",
        ),
        ("detached-spawn(until=2027-06-30): x", &[], day, "x"),
        (
            "detached-spawn[new-group](until=2027-06-30): x",
            &["new-group"],
            day,
            "x",
        ),
        (
            "detached-spawn: S106 is fine [x]",
            &[],
            None,
            "S106 is fine [x]",
        ),
        ("detached-spawn:", &[], None, ""),
    ];
    for (text, mechanisms, until, reason) in cases {
        let words = marker(text);
        assert_eq!(words.mechanisms, mechanisms, "{text}");
        assert_eq!(words.until, until, "{text}");
        assert_eq!(words.reason, reason, "{text}");
    }
}

#[test]
fn near_misses() {
    let cases = [
        ("Detached-Spawn: x", "not by `Detached-Spawn`"),
        ("DETACHED-SPAWN: x", "not by"),
        ("detached_spawn: x", "not by"),
        ("detached spawn: x", "not by"),
        ("detached‑spawn: x", "not by"),
        ("detached-spawns: x", "not by"),
        ("detach-spawn: x", "not by"),
        ("detached-spwan[new-group]: x", "not by"),
        ("Detached-Spawn[new-group]: x", "not by"),
        ("detached-spawn : x", "space stands before the colon"),
        (
            "detached-spawn [new-group]: x",
            "space stands before the bracket",
        ),
        (
            "detached-spawn[new-group] : x",
            "space stands before the colon",
        ),
        (
            "detached-spawn(until=2027-06-30) : x",
            "space stands before the colon",
        ),
        ("detached-spawn", "no colon and no reason"),
        ("detached-spawn = x", "no colon"),
        ("detached-spawn - x", "no colon"),
        ("detached-spawn — x", "no colon"),
        ("detached-spawn：理由", "no colon"),
        ("detached-spawn[new-group] x", "no colon"),
        ("detached-spawn[new-group]", "no colon"),
        ("detached-spawn[new-group: x", "not closed"),
        ("detached-spawn(until=2027-06-30: x", "not closed"),
        ("detached-spawn[]: x", "empty"),
        ("detached-spawn[ , ]: x", "empty"),
        ("detached-spawn[new-group,]: x", "no mechanism ``"),
        ("detached-spawn[new-sesion]: x", "no mechanism `new-sesion`"),
        ("detached-spawn[all]: x", "no mechanism `all`"),
        (
            "detached-spawn(until=2027-06-30)[new-group]: x",
            "come before",
        ),
        ("detached-spawn(until=2027-02-29): x", "no calendar"),
        ("detached-spawn(until=2027-6-3): x", "no day"),
        ("detached-spawn(until= 2027-06-30): x", "no day"),
        ("detached-spawn(until 2027-06-30): x", "only `until="),
        ("detached-spawn(expires=2027-06-30): x", "only `until="),
        ("detached-spawn(): x", "only `until="),
    ];
    for (text, said) in cases {
        match read(text) {
            Reading::Malformed(malformed) => {
                assert!(malformed.message.contains(said), "{text}: {malformed:?}");
            }
            other => panic!("{text:?} is {other:?}"),
        }
    }
}

#[test]
fn the_nearest_mechanism_is_named() {
    for (id, nearest) in [
        ("new-sesion", "new-session"),
        ("New-Group", "new-group"),
        ("ptyspawn", "pty-spawn"),
    ] {
        let Reading::Malformed(malformed) = read(&format!("detached-spawn[{id}]: x")) else {
            panic!("{id}")
        };
        assert!(
            malformed.help.contains(&format!("`{nearest}`")),
            "{malformed:?}"
        );
    }
}

#[test]
fn attempts() {
    for text in [
        "detached-spawn the updater outlives us",
        "detached-spawn (see below) the reason",
        "type: ignore  # detached-spawn: the updater outlives us",
        "SAFETY: fine // detached-spawn[new-group]: the updater outlives us",
    ] {
        assert!(
            matches!(read(text), Reading::Attempt(_)),
            "{text}: {:?}",
            read(text)
        );
    }
}

#[test]
fn prose() {
    for text in [
        "",
        "x",
        "a detached-spawn: needs a comment",
        "see the detached-spawn: rules",
        "nodetached-spawn: x",
        "nodetached_spawn()",
        "detached-spawn's grammar",
        "detached-spawn.",
        "check-detached-spawns: x",
        "Detached spawns: how they work",
        "Detached spawn (a child that leaves) needs care",
        "detached: x",
        "attached-pawn: x and more",
        "noqa: S603",
        "~ detached-spawn: x",
        "~detached-spawn[new-group]: x",
        "spawn: x",
    ] {
        assert_eq!(read(text), Reading::Other, "{text}");
    }
}

#[test]
fn no_text_breaks_it() {
    let parts = [
        "detached-spawn",
        "Detached",
        "-",
        "_",
        " ",
        "[",
        "]",
        "(",
        ")",
        ":",
        "until=",
        "2027-06-30",
        "new-group",
        ",",
        "é",
        "：",
        "#",
        "//",
        "~",
        "\u{200b}",
    ];
    let mut seed: usize = 7;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(parts[(seed >> 33) % parts.len()]);
        }
        let _ = read(&text);
    }
}

#[test]
fn the_word_is_an_input() {
    let of = |text: &str| super::read("must-outlive", text);
    let Reading::Marker(words) = of("must-outlive[new-session]: the updater outlives us") else {
        panic!("it is a marker");
    };
    assert_eq!(words.reason, "the updater outlives us");
    assert_eq!(
        of("detached-spawn: the updater outlives us"),
        Reading::Other
    );
    let Reading::Malformed(malformed) = of("must_outlive: the updater outlives us") else {
        panic!("it is nearly one");
    };
    assert!(malformed.help.contains("`must-outlive: the reason`"));
}
