//! Earlier commits, and what is staged: what git knows.

use std::ffi::OsStr;
use std::path::Path;

use super::complaint;
use crate::command::{BAD, CALL, concise, git, good, program, run, status, text, write};

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
    let said = complaint(folder.path(), &["--diff-base="]);
    assert!(said.contains("the base is empty"), "{said}");
    let plain = tempfile::tempdir().unwrap();
    write(plain.path(), "a.py", BAD);
    let said = complaint(plain.path(), &["--diff-base", "main"]);
    assert!(said.contains("is in no git repository"), "{said}");
    std::fs::create_dir(plain.path().join(".git")).unwrap();
    for args in [&["--diff-base=main"][..], &["--staged"]] {
        let said = complaint(plain.path(), args);
        assert!(said.contains("not a git repository"), "{said}");
    }
}

/// A file of a submodule is compared with the commit that the base names for the submodule.
#[test]
fn submodules_have_a_base_of_their_own() {
    let code = format!("{BAD}{}", "x = 1\n".repeat(99));
    let inner = repository(&[("lib.py", &code), ("moved.py", &code.replace("'x'", "'y'"))]);
    let folder = repository(&[("a.py", "")]);
    let at = folder.path();
    let url = inner.path().display().to_string();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &url,
    ];
    git(at, &[&add[..], &["sub/own"]].concat());
    commit(at);
    git(at, &["tag", "with"]);
    let names = |args: &[&str]| -> Vec<String> {
        let lines = concise(at, args);
        let name = |line: &String| line.split_once(".py:").map(|(name, _)| name.to_owned());
        lines.iter().filter_map(name).collect()
    };
    assert!(names(&["--diff-base", "with"]).is_empty());
    // Before the submodule was there all of it is new.
    assert_eq!(
        names(&["--diff-base", "base"]),
        ["sub/own/lib", "sub/own/moved"]
    );
    let own = at.join("sub/own");
    git(&own, &["mv", "moved.py", "to.py"]);
    write(&own, "new.py", BAD);
    commit(&own);
    write(&own, "lib.py", format!("# above\n{code}{CALL}"));
    assert_eq!(
        names(&["--diff-base", "with"]),
        ["sub/own/lib", "sub/own/new"]
    );
    assert_eq!(
        names(&["--diff-base", "with", "sub"]),
        ["sub/own/lib", "sub/own/new"]
    );
    // A folder that is a repository and no submodule is new.
    write(at, "other/b.py", BAD);
    git(&at.join("other"), &["init", "--quiet"]);
    commit(&at.join("other"));
    assert_eq!(names(&["--diff-base", "with"])[0], "other/b");
    // A submodule whose history is not here says so.
    std::fs::remove_dir_all(at.join("other")).unwrap();
    std::fs::remove_dir_all(&own).unwrap();
    git(at, &["clone", "--quiet", &url, "sub/own"]);
    let fresh = repository(&[("lib.py", BAD)]);
    std::fs::remove_dir_all(own.join(".git")).unwrap();
    std::fs::rename(fresh.path().join(".git"), own.join(".git")).unwrap();
    let said = complaint(at, &["--diff-base", "with"]);
    assert!(
        said.contains("the submodule sub/own has not the commit"),
        "{said}"
    );
}

/// What a clone was told to leave out is named, not fetched; git's own words help nobody.
#[test]
fn a_base_that_is_not_all_here_says_how_to_get_it() {
    let code = format!("{BAD}{}", "x = 1\n".repeat(99));
    let origin = repository(&[("a.py", &code)]);
    git(origin.path(), &["mv", "a.py", "b.py"]);
    write(origin.path(), "b.py", format!("{code}x = 2\n"));
    commit(origin.path());
    git(origin.path(), &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.path().display());
    let folder = tempfile::tempdir().unwrap();
    let cloned = |name: &str, how: &str| {
        git(folder.path(), &["clone", "--quiet", how, &url, name]);
        folder.path().join(name)
    };
    for filter in ["blob:none", "tree:0"] {
        let at = cloned(filter, &format!("--filter={filter}"));
        let said = complaint(&at, &["--diff-base", "base"]);
        let expected = "is a clone with a filter, and nothing is fetched here";
        assert!(
            said.contains(expected) && said.contains("`filter` of actions/checkout"),
            "{said}"
        );
        assert!(
            !said.contains("fatal") && !said.contains("promisor"),
            "{said}"
        );
        assert_eq!(concise(&at, &["--staged"]).len(), 1);
        // What it says to do is enough.
        git(
            &at,
            &["fetch", "--quiet", "--refetch", "--no-filter", "origin"],
        );
        assert_eq!(concise(&at, &["--diff-base", "base"]).len(), 1);
    }
    let at = cloned("shallow", "--depth=1");
    let said = complaint(&at, &["--diff-base", "base"]);
    assert!(said.contains("`fetch-depth: 0`"), "{said}");
    // With both commits, and nothing between them, the base itself counts; that is said.
    git(
        &at,
        &["fetch", "--quiet", "--depth=1", "origin", "tag", "base"],
    );
    let output = run(&at, &["--diff-base", "base"]).unwrap();
    let said = text(&output.stderr);
    assert_eq!(status(&output), 0, "{said}");
    assert!(said.contains("compared with base itself"), "{said}");
    git(&at, &["fetch", "--quiet", "--unshallow", "--tags"]);
    let output = run(&at, &["--diff-base", "base"]).unwrap();
    assert_eq!((status(&output), text(&output.stderr)), (0, String::new()));
}

/// git refuses folders of others, as they are in containers of CI.
#[test]
fn a_repository_of_another_user_says_what_to_allow() {
    let folder = repository(&[("a.py", BAD)]);
    for args in [&["--diff-base", "base"][..], &["--staged"]] {
        let output = program()
            .current_dir(folder.path())
            .args(args)
            .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
            .output()
            .unwrap();
        let said = text(&output.stderr);
        assert_eq!(status(&output), 2, "{said}");
        assert!(said.contains("--add safe.directory"), "{said}");
    }
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
    write(at, "tool", format!("#!/usr/bin/env python3\n{BAD}"));
    write(at, "data", "x".repeat(200));
    git(at, &["add", "tool", "data"]);
    let lines = staged(&["--max-file-size", "64"]);
    let skipped: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once(": skipped-file: not read: "))
        .map(|(place, _)| place)
        .collect();
    assert_eq!(
        skipped,
        ["good.py", "old.py", "sub/new.py", "tool"],
        "{lines:?}"
    );
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
