//! What users complain of in other linters: each row of `tests/complaints.md` names its test, and those that
//! are about one text or one run stand here.

mod texts;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::{BAD, Fallible, concise, good, run, status, text, write};

/// Each row names tests that are there, and no row is missing.
#[test]
fn every_complaint_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = include_str!("complaints.md");
    let mut numbers = Vec::new();
    for row in list.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let Some(Ok(number)) = cells.get(1).map(|cell| cell.parse::<u32>()) else {
            continue;
        };
        numbers.push(number);
        let quoted: Vec<&str> = cells[3].split('`').skip(1).step_by(2).collect();
        assert!(
            !quoted.is_empty() && quoted.len().is_multiple_of(2),
            "{row}"
        );
        for pair in quoted.chunks(2) {
            let file = std::fs::read_to_string(root.join(pair[0]));
            let file = file.unwrap_or_else(|error| panic!("C {number}: {}: {error}", pair[0]));
            let name = pair[1];
            let known = ["fn ", "def ", "  "].iter().any(|kind| {
                let end = if *kind == "  " { ":\n" } else { "(" };
                file.contains(&format!("{kind}{name}{end}"))
            });
            assert!(known, "C {number}: {} has no {name}", pair[0]);
        }
    }
    assert_eq!(numbers, (1..=66).collect::<Vec<u32>>());
    for (number, ..) in texts::TEXTS {
        let row = list
            .lines()
            .find(|row| row.starts_with(&format!("| {number} |")));
        assert!(
            row.unwrap()
                .contains("`texts_are_judged_as_their_rows_want`"),
            "C {number}"
        );
    }
}

#[test]
fn texts_are_judged_as_their_rows_want() -> Fallible {
    let folder = tempfile::tempdir()?;
    for (_, name, code, _) in texts::TEXTS {
        write(folder.path(), name, code);
    }
    let output = run(folder.path(), &["--no-config", "--output-format", "json"])?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let mut found: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    for list in ["findings", "justified", "problems"] {
        for one in report[list].as_array().unwrap() {
            let of = |key: &str| one[key].as_str().unwrap_or_default();
            let rule = of("rule").replace("detaching-spawn", "");
            let line = one["line"].as_u64().unwrap_or_default();
            let words = [line.to_string(), rule, of("verdict").to_owned()];
            let words: Vec<&str> = words
                .iter()
                .flat_map(|word| word.split_whitespace())
                .collect();
            found
                .entry(of("path"))
                .or_default()
                .push((line, words.join(" ")));
        }
    }
    for (number, name, _, wanted) in texts::TEXTS {
        let mut all = found.remove(name).unwrap_or_default();
        all.sort_by_key(|(line, _)| *line);
        let all: Vec<&str> = all.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(all, *wanted, "C {number}: {name}");
    }
    Ok(())
}

/// C 23, C 31: what is in no language that is read.
#[test]
fn a_named_file_of_another_kind_is_a_remark() -> Fallible {
    let folder = tempfile::tempdir()?;
    for name in ["picture.png", "stub.pyi"] {
        write(folder.path(), name, BAD);
        let output = run(folder.path(), &[name])?;
        let said = text(&output.stderr);
        assert_eq!(status(&output), 0, "{name}");
        assert!(
            said.starts_with(&format!("note: {name} is neither")),
            "{said}"
        );
    }
    Ok(())
}

/// C 33: one file that no parser could hold on its stack does not hide the others.
#[test]
fn a_deep_file_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let deep = |open: &str, close: &str| [open.repeat(10_000), close.repeat(10_000)].concat();
    write(at, "bad.py", BAD);
    write(at, "brackets.py", format!("{BAD}x = {}\n", deep("(", ")")));
    write(
        at,
        "blocks.rs",
        format!("fn f() {{ setsid(); {} }}\n", deep("{", "}")),
    );
    let lines = concise(at, &[]);
    for name in [
        "bad.py:2:25: detaching-spawn",
        "brackets.py:2:25: detaching-spawn",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(name)), "{lines:?}");
    }
    assert!(lines.last().unwrap().starts_with("3 files"), "{lines:?}");
}

/// C 35, C 44, C 64: nothing that was not read is a success, and what a file holds is not our failure.
#[test]
fn statuses_say_whose_fault_it_is() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "broken.py", "import subprocess\nsubprocess.Popen((\n");
    write(at, "undeclared.py", b"# \xe9\nimport os\nos.setsid()\n");
    write(
        at,
        "latin.py",
        [b"# coding: latin-1\n# \xe9\n", BAD.as_bytes()].concat(),
    );
    std::fs::create_dir(at.join("empty"))?;
    write(at, "words/notes.txt", BAD);
    let of = |args: &[&str]| -> std::io::Result<(i32, String)> {
        let output = run(at, args)?;
        Ok((status(&output), text(&output.stderr)))
    };
    for name in ["broken.py", "undeclared.py", "latin.py"] {
        assert_eq!(of(&[name])?.0, 1, "{name}");
    }
    for args in [
        &["none.py"][..],
        &["--no-such-option"],
        &["--config", "none.toml"],
    ] {
        assert_eq!(of(args)?.0, 2, "{args:?}");
    }
    for name in ["empty", "words"] {
        let (status, said) = of(&[name])?;
        assert_eq!(status, 0, "{name}");
        assert!(
            said.contains(&format!("no file was read in {name}: ")),
            "{said}"
        );
        let (status, said) = of(&["--require-files", name])?;
        assert_eq!(status, 2, "{name}");
        assert!(said.contains("error: no file was read"), "{said}");
    }
    write(at, "words/good.py", good());
    assert_eq!(of(&["--require-files", "words"])?, (0, String::new()));
    assert_eq!(of(&["--require-files", "broken.py"])?.0, 1);
    Ok(())
}

/// C 39: a hook is built where it is used, so few packages may be needed.
#[test]
fn few_packages_are_built() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--package",
            "check-detached-spawns",
        ])
        .args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let tree = text(&output.stdout);
    let packages: std::collections::BTreeSet<&str> = tree.lines().collect();
    assert!((50..=160).contains(&packages.len()), "{}", packages.len());
}
