//! C 30: notebooks. Cells are read as Python, what a shell runs in them as shell text, and what is found is told
//! with its cell, and with its place in the file.

use std::path::Path;

use serde_json::{Value, json};

use crate::command::{BAD, FORMATS, Fallible, concise, pipe, run, status, text, write};

const CELLS: &[(&str, &str)] = &[
    ("markdown", "# How to start it"),
    (
        "code",
        "%matplotlib inline\nimport subprocess\n!pip install \"x\" | tail -1",
    ),
    (
        "code",
        "for name in 'ab':\n    subprocess.Popen(['serve', name],\n                     start_new_session=True)",
    ),
    (
        "code",
        "%%bash\ncd /srv\n# detached-spawn: the notebook's server must outlive its kernel\nsetsid serve &\nsetsid other &",
    ),
    (
        "code",
        "# detached-spawn: it is looked at from another machine\n!nohup setsid tensorboard &\nlogs = !docker run -d x",
    ),
    ("raw", "!setsid raw"),
];

fn notebook(language: &str) -> String {
    let cell = |(kind, text): &(&str, &str)| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        json!({"cell_type": kind, "metadata": {}, "source": lines})
    };
    let file = json!({
        "cells": CELLS.iter().map(cell).collect::<Vec<_>>(),
        "metadata": {"language_info": {"name": language}},
        "nbformat": 4, "nbformat_minor": 5,
    });
    serde_json::to_string_pretty(&file).unwrap_or_default()
}

fn report(folder: &Path, args: &[&str]) -> Value {
    let format = ["--output-format", "json"];
    let output = run(folder, &[args, &format].concat()).expect("it runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn what_is_found_has_its_cell_and_its_place() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "sub/a.ipynb", notebook("python"));
    let file = notebook("python");
    let lines: Vec<&str> = file.lines().collect();
    let report = report(at, &["--notebooks", "."]);
    let of = |list: &str| -> Vec<(String, String)> {
        let all = report[list].as_array().expect("a list").iter();
        all.map(|one| {
            let number = |key: &str| {
                one[key]
                    .as_u64()
                    .and_then(|number| usize::try_from(number).ok())
                    .expect("a number")
            };
            let line = lines[number("line") - 1];
            let rest: String = line.chars().skip(number("column") - 1).collect();
            let message = one["message"].as_str().expect("a text");
            let cell = message.split(": ").next().unwrap_or_default();
            (cell.to_owned(), rest)
        })
        .collect()
    };
    let found = of("findings");
    for (found, (cell, place)) in found.iter().zip([
        ("cell 3, line 3", "start_new_session=True)\""),
        ("cell 4, line 5", "setsid other &\""),
        ("cell 5, line 3", "-d x\""),
    ]) {
        assert_eq!(found.0, cell);
        assert!(found.1.starts_with(place), "{found:?}");
    }
    assert_eq!(found.len(), 3, "{found:?}");
    let justified = of("justified");
    let cells: Vec<&str> = justified.iter().map(|(cell, _)| cell.as_str()).collect();
    assert_eq!(cells, ["cell 4, line 4", "cell 5, line 2"], "{justified:?}");
    assert_eq!(report["problems"], json!([]));
    Ok(())
}

#[test]
fn people_see_the_cell() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "a.ipynb", notebook("python"));
    let shown = text(&run(at, &["a.ipynb"])?.stdout);
    assert!(shown.contains("a.ipynb:cell 3:3:22"), "{shown}");
    assert!(shown.contains(" 2 "), "{shown}");
    // Neither the cell before nor the one after is part of it.
    assert!(!shown.contains("pip install"), "{shown}");
    let lines = concise(at, &["a.ipynb"]);
    assert!(
        lines[0]
            .contains(" detaching-spawn[new-session]: cell 3, line 3: `start_new_session=True`"),
        "{lines:?}"
    );
    for format in FORMATS {
        let shown = text(&run(at, &["--output-format", format, "a.ipynb"])?.stdout);
        assert!(shown.contains("ell 3, line 3"), "{format}: {shown}");
    }
    Ok(())
}

/// In a folder they are read where that is asked for; one that is named is read.
#[test]
fn notebooks_are_read_where_they_are_asked_for() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "a.ipynb", notebook("python"));
    write(at, "b.ipynb", notebook("R"));
    write(at, "bad.py", BAD);
    for (args, seen, found) in [
        (&["."][..], 1, 1),
        (&[".", "--notebooks"], 3, 4),
        (&["a.ipynb", "bad.py"], 2, 4),
        (&[".", "--notebooks", "--lang", "rust"], 0, 0),
        (&[".", "--notebooks", "--exclude", "*.ipynb"], 1, 1),
    ] {
        let summary = &report(at, args)["summary"];
        assert_eq!(
            (&summary["files"], &summary["findings"]),
            (&seen.into(), &found.into()),
            "{args:?}"
        );
    }
    let given = pipe(
        at,
        &["--stdin-filename", "x.ipynb", "-q"],
        notebook("python").as_bytes(),
    )?;
    assert_eq!(status(&given), 1);
    Ok(())
}

#[test]
fn what_is_no_notebook_is_a_problem_and_none_is_changed() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "no.ipynb", BAD);
    write(at, "latin.ipynb", b"{\"cells\": [\"\xe9\"]}");
    write(
        at,
        "broken.ipynb",
        notebook("python").replace("for name", "for for"),
    );
    let lines = concise(at, &["--notebooks"]);
    for start in [
        "broken.ipynb:",
        "latin.ipynb: undecodable-file: a notebook that is no UTF-8",
        "no.ipynb:1:1: unparsed-file: no notebook: ",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{lines:?}"
        );
    }
    let broken = lines
        .iter()
        .find(|line| line.contains(": unparsed-file: cell 3, line 1: "));
    assert!(broken.is_some(), "{lines:?}");
    write(at, "a.ipynb", notebook("python"));
    for change in ["--add-markers", "--fix"] {
        let output = run(at, &[change, "a.ipynb"])?;
        let said = text(&output.stderr);
        assert!(
            said.contains("a.ipynb: not changed, it is a notebook"),
            "{said}"
        );
        assert_eq!(status(&output), 1);
        assert_eq!(
            std::fs::read_to_string(at.join("a.ipynb"))?,
            notebook("python")
        );
    }
    Ok(())
}

/// A baseline knows a finding of a notebook though its cells move.
#[test]
fn a_baseline_holds_while_cells_move() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "a.ipynb", notebook("python"));
    let baseline = ["--baseline", "base.json", "a.ipynb"];
    assert_eq!(
        status(&run(at, &[&["--write-baseline"][..], &baseline].concat())?),
        0
    );
    let mut moved: Value = serde_json::from_str(&notebook("python"))?;
    let cells = moved["cells"].as_array_mut().expect("cells");
    cells.insert(0, json!({"cell_type": "code", "source": "x = 1"}));
    write(at, "a.ipynb", moved.to_string());
    assert_eq!(status(&run(at, &baseline)?), 0);
    Ok(())
}

/// A reason at the end of a cell reaches no spawn of the next one, and is told where that is.
#[test]
fn a_reason_stays_in_its_cell() -> Fallible {
    let folder = tempfile::tempdir()?;
    let sources = [
        "import subprocess\n# detached-spawn: the notebook's server must outlive its kernel",
        "subprocess.Popen(['x'], start_new_session=True)",
    ];
    let cells = sources.map(|text| json!({"cell_type": "code", "metadata": {}, "source": text}));
    let file = json!({"cells": cells, "metadata": {}, "nbformat": 4});
    write(folder.path(), "a.ipynb", file.to_string());
    let lines = concise(folder.path(), &["a.ipynb"]);
    let unused =
        "cell 1, line 2: the justification does not reach the detaching spawn on line 1 of cell 2";
    assert!(lines.iter().any(|line| line.ends_with(unused)), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("cell 2, line 1: ")),
        "{lines:?}"
    );
    Ok(())
}
