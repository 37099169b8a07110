//! Markers put in and taken out: only those, and every other byte stays.

use crate::command::{BAD, CALL, Fallible, REASON, good, run, status, text, write};

/// Adds markers to `code` in a file called `name`, and gives what stands there then.
fn marked(name: &str, code: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), name, code);
    let first = run(folder.path(), &["--add-markers"]).unwrap();
    let once = std::fs::read_to_string(folder.path().join(name)).unwrap();
    if once != code {
        assert_eq!(status(&first), 1, "a marker without a reason still fails");
        assert!(text(&first.stdout).contains("empty-justification"));
    }
    run(folder.path(), &["--add-markers"]).unwrap();
    let twice = std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(once, twice, "a second time changes nothing");
    once
}

#[test]
fn markers_are_added_where_they_reach_one_spawn() {
    let py = |code: &str| marked("a.py", code);
    assert_eq!(py(BAD), BAD.replace("\nsub", "\n# detached-spawn:\nsub"));
    // Ends of lines, a byte order mark and indentation stay what they are.
    let windows = format!("\u{feff}{}", BAD.replace('\n', "\r\n"));
    assert_eq!(
        py(&windows),
        windows.replace("\nsub", "\n# detached-spawn:\r\nsub")
    );
    let last = "import subprocess\nif x:\n\tsubprocess.Popen(a, start_new_session=True)";
    assert_eq!(
        py(last),
        last.replace("\tsub", "\t# detached-spawn:\n\tsub")
    );
    // Two in one statement, each above its own argument.
    let two = "import subprocess\nboth = (\n    subprocess.Popen(\n        a,\n        start_new_session=True,\n    ),\n    subprocess.Popen(\n        b,\n        start_new_session=True,\n    ),\n)\n";
    assert_eq!(
        py(two),
        two.replace("        start", "        # detached-spawn:\n        start")
    );
    // No line of its own: behind the line.
    let inline = "import subprocess\nif x: subprocess.Popen(a, start_new_session=True)\n";
    assert_eq!(
        py(inline),
        inline.replace("True)", "True)  # detached-spawn:")
    );
    // Two kinds on one line are told apart by their mechanisms; two of one kind are left.
    let same = "import subprocess\nf(subprocess.Popen(a, start_new_session=True), subprocess.Popen(b, start_new_session=True))\n";
    assert_eq!(py(same), same);
    // Never between a line and what it goes on with.
    let cut = "import subprocess\nif 1: \\\n  subprocess.Popen(a, start_new_session=True)\n";
    assert_eq!(py(cut), cut.replace("True)", "True)  # detached-spawn:"));
    // Above decorators and attributes, which belong to the statement.
    let decorated = "import subprocess\n@start(subprocess.Popen(a, start_new_session=True))\ndef f():\n    pass\n";
    assert_eq!(
        py(decorated),
        decorated.replace("@start", "# detached-spawn:\n@start")
    );
    // What is justified already, or is a warning, gets none.
    assert_eq!(py(&good()), good());
    let warned = "import webbrowser\nwebbrowser.open('x')\n";
    assert_eq!(py(warned), warned);
}

#[test]
fn markers_are_added_in_rust() {
    let code = "use std::os::unix::process::CommandExt;\nuse std::process::Command;\n\nfn f() {\n    let child = Command::new(\"x\")\n        .arg(\"y\")\n        .process_group(0)\n        .spawn();\n}\n";
    let expected = code.replace("    let child", "    // detached-spawn:\n    let child");
    assert_eq!(marked("a.rs", code), expected);
}

#[test]
fn markers_name_mechanisms_where_they_must() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "check-detached-spawns.toml",
        "require-mechanism = true\nmarker = 'must-outlive'\n",
    );
    write(folder.path(), "a.py", BAD);
    run(folder.path(), &["--add-markers"]).unwrap();
    let code = std::fs::read_to_string(folder.path().join("a.py")).unwrap();
    assert!(code.contains("# must-outlive[new-session]:\nsub"), "{code}");
}

fn fixed(code: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.py", code);
    run(folder.path(), &["--fix"]).unwrap();
    let once = std::fs::read_to_string(folder.path().join("a.py")).unwrap();
    run(folder.path(), &["--fix"]).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a.py")).unwrap(),
        once
    );
    once
}

/// Lines below a marker that speaks of nothing may be somebody else's words.
#[test]
fn other_comments_stay() {
    for below in ["SPDX-License-Identifier: MIT", "and more of it.", "///"] {
        let code = format!("# detached-spawn: it must outlive its parent\n# {below}\nx = 1\n");
        assert_eq!(fixed(&code), code);
    }
}

#[test]
fn only_justifications_of_nothing_are_taken_out() {
    let stale = "# detached-spawn: the spawn that was here is gone\n";
    let plain = "x = 1  # a comment\n";
    assert_eq!(fixed(&format!("{stale}\n{plain}")), format!("\n{plain}"));
    assert_eq!(
        fixed(&format!("\u{feff}{stale}{plain}").replace('\n', "\r\n")),
        format!("\u{feff}{plain}").replace('\n', "\r\n")
    );
    assert_eq!(
        fixed("x = 1  # detached-spawn: nothing detaches here\ny = 2\n"),
        "x = 1\ny = 2\n"
    );
    // Another tool's words in the same comment stay.
    assert_eq!(
        fixed("x = 1  # detached-spawn: nothing detaches here  # noqa: E501\n"),
        "x = 1  # noqa: E501\n"
    );
    // A second copy goes; one that says something else is for people.
    let copy = format!(
        "import subprocess\n{REASON}{}",
        CALL.replace(
            '\n',
            "  # detached-spawn: the updater must outlive the process that it replaces\n"
        )
    );
    let left = fixed(&copy);
    assert_eq!(left.matches("detached-spawn:").count(), 1, "{left}");
    let other = copy.replace(
        "True)  # detached-spawn: the updater",
        "True)  # detached-spawn: the other updater",
    );
    assert_eq!(fixed(&other), other);
    // One that only stands in the wrong place has a reason that someone wrote.
    let near = format!("import subprocess\n{REASON}\n\n{CALL}");
    assert_eq!(fixed(&near), near);
    // Faults of other kinds, and good ones, stay.
    for code in [
        good(),
        format!("import subprocess\n# detached-spawn: todo\n{CALL}"),
        "# detached spawn: malformed\n".to_owned(),
    ] {
        assert_eq!(fixed(&code), code);
    }
}

#[cfg(unix)]
#[test]
fn files_are_replaced_whole_and_keep_what_they_are() -> Fallible {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "real/tool.py", BAD);
    std::fs::set_permissions(
        at.join("real/tool.py"),
        std::fs::Permissions::from_mode(0o751),
    )?;
    symlink("real/tool.py", at.join("link.py"))?;
    run(at, &["--add-markers", "link.py"])?;
    assert!(std::fs::symlink_metadata(at.join("link.py"))?.is_symlink());
    let real = std::fs::metadata(at.join("real/tool.py"))?;
    assert_eq!(real.permissions().mode() & 0o777, 0o751);
    assert!(std::fs::read_to_string(at.join("real/tool.py"))?.contains("# detached-spawn:\n"));
    assert_eq!(
        std::fs::read_dir(at.join("real"))?.count(),
        1,
        "no other file is left"
    );
    // A file in another encoding is left alone, and that is said.
    let latin = b"# coding: latin-1\n# \xe9\nimport subprocess\nsubprocess.Popen(['x'], start_new_session=True)\n";
    write(at, "latin.py", latin);
    let output = run(at, &["--add-markers", "latin.py"])?;
    assert!(
        text(&output.stderr).contains("latin.py: not changed, it is not in UTF-8"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(std::fs::read(at.join("latin.py"))?, latin);
    Ok(())
}
