//! Gradual adoption: baselines, earlier commits, what is staged, markers put in and taken out.

mod base;

use std::path::Path;

use crate::command::{
    BAD, CALL, FORMATS, Fallible, REASON, concise, git, good, run, status, text, write,
};

fn complaint(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args).unwrap();
    assert_eq!(status(&output), 2, "{}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn a_baseline_accepts_what_it_knows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let twice = format!("{BAD}{CALL}");
    write(at, "old.py", &twice);
    write(at, "sub/b c\n%.py", BAD);
    let make = ["--baseline", "base.json", "--write-baseline"];
    assert_eq!(status(&run(at, &make).unwrap()), 0);
    let written = std::fs::read_to_string(at.join("base.json")).unwrap();
    let prints: Vec<&str> = written
        .lines()
        .filter(|line| line.contains("fingerprint"))
        .collect();
    assert!(prints.len() == 3 && prints.is_sorted(), "{written}");
    let known = ["--baseline", "base.json"];
    let lines = concise(at, &known);
    assert_eq!(
        lines,
        ["2 files, 0 findings (0 denied, 0 warnings), 3 justified (3 baselined), 0 problems"]
    );
    // Lines may move, and one more of the same is new.
    write(at, "old.py", format!("# moved\n\n{twice}{CALL}"));
    let lines = concise(at, &known);
    assert!(
        lines[0].starts_with("old.py:6:25: detaching-spawn") && lines.len() == 2,
        "{lines:?}"
    );
    // From a folder inside, the same file means the same.
    assert_eq!(
        concise(&at.join("sub"), &["--baseline", "../base.json"]).len(),
        2
    );
    // Written again without a change it is the same, byte for byte.
    write(at, "old.py", &twice);
    run(at, &make).unwrap();
    assert_eq!(
        std::fs::read_to_string(at.join("base.json")).unwrap(),
        written
    );
}

#[test]
fn stale_entries_are_told_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["a.py", "b.py", "c.py"] {
        write(at, name, BAD);
    }
    let make = ["--baseline", "base.json", "--write-baseline"];
    run(at, &make).unwrap();
    write(at, "a.py", good());
    std::fs::remove_file(at.join("b.py")).unwrap();
    let told = |args: &[&str]| {
        text(
            &run(at, &[&["--baseline", "base.json"], args].concat())
                .unwrap()
                .stderr,
        )
    };
    let all = told(&[]);
    assert!(
        all.contains("note: stale in base.json: a.py detaching-spawn[new-session]"),
        "{all}"
    );
    assert!(
        all.contains("b.py") && !all.contains("c.py") && all.contains("2 stale in base.json"),
        "{all}"
    );
    // What was not read is not stale, and stays when a part is written.
    assert!(!told(&["c.py"]).contains("a.py"));
    run(at, &[&make[..], &["a.py"]].concat()).unwrap();
    let left = std::fs::read_to_string(at.join("base.json")).unwrap();
    assert!(
        left.contains("c.py") && !left.contains("a.py") && !left.contains("b.py"),
        "{left}"
    );
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bad.json", "{}");
    let missing = complaint(folder.path(), &["--baseline", "none.json"]);
    assert!(
        missing.contains("cannot read the baseline none.json")
            && missing.contains("--write-baseline"),
        "{missing}"
    );
    let wrong = complaint(folder.path(), &["--baseline", "bad.json"]);
    assert!(wrong.contains("bad.json is no baseline of ours"), "{wrong}");
    let kept = complaint(
        folder.path(),
        &["--baseline", "bad.json", "--write-baseline"],
    );
    assert!(
        kept.contains("bad.json is no baseline"),
        "a file of others is not written over: {kept}"
    );
    complaint(folder.path(), &["--write-baseline"]);
}

/// A pull request may put anything under the name of a baseline.
#[cfg(unix)]
#[test]
fn a_baseline_is_a_file_of_some_size() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "a.py", BAD);
    std::os::unix::fs::symlink("/dev/zero", at.join("zero.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(at.join("pipe.json"))
        .status();
    assert!(made.unwrap().success());
    let large = std::fs::File::create(at.join("large.json")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    for name in ["zero.json", "pipe.json", "large.json"] {
        for more in [&[][..], &["--write-baseline"]] {
            let said = complaint(at, &[&["--baseline", name][..], more].concat());
            assert!(
                said.contains("no regular file of at most 64 MiB"),
                "{name}: {said}"
            );
        }
    }
    let said = complaint(at, &["--baseline", "."]);
    assert!(
        said.contains("cannot read the baseline .: is a directory"),
        "{said}"
    );
}

#[test]
fn what_is_justified_is_listed_in_every_format() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "good.py", good());
    write(at, "bad.py", BAD);
    write(at, "d/daemon.py", BAD);
    write(
        at,
        "check-detached-spawns.toml",
        "[[allow]]\npath = 'd/'\nmechanism = 'all'\nreason = 'the service manager ends it'\n",
    );
    let lines = concise(at, &["--list-justified"]);
    assert_eq!(
        lines,
        [
            "d/daemon.py:2:25: detaching-spawn[new-session]: allowed: the service manager ends it",
            "good.py:3:25: detaching-spawn[new-session]: justified: the updater must outlive the process that it replaces",
            "3 files, 0 findings (0 denied, 0 warnings), 2 justified (1 allowed), 0 problems",
        ]
    );
    for format in FORMATS {
        let output = run(at, &["--list-justified", "--output-format", format])?;
        let out = text(&output.stdout);
        assert_eq!(status(&output), 0, "{format}");
        assert!(
            out.contains("the updater must outlive the process that it replaces"),
            "{format}: {out}"
        );
        assert!(
            out.contains("the service manager ends it"),
            "{format}: {out}"
        );
        assert!(!out.contains("bad.py"), "{format}: {out}");
    }
    // An inventory that may lack something is no success.
    write(at, "broken.py", "import subprocess\nsubprocess.Popen((\n");
    assert_eq!(status(&run(at, &["--list-justified"])?), 1);
    Ok(())
}

#[test]
fn statistics_count_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "a.py",
        format!("{}{CALL}# detached-spawn: nothing is here\n", good()),
    );
    let output = run(folder.path(), &["--statistics"]).unwrap();
    let out = text(&output.stdout);
    let rows: Vec<Vec<&str>> = out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[1], ["new-session", "1", "1", "0", "0"], "{out}");
    assert_eq!(rows[2][..2], ["unused-justification", "1"], "{out}");
    assert!(
        rows[3].starts_with(&["1", "file,", "2", "findings"]),
        "{out}"
    );
    assert_eq!(status(&output), 1);
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        ["--staged", "--diff-base=x"],
        ["--staged", "--fix"],
        ["--add-markers", "--stdin-filename=a.py"],
        ["--list-justified", "--statistics"],
        ["--fix", "-"],
        ["--ignore-justifications", "--fix"],
        ["--diff", "."],
    ] {
        complaint(folder.path(), &args);
    }
}

#[test]
fn shells_and_man_know_every_flag() -> Fallible {
    let folder = tempfile::tempdir()?;
    let help = text(&run(folder.path(), &["--help"])?.stdout);
    let flags: Vec<&str> = help
        .split_whitespace()
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(|word| word.trim_end_matches([',', '.', ')', '`']))
        .map(|word| word.split(['=', '[']).next().unwrap_or(word))
        .collect();
    assert!(flags.len() > 25, "{flags:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&run(folder.path(), &["--completions", shell])?.stdout);
        for flag in &flags {
            let name = flag.trim_start_matches('-');
            assert!(script.contains(name), "{shell}: {flag}");
        }
    }
    let man = text(&run(folder.path(), &["--man"])?.stdout).replace("\\-", "-");
    assert!(man.contains(".TH check-detached-spawns 1"), "{man}");
    for flag in &flags {
        assert!(man.contains(flag), "{flag}");
    }
    Ok(())
}

/// What would be changed is a patch that git applies, to the text that the change itself makes.
#[test]
fn a_change_may_be_shown_only() -> Fallible {
    let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let lines = "x = 1\n".repeat(20);
    let files = [
        (
            "a b.py",
            format!("import subprocess\n{CALL}{lines}{CALL}{lines}{CALL}"),
        ),
        (
            "sub/b.py",
            format!("import subprocess\nif x:\n    {}", CALL.trim_end()),
        ),
        ("c.py", BAD.replace('\n', "\r\n")),
        ("stale.py", format!("x = 1\n{REASON}x = 2\n")),
    ];
    for at in [one.path(), other.path()] {
        for (name, text) in &files {
            write(at, name, text);
        }
    }
    for change in ["--add-markers", "--fix"] {
        let shown = run(one.path(), &[change, "--diff"])?;
        assert_eq!(status(&shown), 1, "{change}");
        let stale = std::fs::read_to_string(one.path().join("stale.py"))?;
        assert!(stale.contains("detached-spawn"), "nothing is changed");
        write(one.path(), "patch", &shown.stdout);
        git(one.path(), &["apply", "--whitespace=nowarn", "patch"]);
        run(other.path(), &[change])?;
        for (name, _) in &files {
            let [a, b] =
                [one.path(), other.path()].map(|at| std::fs::read_to_string(at.join(name)));
            assert_eq!(a?, b?, "{change} {name}");
        }
        let again = run(one.path(), &["--fix", "--diff", "stale.py"])?;
        if change == "--fix" {
            assert_eq!((status(&again), again.stdout.len()), (0, 0));
        }
    }
    Ok(())
}

/// As if nobody had given a reason, and whatever was wrong with one.
#[test]
fn reasons_may_be_ignored() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "good.py", good());
    write(
        at,
        "todo.py",
        good().replace(
            "the updater must outlive the process that it replaces",
            "todo",
        ),
    );
    write(at, "stale.py", format!("{REASON}x = 1\n"));
    write(at, "allowed.py", BAD);
    let allow = "[[allow]]\npath = \"allowed.py\"\nmechanism = \"all\"\nreason = \"started by the service manager\"\n";
    write(at, crate::command::CONFIG, allow);
    assert_eq!(concise(at, &[]).len(), 3);
    let lines = concise(at, &["--ignore-justifications"]);
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, name) in lines.iter().zip(["allowed", "good", "todo"]) {
        assert!(
            line.starts_with(name) && line.contains(" detaching-spawn["),
            "{line}"
        );
    }
    Ok(())
}

/// Findings are told and fail nothing; what was not read still does.
#[test]
fn findings_may_fail_nothing() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    write(at, "bad.py", BAD);
    let output = run(at, &["--exit-zero", "--output-format", "concise"])?;
    assert_eq!(status(&output), 0);
    assert!(text(&output.stdout).starts_with("bad.py:2:25: detaching-spawn"));
    write(at, "broken.py", "import subprocess\nsubprocess.Popen((\n");
    assert_eq!(status(&run(at, &["--exit-zero"])?), 1);
    assert_eq!(status(&run(at, &["--exit-zero", "none.py"])?), 2);
    Ok(())
}

#[test]
fn files_to_be_read_are_shown() -> Fallible {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    for name in ["b.py", "a.rs", "sub/c", "d.txt", "out/e.py"] {
        write(at, name, "#!/usr/bin/python\nx = (\n");
    }
    let shown = run(at, &["--show-files", "--exclude", "out/"])?;
    assert_eq!(
        (status(&shown), text(&shown.stdout).as_str()),
        (0, "a.rs\nb.py\nsub/c\n")
    );
    let missing = run(at, &["--show-files", "b.py", "none.py"])?;
    assert_eq!(
        (status(&missing), text(&missing.stdout).as_str()),
        (2, "b.py\n")
    );
    assert!(text(&missing.stderr).contains("none.py: cannot be read"));
    Ok(())
}
