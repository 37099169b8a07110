//! What is told besides the report, how much of it, and by whom it is wished: the command line or the environment.

use std::path::Path;
use std::process::Output;

use crate::command::{BAD, Fallible, concise, git, program, project, run, status, text, write};

/// The program with variables of the environment.
fn with(at: &Path, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let variables = variables.iter().copied();
    let mut command = program();
    command.current_dir(at).args(args).envs(variables);
    command.output().unwrap()
}

/// The lines of standard error.
fn lines(output: &Output) -> Vec<String> {
    text(&output.stderr).lines().map(str::to_owned).collect()
}

#[test]
fn how_much_is_told() -> Fallible {
    let folder = project("");
    let at = folder.path();
    write(at, "notes.txt", "");
    let of = |args: &[&str]| {
        run(
            at,
            &[&["--output-format=concise", "bad.py", "notes.txt"], args].concat(),
        )
    };
    let finding = "bad.py:2:25: detaching-spawn";
    let (all, findings, nothing) = (of(&[])?, of(&["-q"])?, of(&["-qq"])?);
    assert!(text(&all.stdout).starts_with(finding) && text(&all.stdout).contains("1 file, "));
    assert_eq!(lines(&all).len(), 1, "{:?}", lines(&all));
    assert!(text(&findings.stdout).starts_with(finding));
    assert_eq!(text(&findings.stdout).lines().count(), 1);
    assert!(findings.stderr.is_empty());
    assert!(nothing.stdout.is_empty() && nothing.stderr.is_empty());
    for output in [all, findings, nothing] {
        assert_eq!(status(&output), 1);
    }
    // What fails is told all the same.
    let missing = run(at, &["-qq", "missing.py"])?;
    assert_eq!(status(&missing), 2);
    assert!(text(&missing.stderr).contains("missing.py"), "{missing:?}");
    assert_eq!(status(&of(&["-q", "-v"])?), 2);
    Ok(())
}

#[test]
fn why_a_file_is_read_or_not() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    git(at, &["init", "--quiet"]);
    for (name, content) in [
        (".gitignore", "made/\n*.rs\n"),
        (".ignore", "vendored\n"),
        (".git/info/exclude", "local.py\n"),
        ("check-detached-spawns.toml", "exclude = [\"old/\"]\n"),
        ("a.py", ""),
        ("made/b.py", ""),
        ("c.rs", ""),
        ("vendored/d.py", ""),
        ("local.py", ""),
        ("old/e.py", ""),
        ("new/f.py", ""),
        ("venv/pyvenv.cfg", ""),
        ("g.ipynb", ""),
        ("text", ""),
    ] {
        write(at, name, content);
    }
    let shown = run(at, &["--show-files", "--exclude", "new"])?;
    assert_eq!(text(&shown.stdout), "a.py\n");
    let sources = [
        "note: c.rs: not read: left out by `*.rs` of .gitignore",
        "note: g.ipynb: not read: a notebook: --notebooks reads it",
        "note: local.py: not read: left out by `local.py` of .git/info/exclude",
        "note: made: not read: left out by `made/` of .gitignore",
        "note: new: not read: left out by --exclude",
        "note: old: not read: left out by `exclude` of check-detached-spawns.toml",
        "note: vendored: not read: left out by `vendored` of .ignore",
        "note: venv: not read: a virtual environment, by its pyvenv.cfg",
    ];
    assert_eq!(lines(&shown), sources);
    let report = run(at, &["--show-files", "--output-format=json=report.json"])?;
    assert_eq!(status(&report), 2);
    assert!(!at.join("report.json").exists() && report.stdout.is_empty());
    let told = lines(&run(at, &["-v", "--exclude", "new"])?);
    let others = [
        "note: a.py: read as python",
        "note: .git: not read: git's own",
        "note: text: not read: neither Python nor Rust by its name or first line",
    ];
    for line in sources.iter().chain(&others) {
        assert!(told.iter().any(|own| own == line), "{line}: {told:?}");
    }
    let narrow = [
        "-v",
        "--lang=rust",
        "--force-exclude",
        "--exclude=c.rs",
        "c.rs",
        "a.py",
    ];
    let expected = [
        "note: a.py: not read: python, and --lang names others",
        "note: c.rs: not read: left out, and --force-exclude holds for named files too",
    ];
    assert_eq!(lines(&run(at, &narrow)?), expected);
    // Nothing but git's own folder, and what is excluded, is left out with this.
    let all = run(at, &["--show-files", "--no-ignore", "--notebooks"])?;
    let kept = "a.py\nc.rs\ng.ipynb\nlocal.py\nmade/b.py\nnew/f.py\nvendored/d.py\n";
    assert_eq!(text(&all.stdout), kept);
    assert_eq!(lines(&all), [sources[5]]);
    Ok(())
}

/// A file in the repository is judged, whatever its name: it was added by force, or before it was ignored.
#[test]
fn what_git_tracks_is_read_although_it_is_ignored() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    git(at, &["init", "--quiet"]);
    write(at, ".gitignore", "lib/\n");
    for name in [
        "lib/a.py",
        "lib/b.py",
        "lib/old.py",
        "lib/skip.py",
        "src/c.py",
    ] {
        write(at, name, BAD);
    }
    git(
        at,
        &["add", "--force", "lib/a.py", "lib/old.py", "lib/skip.py"],
    );
    write(at, ".ignore", "skip.py\n");
    let args = ["--show-files", "-q", "--exclude", "old.py"];
    let of =
        |at: &Path, named: &[&str]| text(&run(at, &[&args[..], named].concat()).unwrap().stdout);
    assert_eq!(of(at, &[]), "lib/a.py\nsrc/c.py\n");
    // What is ignored is read where it is named.
    assert_eq!(of(at, &["lib", "src"]), "lib/a.py\nlib/b.py\nsrc/c.py\n");
    assert_eq!(of(&at.join("src"), &[".."]), "../lib/a.py\nc.py\n");
    let elsewhere = tempfile::tempdir()?;
    let named = at.to_str().unwrap();
    assert_eq!(of(elsewhere.path(), &[named]).lines().count(), 2);
    // A hook has an index of its own, which is no other repository's.
    let index = elsewhere.path().join("index");
    let index = index.to_str().unwrap();
    let hook = [("GIT_INDEX_FILE", index), ("GIT_PREFIX", "")];
    let inside = with(elsewhere.path(), &hook, &[&args[..], &[named]].concat());
    assert_eq!(text(&inside.stdout).lines().count(), 2, "{inside:?}");
    // What git cannot tell is said.
    write(at, ".git/index", "torn");
    let torn = run(at, &["--show-files"])?;
    assert!(
        text(&torn.stderr).contains("whether git tracks"),
        "{torn:?}"
    );
    assert_eq!(status(&torn), 0);
    Ok(())
}

#[test]
fn options_come_from_the_environment_too() {
    let folder = project("[levels]\nnew-session = \"warn\"\n");
    let at = folder.path();
    let fails = |variables: &[(&str, &str)], args: &[&str]| status(&with(at, variables, args));
    assert_eq!(fails(&[], &[]), 0);
    assert_eq!(fails(&[("CDS_DENY", "new-session")], &[]), 1);
    assert_eq!(fails(&[("CDS_NO_CONFIG", "1")], &[]), 1);
    // No text, and no switch that is turned off, says anything.
    for off in ["", "0", "false", "No", "OFF"] {
        assert_eq!(
            fails(&[("CDS_NO_CONFIG", off), ("CDS_CONFIG", "")], &[]),
            0,
            "{off}"
        );
    }
    // The command line counts first: another option of levels too, though it stands before none.
    let deny = [("CDS_DENY", "all"), ("CDS_OUTPUT_FORMAT", "json")];
    assert_eq!(fails(&deny, &["-A", "new-session"]), 0);
    // In the environment there is no order: `all` comes before what is named.
    let both = [("CDS_ALLOW", "all"), ("CDS_DENY", "new-session")];
    assert_eq!(fails(&both, &[]), 1);
    assert_eq!(fails(&[("CDS_JOBS", "99999999999")], &[]), 0);
    let told = with(at, &deny, &["--output-format=concise"]);
    assert!(text(&told.stdout).starts_with("bad.py:2:"), "{told:?}");
    let json = with(at, &deny, &[]);
    assert!(text(&json.stdout).starts_with('{'), "{json:?}");
    let quiet = with(at, &[("CDS_QUIET", "2"), ("CDS_DENY", "all")], &[]);
    assert!(quiet.stdout.is_empty() && status(&quiet) == 1);
    // Where a run is refused, what is not on the command line is named.
    let refused = with(at, &[("CDS_JOBS", "many"), ("CDS_DIFF", "yes")], &[]);
    assert_eq!(status(&refused), 2);
    let last = lines(&refused).pop().unwrap_or_default();
    assert_eq!(
        last,
        "note: also given, by the environment: CDS_DIFF, CDS_JOBS"
    );
}

/// A word that says so is named with its program: alone, `-d` says nothing.
#[test]
fn a_word_is_told_with_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import os\nos.system('docker run -d x')\nos.system('at now')\n";
    write(folder.path(), "a.py", text);
    let lines = concise(folder.path(), &["a.py"]);
    assert!(lines[0].contains(": `-d` of `docker` hands"), "{lines:?}");
    assert!(lines[1].contains(": `at` hands"), "{lines:?}");
}

#[test]
fn the_version_is_told_to_programs_too() -> Fallible {
    let folder = tempfile::tempdir()?;
    let plain = run(folder.path(), &["--version"])?;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        text(&plain.stdout),
        format!("check-detached-spawns {version}\n")
    );
    let told = run(folder.path(), &["-V", "--output-format=json"])?;
    let told: serde_json::Value = serde_json::from_slice(&told.stdout)?;
    let compiler = std::process::Command::new("rustc").arg("-vV").output()?;
    let host = text(&compiler.stdout);
    let host = host.lines().find_map(|line| line.strip_prefix("host: "));
    assert_eq!(
        (&told["version"], told["target"].as_str()),
        (&version.into(), host)
    );
    assert!(told["commit"].is_null() || told["commit"].is_string());
    Ok(())
}
