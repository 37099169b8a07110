//! Gradual adoption: baselines, earlier commits, what is staged, markers put in and taken out.

use std::ffi::OsStr;
use std::path::Path;

use crate::command::{BAD, CALL, FORMATS, Fallible, concise, git, good, run, status, text, write};

/// A repository whose first commit, tagged `base`, holds these files.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    for (name, code) in files {
        write(folder.path(), name, code);
    }
    commit(folder.path());
    git(folder.path(), &["tag", "base"]);
    folder
}

fn commit(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(
        folder,
        &["commit", "--quiet", "--allow-empty", "--message=x"],
    );
}

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

#[test]
fn only_what_is_new_fails_against_a_base() {
    let folder = repository(&[("old.py", BAD), ("good.py", &good()), ("moved.py", BAD)]);
    let at = folder.path();
    let base = ["--diff-base", "base"];
    assert_eq!(concise(at, &base).len(), 1, "nothing is new");
    // Changed, not committed: a line above, a reason taken away, a file under another name, a new one.
    write(at, "old.py", format!("# above\n{BAD}"));
    write(at, "good.py", BAD);
    git(at, &["mv", "moved.py", "to here.py"]);
    write(at, "new.py", BAD);
    let lines = concise(at, &base);
    let names: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once(".py:"))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["good", "new"], "{lines:?}");
    assert!(lines[2].contains("2 justified (2 baselined)"), "{lines:?}");
    // The same from a folder inside, and committed.
    std::fs::create_dir(at.join("sub")).unwrap();
    assert_eq!(
        concise(&at.join("sub"), &["--diff-base", "base", ".."]).len(),
        3
    );
    commit(at);
    assert_eq!(concise(at, &base).len(), 3);
    // What the base's branch gained meanwhile is not held against this one.
    git(at, &["checkout", "--quiet", "-b", "other", "base"]);
    write(at, "old.py", "");
    commit(at);
    git(at, &["checkout", "--quiet", "main"]);
    assert_eq!(concise(at, &["--diff-base", "other"]).len(), 3);
}

#[test]
fn a_missing_base_says_what_to_fetch() {
    let folder = repository(&[("a.py", BAD)]);
    for reference in ["origin/main", "--output=x", "no such"] {
        let reference = format!("--diff-base={reference}");
        let said = complaint(folder.path(), &[&reference]);
        assert!(
            said.contains("cannot find the base") && said.contains("fetch-depth: 0"),
            "{said}"
        );
    }
    assert!(!folder.path().join("x").exists());
    let plain = tempfile::tempdir().unwrap();
    write(plain.path(), "a.py", BAD);
    let said = complaint(plain.path(), &["--diff-base", "main"]);
    assert!(said.contains("is in no git repository"), "{said}");
}

/// A repository can name programs for git to run; none of them is.
#[cfg(unix)]
#[test]
fn git_runs_nothing_of_the_repository() {
    let folder = repository(&[
        ("a.py", BAD),
        (".gitattributes", "*.py diff=own filter=own\n"),
    ]);
    let at = folder.path();
    let touch = format!("touch {}", at.join("ran").display());
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.own.command",
        "diff.own.textconv",
        "filter.own.clean",
        "filter.own.smudge",
        "core.pager",
    ] {
        git(at, &["config", key, &touch]);
    }
    write(at, "a.py", format!("# more\n{BAD}"));
    write(at, "b.py", BAD);
    assert_eq!(concise(at, &["--diff-base", "base"]).len(), 2);
    concise(at, &["--staged"]);
    assert!(!at.join("ran").exists());
}

#[test]
fn what_is_staged_is_judged_as_staged() {
    let folder = repository(&[("old.py", BAD), ("good.py", &good()), ("gone.py", BAD)]);
    let at = folder.path();
    let staged = |args: &[&str]| concise(at, &[&["--staged"], args].concat());
    assert!(staged(&[])[0].starts_with("0 files"));
    write(at, "good.py", BAD);
    // So much beside it that it is no new name of the file that is gone.
    write(at, "sub/new.py", format!("{BAD}{}", "x = 1\n".repeat(99)));
    write(at, "old.py", format!("x = 1\n{BAD}"));
    git(at, &["add", "."]);
    git(at, &["rm", "--quiet", "--cached", "gone.py"]);
    // The working tree says something else; what will be committed counts.
    write(at, "good.py", good());
    std::fs::remove_file(at.join("sub/new.py")).unwrap();
    write(at, "unstaged.py", BAD);
    let lines = staged(&[]);
    assert!(
        lines[0].starts_with("good.py:2:") && lines[1].starts_with("sub/new.py:2:"),
        "{lines:?}"
    );
    assert!(
        lines[2].starts_with("3 files, 2 findings") && lines[2].contains("1 baselined"),
        "{lines:?}"
    );
    assert_eq!(staged(&["sub"]).len(), 2);
    let said = complaint(at, &["--staged", "nosuch.py"]);
    assert!(said.contains("neither there nor staged"), "{said}");
    assert_eq!(staged(&["--exclude", "sub/", "old.py", "sub"]).len(), 1);
    // Before the first commit everything is new.
    let first = tempfile::tempdir().unwrap();
    git(first.path(), &["init", "--quiet"]);
    write(first.path(), "a.py", BAD);
    git(first.path(), &["add", "a.py"]);
    assert_eq!(concise(first.path(), &["--staged"]).len(), 2);
}

/// Names with spaces, line breaks, percent signs and bytes that are no UTF-8.
#[cfg(unix)]
#[test]
fn any_name_will_do() {
    use std::os::unix::ffi::OsStrExt;
    let folder = repository(&[("a.py", "")]);
    let at = folder.path();
    let names: [&[u8]; 5] = [b"a b.py", b"a\nb.py", b"a%0A.py", b"-a.py", b"\xff\xfe.py"];
    let all = |code: &str| {
        for name in names {
            std::fs::write(at.join(OsStr::from_bytes(name)), code).unwrap();
        }
    };
    let lines = |args: &[&str]| concise(at, args).len();
    all(BAD);
    commit(at);
    git(at, &["tag", "--force", "base"]);
    all(&format!("{BAD}{CALL}"));
    assert_eq!(lines(&["--diff-base", "base"]), 6);
    git(at, &["add", "--all"]);
    assert_eq!(lines(&["--staged"]), 6);
    assert_eq!(lines(&["--baseline", "b.json", "--write-baseline"]), 1);
    assert_eq!(lines(&["--baseline", "b.json"]), 1);
    run(at, &["--add-markers"]).unwrap();
    for name in names {
        let code = std::fs::read_to_string(at.join(OsStr::from_bytes(name))).unwrap();
        assert_eq!(code.matches("# detached-spawn:\n").count(), 2, "{code}");
    }
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
