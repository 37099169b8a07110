//! Configuration files: which one holds, what each key does, what is said of a wrong one.

mod keys;

use std::path::Path;

use crate::command::{BAD, CONFIG, Fallible, concise, pipe, project, run, status, text, write};

#[test]
fn levels_come_from_the_file_and_flags_beat_it() {
    let folder = project("[levels]\nnew-session = 'warn'\n");
    let of = |args: &[&str]| status(&run(folder.path(), args).unwrap());
    assert_eq!(of(&[]), 0);
    assert_eq!(of(&["--no-config"]), 1);
    assert_eq!(of(&["-D", "new-session"]), 1);
    assert_eq!(of(&["-D", "all"]), 1);
    write(
        folder.path(),
        CONFIG,
        "[levels]\nnew-session = 'deny'\nall = 'allow'\n",
    );
    assert_eq!(of(&[]), 1, "what is named beats all, whatever stands first");
    assert_eq!(of(&["-A", "all"]), 0);
}

#[test]
fn what_is_excluded_is_not_read() {
    let folder = project("exclude = ['vendored/', '/made.py']\n");
    for name in ["vendored/a.py", "x/vendored/b.py", "made.py", "x/made.py"] {
        write(folder.path(), name, BAD);
    }
    let read = |args: &[&str]| -> Vec<String> {
        let lines = concise(folder.path(), args);
        let name = |line: &String| line.split_once(':').map(|(name, _)| name.to_owned());
        lines.iter().filter_map(name).collect()
    };
    assert_eq!(read(&[]), ["bad.py", "x/made.py"]);
    assert_eq!(read(&["--exclude", "x/"]), ["bad.py"]);
    assert_eq!(
        read(&["vendored/a.py"]),
        ["vendored/a.py"],
        "what is named is read"
    );
    assert!(read(&["--force-exclude", "vendored/a.py", "made.py"]).is_empty());
    assert_eq!(read(&["--no-config"]).len(), 5);
    // Patterns hold from the configuration's folder on, wherever the run stands.
    let inner = folder.path().join("x");
    let lines = concise(&inner, &[]);
    assert!(
        lines[0].starts_with("made.py:2:") && lines[1].starts_with("1 file,"),
        "{lines:?}"
    );
}

#[test]
fn the_nearest_file_holds_alone() {
    let folder = project("[levels]\nall = 'allow'\n");
    write(
        folder.path(),
        "inner/pyproject.toml",
        "[tool.check-detached-spawns]\nexclude = ['no.py']\n",
    );
    for name in [
        "inner/no.py",
        "inner/yes.py",
        "inner/deep/no.py",
        "plain/a.py",
    ] {
        write(folder.path(), name, BAD);
    }
    write(folder.path(), "plain/pyproject.toml", "[tool.black]\n");
    let lines = concise(folder.path(), &[]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("inner/yes.py:2:"),
        "nothing is merged: {lines:?}"
    );
    assert_eq!(lines[1].split(' ').next(), Some("3"), "{lines:?}");
    // The search ends at the repository's root.
    std::fs::create_dir_all(folder.path().join("other/.git")).unwrap();
    write(folder.path(), "other/b.py", BAD);
    assert!(concise(folder.path(), &["other"])[0].starts_with("other/b.py:2:"));
}

#[test]
fn files_of_others_may_hold_it() {
    for (name, table) in [
        (".check-detached-spawns.toml", ""),
        ("pyproject.toml", "[tool.check-detached-spawns]\n"),
        ("Cargo.toml", "[package.metadata.check-detached-spawns]\n"),
        ("Cargo.toml", "[workspace.metadata.check-detached-spawns]\n"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "bad.py", BAD);
        write(
            folder.path(),
            name,
            format!("{table}levels = {{ all = 'allow' }}\n"),
        );
        assert_eq!(
            status(&run(folder.path(), &[]).unwrap()),
            0,
            "{name} {table}"
        );
        // Our own file comes first.
        write(folder.path(), CONFIG, "");
        assert_eq!(
            status(&run(folder.path(), &[]).unwrap()),
            1,
            "{name} {table}"
        );
    }
}

#[test]
fn a_named_file_holds_for_all() {
    let folder = project("");
    write(
        folder.path(),
        "sub/quiet.toml",
        "exclude = ['/gone.py']\n[levels]\nall = 'allow'\n",
    );
    write(
        folder.path(),
        "sub/check-detached-spawns.toml",
        "[levels]\nall = 'deny'\n",
    );
    write(folder.path(), "sub/bad.py", BAD);
    let with = ["--config", "sub/quiet.toml"];
    assert_eq!(status(&run(folder.path(), &with).unwrap()), 0);
    let missing = run(folder.path(), &["--config", "none.toml"]).unwrap();
    assert_eq!(status(&missing), 2);
    assert!(
        text(&missing.stderr).contains("cannot read the configuration none.toml: no such file")
    );
    write(folder.path(), "Cargo.toml", "[package]\nname = 'x'\n");
    let none = run(folder.path(), &["--config", "Cargo.toml"]).unwrap();
    assert_eq!(status(&none), 2);
    assert!(text(&none.stderr).contains("[package.metadata.check-detached-spawns]"));
    let both = run(folder.path(), &["--no-config", "--config", "x"]).unwrap();
    assert_eq!(status(&both), 2);
}

#[test]
fn standard_input_has_the_rules_of_its_name() {
    let folder = project("");
    write(
        folder.path(),
        "quiet/check-detached-spawns.toml",
        "[levels]\nall = 'allow'\n",
    );
    let of = |name: &str| {
        let output = pipe(folder.path(), &["--stdin-filename", name], BAD.as_bytes());
        status(&output.unwrap())
    };
    assert_eq!((of("quiet/new.py"), of("loud.py")), (0, 1));
}

#[test]
fn a_wrong_configuration_is_told_with_its_place() {
    for (name, config, said) in [
        (
            CONFIG,
            "\nexlude = []\n",
            "check-detached-spawns.toml:2:1: there is no key `exlude`; the nearest one is `exclude`",
        ),
        (
            CONFIG,
            "[levels]\nnew-sesion = 'deny'\n",
            "check-detached-spawns.toml:2:1: there is no mechanism",
        ),
        (CONFIG, "exclude = [\n", "check-detached-spawns.toml:"),
        (
            CONFIG,
            "# \u{e9}\n[levels]\nall = \"loud\"\n",
            "check-detached-spawns.toml:3:7: there is no level `loud`",
        ),
        (
            "pyproject.toml",
            "[tool.check-detached-spawns]\nx = 1\n",
            "pyproject.toml:2:1: there is no key `x`",
        ),
        (
            "sub/Cargo.toml",
            "[package.metadata]\ncheck-detached-spawns = 3\n",
            "sub/Cargo.toml:2:25: `check-detached-spawns` is a table, not an integer",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "sub/bad.py", BAD);
        write(folder.path(), name, config);
        let output = run(folder.path(), &["."]).unwrap();
        let complaint = text(&output.stderr);
        assert_eq!(status(&output), 2, "{config}");
        assert!(
            complaint.starts_with(&format!("error: {said}")),
            "{complaint}"
        );
        assert!(
            output.stdout.is_empty(),
            "a wrong configuration judges nothing"
        );
        assert_eq!(
            status(&run(folder.path(), &["--no-config", "."]).unwrap()),
            1
        );
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bad.py", BAD);
    write(folder.path(), CONFIG, b"# \xff\n");
    let output = run(folder.path(), &[]).unwrap();
    assert!(
        text(&output.stderr)
            .contains("check-detached-spawns.toml:1: the configuration is no UTF-8")
    );
}

#[test]
fn settings_are_shown_as_a_configuration() -> Fallible {
    let folder = project(
        "exclude = ['a\"b/']\nmin-reason-length = 12\nreason-pattern = 'A-\\d'\nmarker = 'must-outlive'\ndetaching-calls = ['a.b', { path = 'c.d', flag = 'definition' }]\n[[allow]]\npath = 'x.py'\nmechanism = 'all'\nreason = 'the daemons of team A-1'\nuntil = '2027-06-30'\n[levels]\nopener = 'deny'\n",
    );
    let shown = |args: &[&str]| -> Result<String, Box<dyn std::error::Error>> {
        let output = run(folder.path(), &[&["--show-settings"], args].concat())?;
        assert_eq!(status(&output), 0, "{}", text(&output.stderr));
        Ok(text(&output.stdout))
    };
    let own = shown(&["-W", "pty-spawn,new-group"])?;
    assert!(
        own.starts_with("# settings of .\n# from check-detached-spawns.toml\n"),
        "{own}"
    );
    for line in [
        "opener = \"deny\"",
        "new-group = \"warn\"",
        "[[allow]] # check-detached-spawns.toml:6",
        "marker = \"must-outlive\"",
    ] {
        assert!(own.lines().any(|own| own == line), "{line}: {own}");
    }
    // What is shown says the same when it is read.
    write(folder.path(), "again.toml", &own);
    let again = shown(&["--config", "again.toml"])?;
    let body = |text: &str| {
        text.lines()
            .filter(|line| !line.contains('#'))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(body(&own), body(&again));
    assert!(shown(&["--no-config"])?.contains("# no configuration file holds here"));
    let two = run(folder.path(), &["--show-settings", "a", "b"])?;
    assert_eq!(status(&two), 2);
    Ok(())
}

/// Editors read the schema; a validator agrees with the program on what is right.
#[test]
fn the_schema_takes_what_the_program_takes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(python) = crate::cli::validator() else {
        return;
    };
    let right = [
        "{}",
        r#"{"levels": {"all": "deny", "opener": "allow"}, "exclude": ["a/"], "marker": "must-outlive", "min-reason-length": 12}"#,
        r#"{"allow": [{"path": "a", "mechanism": ["all"], "reason": "the daemon of x", "until": "2027-01-01"}]}"#,
        r#"{"detaching-calls": ["a.b", {"path": "a::c", "flag": "definition"}], "owning-calls": ["x.y"]}"#,
    ];
    let wrong = [
        r#"{"exlude": []}"#,
        r#"{"levels": {"new-sesion": "deny"}}"#,
        r#"{"levels": {"all": "error"}}"#,
        r#"{"min-reason-length": 3}"#,
        r#"{"marker": "detached"}"#,
        r#"{"allow": [{"path": "a", "mechanism": "all"}]}"#,
        r#"{"detaching-calls": ["launch"]}"#,
    ];
    let script = "import json, sys, jsonschema\n\
        schema = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))\n\
        schema.check_schema(schema.schema)\n\
        print(*[int(schema.is_valid(json.loads(text))) for text in sys.argv[2:]])\n";
    let output = std::process::Command::new(python)
        .args(["-c", script])
        .arg(root.join("src/config/schema.json"))
        .args(right)
        .args(wrong)
        .output()
        .unwrap();
    assert_eq!(
        text(&output.stdout),
        "1 1 1 1 0 0 0 0 0 0 0\n",
        "{}",
        text(&output.stderr)
    );
}

/// A pull request may put anything under the name of a configuration.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read_as_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.py", "x = 1\n");
    std::os::unix::fs::symlink("/dev/zero", folder.path().join(CONFIG)).unwrap();
    let output = run(folder.path(), &["."]).unwrap();
    assert_eq!(status(&output), 2);
    let said = text(&output.stderr);
    assert!(said.contains("no regular file"), "{said}");
    // One that leads nowhere was meant to hold something; those of others hold what they hold.
    std::fs::remove_file(folder.path().join(CONFIG)).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("pyproject.toml")).unwrap();
    assert_eq!(status(&run(folder.path(), &["."]).unwrap()), 0);
    std::os::unix::fs::symlink("nowhere", folder.path().join(CONFIG)).unwrap();
    let output = run(folder.path(), &["."]).unwrap();
    let said = text(&output.stderr);
    assert!(
        said.contains("cannot read the configuration check-detached-spawns.toml: no such file"),
        "{said}"
    );
}
