//! Notebooks as they are written by others, and by hand.

use super::*;

/// A notebook with these cells, as Jupyter writes it: a string a line.
fn written(cells: &[(&str, &str)]) -> String {
    let cells = cells.iter().map(|(kind, text)| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        serde_json::json!({"cell_type": kind, "metadata": {}, "outputs": [], "source": lines})
    });
    let file = serde_json::json!({
        "cells": cells.collect::<Vec<_>>(),
        "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
        "nbformat": 4,
    });
    serde_json::to_string_pretty(&file).unwrap()
}

fn notebook(cells: &[(&str, &str)]) -> Notebook {
    read(&written(cells)).unwrap().unwrap()
}

/// The code of one cell, and what of it a shell runs.
fn code(cell: &str) -> (String, Vec<(&'static str, String)>) {
    let one = notebook(&[("code", cell)]);
    let code = one.code.strip_suffix('\n').unwrap_or(&one.code).to_owned();
    let of = |(name, span): &(&'static str, Span)| {
        let text = &one.text[span.start as usize..span.end as usize];
        (*name, text.to_owned())
    };
    assert_eq!(one.code.len(), one.text.len(), "{cell}");
    (code, one.shell.iter().map(of).collect())
}

#[test]
fn lines_know_their_cells_and_their_places() {
    let file = written(&[
        ("markdown", "# a title\n\ntext"),
        ("code", "a = \"é\"\n\tb = 1\n"),
        ("code", ""),
        ("code", "c = 2"),
    ]);
    let one = read(&file).unwrap().unwrap();
    assert_eq!(one.text, "a = \"é\"\n\tb = 1\nc = 2\n");
    assert_eq!(one.code, one.text);
    assert_eq!(
        [1, 2, 3].map(|line| one.cell(line)),
        [(2, 1), (2, 2), (4, 1)]
    );
    let lines: Vec<&str> = file.lines().collect();
    for (line, before, rest) in [
        (1, "", r#"a = \"é\"\n"#),
        (1, "a = \"é", r#"\"\n"#),
        (2, "\t", r"b = 1\n"),
        (3, "c", " = 2"),
    ] {
        let at = one.place(line, before, Unit::CodePoints);
        let chars = lines[at.line as usize - 1].chars();
        let found: String = chars.skip(at.column as usize - 1).collect();
        assert!(found.starts_with(rest), "{line} {before}: {found}");
    }
    let bytes = one.place(1, "a = \"é", Unit::Bytes).column;
    assert_eq!(bytes, one.place(1, "a = \"é", Unit::Utf16).column + 1);
}

/// A letter may be written by its number, and a slash with a backslash before it.
#[test]
fn columns_are_those_of_what_is_written() {
    let file =
        r#"{"cells": [{"cell_type": "code", "source": ["a\u00e9\/b = \ud83e\udd80 c\n", "d"]}]}"#;
    let one = read(file).unwrap().unwrap();
    assert_eq!(one.text, "aé/b = 🦀 c\nd\n");
    for (before, letter) in [
        ("", "a"),
        ("aé", r"\/b"),
        ("aé/b = ", r"\ud83e"),
        ("aé/b = 🦀 ", r"c\n"),
    ] {
        let at = one.place(1, before, Unit::Bytes);
        let rest = &file[at.column as usize - 1..];
        assert!(rest.starts_with(letter), "{before}: {rest}");
    }
    let next = one.place(2, "", Unit::Bytes);
    assert!(file[next.column as usize - 1..].starts_with("d\"]"));
}

/// A reason at the end of a cell is one for nothing: cells are run one by one.
#[test]
fn a_comment_ends_with_its_cell() {
    let one = notebook(&[("code", "a\n# why\n\n"), ("code", "b"), ("code", "c # why")]);
    assert_eq!(one.text, "a\n# why\n\n \nb\nc # why\n");
    assert_eq!(one.code, "a\n# why\n\n0\nb\nc # why\n");
    assert_eq!(
        [3, 4, 5].map(|line| one.cell(line)),
        [(1, 3), (1, 3), (2, 1)]
    );
}

#[test]
fn a_source_may_be_one_string() {
    let file =
        r#"{"cells": [{"cell_type": "code", "source": "a = 1\nb = \"x\"\nc"}], "nbformat": 4}"#;
    let one = read(file).unwrap().unwrap();
    assert_eq!(one.text, "a = 1\nb = \"x\"\nc\n");
    for (line, letter) in [(1, 'a'), (2, 'b'), (3, 'c')] {
        let at = one.place(line, "", Unit::CodePoints);
        assert_eq!(at.line, 1);
        assert_eq!(file.chars().nth(at.column as usize - 1), Some(letter));
        assert_eq!(one.cell(line), (1, line));
    }
    assert_eq!(one.place(99, "", Unit::Bytes).line, 1);
}

#[test]
fn what_is_no_python_is_blanked() {
    for (cell, python) in [
        ("%matplotlib inline\nx = 1", "'                '\nx = 1"),
        ("if x:\n    %cd y\n    z", "if x:\n    '   '\n    z"),
        ("%time f()", "_;    f()"),
        ("%timeit -n 3 f()", "_;           f()"),
        ("%timeit -n3 -q -r 2 f()", "_;                  f()"),
        ("%prun -r -s cumtime f()", "_;                  f()"),
        ("%timeit -n 3", "'          '"),
        ("p = %time f()", "p =       f()"),
        ("%time %run x", "'          '"),
        ("s = \"a \\\n%d b\"\nf()", "s = \"a \\\n%d b\"\nf()"),
        ("raise SystemExit(1)\nf()", "0 or  SystemExit(1)\nf()"),
        ("raise", "False"),
        ("raise x from y", "raise x from y"),
        ("if x:\n    raise y", "if x:\n    raise y"),
        (
            "%%script --bg env A=1 python3\nf()",
            "'                           '\nf()",
        ),
        ("f?", "''"),
        ("?f", "''"),
        ("x = a  # what?", "x = a  # what?"),
        ("x = (a\n% b)", "x = (a\n% b)"),
        ("x = '''\n%a\n!b\n'''", "x = '''\n%a\n!b\n'''"),
        ("x = 1 \\\n% 2", "x = 1 \\\n% 2"),
        ("x = \"a=!b\"", "x = \"a=!b\""),
        ("x != y", "x != y"),
        ("%%time\nf()", "'    '\nf()"),
        ("%%html\n<p>\n\n!\n", "'    '\n' '\n\n0"),
        ("%", "0"),
        ("x = %env HOME", "x = '       '"),
        ("%%capture out\nimport os", "'           '\nimport os"),
    ] {
        assert_eq!(code(cell), (python.to_owned(), Vec::new()), "{cell}");
    }
}

#[test]
fn what_a_shell_runs_is_listed() {
    for (cell, python, shell) in [
        ("!ls a\nx", "'   '\nx", ("sh", "ls a\n")),
        ("if x:\n    !ls", "if x:\n    ' '", ("sh", "ls\n")),
        ("y = !ls", "y = ' '", ("sh", "ls\n")),
        ("!!ls", "'  '", ("sh", "ls\n")),
        ("%time !ls a", "'         '", ("sh", "ls a\n")),
        ("d[\"a\"] = !ls", "d[\"a\"] = ' '", ("sh", "ls\n")),
        ("x: list = !ls", "x: list = ' '", ("sh", "ls\n")),
        ("%sx ls", "'    '", ("sh", " ls\n")),
        ("!a \\\n  b\nc", "'  '\n' '\nc", ("sh", "a \\\n  b\n")),
        (
            "%%bash\n# why\nls\n",
            "'    '\n# why\n''",
            ("bash", "# why\nls\n"),
        ),
        (
            "%%script --out x env -S bash -e\nls",
            "'                             '\n''",
            ("bash", "ls\n"),
        ),
        (
            "%%script /bin/sh -e\nls",
            "'                 '\n''",
            ("sh", "ls\n"),
        ),
    ] {
        let shell = vec![(shell.0, shell.1.to_owned())];
        assert_eq!(code(cell), (python.to_owned(), shell), "{cell}");
    }
}

#[test]
fn what_is_no_notebook_says_why() {
    let why = |file: &str| read(file).unwrap_err();
    assert_eq!(why("{").at, Position { line: 1, column: 1 });
    assert!(why("import os\n").why.starts_with("no notebook: "));
    assert!(why("{\"worksheets\": []}").why.contains("format 3"));
    let broken = why("{\"cells\": [\n {\"cell_type\": \"code\"}]}");
    assert_eq!(broken.at.line, 2);
    assert!(
        why("{\"cells\": [{\"cell_type\": \"code\", \"source\": 5}]}")
            .why
            .starts_with("no notebook")
    );
    let inner = why("{\"cells\": [\n {\"cell_type\": \"code\", \"source\":\n  [\"a\",\n   5]}]}");
    assert_eq!(inner.at, Position { line: 4, column: 4 });
    let inner = why("{\"cells\": [{\"cell_type\": \"code\", \"source\": [5]}]}");
    assert_eq!(inner.at.line, 1);
    assert!(inner.at.column > 40, "{inner:?}");
    let r = r#"{"cells": [], "metadata": {"language_info": {"name": "R"}}}"#;
    assert!(read(r).unwrap().is_none());
    assert_eq!(read("\u{feff}{\"cells\": []}").unwrap().unwrap().text, "");
}

/// Whatever cells hold, code and text have the same length and the same lines.
#[test]
fn odd_cells_end() {
    let parts = [
        "%", "%%", "!", "?", "é", "\n", "\r", "=", " ", "'''", "\\", "(", "%time", "🦀", "#",
        "\u{2028}", "bash", "\t",
    ];
    let mut seed = 7_usize;
    for _ in 0..3000 {
        let mut cell = String::new();
        for _ in 0..12 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            cell.push_str(parts[(seed >> 33) % parts.len()]);
        }
        let one = notebook(&[("code", &cell), ("code", "x")]);
        assert_eq!(one.code.len(), one.text.len(), "{cell:?}");
        let breaks =
            |text: &str| -> Vec<usize> { text.match_indices('\n').map(|(at, _)| at).collect() };
        assert_eq!(breaks(&one.code), breaks(&one.text), "{cell:?}");
        assert_eq!(one.lines.len(), breaks(&one.text).len(), "{cell:?}");
        assert!(one.code.ends_with("\nx\n"), "{cell:?}");
        assert_eq!(one.text.matches('x').count(), 1 + cell.matches('x').count());
    }
    let file = written(&[("code", "!ls é\n%%x")]);
    for (at, _) in file.char_indices() {
        assert!(read(&file[..at]).is_err(), "{at}");
    }
}
