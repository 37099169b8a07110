//! Literals taken apart.

use super::*;

fn said(source: &str) -> String {
    let literal = open(source, Span::new(0, source.len()));
    let mut pieces = Vec::new();
    cook(source, literal, literal.body, &mut pieces);
    let text = |piece: &Piece| match piece {
        Piece::Text { text, .. } => text.clone(),
        Piece::Hole { .. } => String::new(),
    };
    pieces.iter().map(text).collect()
}

#[test]
fn quotes_and_prefixes() {
    for (source, text) in [
        ("'a'", "a"),
        ("\"a\"", "a"),
        ("'''a'b'''", "a'b"),
        ("\"\"\"\"\"\"", ""),
        ("''", ""),
        ("Rb'\\n'", "\\n"),
        ("u'a'", "a"),
        ("'abc", "abc"),
        ("'", ""),
        ("", ""),
    ] {
        assert_eq!(said(source), text, "{source}");
    }
}

/// Found by the time that it took: twice as long for each brace.
#[test]
fn braces_that_do_not_close_are_looked_at_once() {
    let nested = format!("f'{{a}}{}'", "{x:".repeat(100));
    for (source, count) in [
        ("f'{a} {b {c}'", 1),
        (nested.as_str(), 1),
        ("f'{a:{b}} {c'", 1),
    ] {
        let literal = open(source, Span::new(0, source.len()));
        assert_eq!(holes(source, literal).len(), count, "{source}");
    }
}

#[test]
fn escapes() {
    for (source, text) in [
        (r"'\n\t\\\''", "\n\t\\'"),
        (r"'\x41\101\u00e9\U0001F600'", "AAé😀"),
        (r"'\q\x4'", r"\q\x4"),
        (r"b'\u00e9\xe9'", "\\u00e9é"),
        (r"'\N{BULLET}'", "\u{fffd}"),
        ("'a\\\nb'", "ab"),
        ("'a\\\r\nb'", "ab"),
        ("'''a\r\nb\rc'''", "a\nb\nc"),
        (r"f'{{a}}'", "{a}"),
        (r"'\ud800'", "\u{fffd}"),
        (r"'\7'", "\u{7}"),
    ] {
        assert_eq!(said(source), text, "{source}");
    }
}

#[test]
fn values_in_format_strings() {
    for (source, values) in [
        ("f'{a}'", vec!["a"]),
        ("f'{ a }{b!r}{c:>3}{d = }'", vec!["a", "b", "c", "d"]),
        ("f'{{no}}{yes}'", vec!["yes"]),
        ("f'{a[\"x}\"]}'", vec!["a[\"x}\"]"]),
        ("f'{a != b}{ {1: 2}[1] }'", vec!["a != b", "{1: 2}[1]"]),
        ("f'{(lambda x: x)}'", vec!["(lambda x: x)"]),
        ("f'{a:{b}}'", vec!["a", "b"]),
        ("f'\\N{BULLET}{a}'", vec!["a"]),
        ("rf'\\{a}'", vec!["a"]),
        ("'{a}'", vec![]),
        ("f'{a'", vec![]),
        ("f'{a==b}'", vec!["a==b"]),
    ] {
        let literal = open(source, Span::new(0, source.len()));
        let mut found = Vec::new();
        for hole in holes(source, literal) {
            for own in [
                vec![hole.value],
                hole.nested.iter().map(|own| own.value).collect(),
            ]
            .concat()
            {
                found.push(&source[own.start as usize..own.end as usize]);
            }
        }
        assert_eq!(found, values, "{source}");
    }
}
