//! Which files are read: every row of what other tools got wrong has a test here.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use check_detached_spawns::config::Configs;
use check_detached_spawns::report::ProblemId;
use check_detached_spawns::source::Language;
use check_detached_spawns::walk::{Excludes, Found, Place, Walk, size};
use tempfile::TempDir;

type Fallible = Result<(), Box<dyn std::error::Error>>;

/// A folder with these files, each empty or with the text after `=`.
fn tree(files: &[&str]) -> std::io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    add(folder.path(), files)?;
    Ok(folder)
}

fn add(folder: &Path, files: &[&str]) -> std::io::Result<()> {
    for file in files {
        let (name, text) = file.split_once('=').unwrap_or((file, ""));
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        if !name.ends_with('/') {
            fs::write(path, text)?;
        }
    }
    Ok(())
}

fn walk(cwd: &Path) -> Walk {
    Walk {
        place: Place::new(cwd),
        excludes: Excludes::new(&[]).expect("no globs are good globs"),
        configs: Arc::new(Configs::none(&Place::new(cwd))),
        force_exclude: false,
        no_ignore: false,
        notebooks: false,
        max_file_size: size::DEFAULT,
        languages: vec![Language::Python, Language::Rust],
        jobs: None,
    }
}

fn excluding(cwd: &Path, globs: &[&str]) -> Walk {
    let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
    Walk {
        excludes: Excludes::new(&globs).expect("the globs are good"),
        ..walk(cwd)
    }
}

/// Finds from absolute paths: tests share one process and so one working directory.
fn find(walk: &Walk, named: &[&str]) -> Found {
    let paths: Vec<PathBuf> = named.iter().map(|name| walk.place.cwd.join(name)).collect();
    walk.find(paths.iter().map(PathBuf::as_path))
}

fn shown(walk: &Walk, named: &[&str]) -> Vec<String> {
    find(walk, named)
        .take_files()
        .into_iter()
        .map(|input| input.shown)
        .collect()
}

#[test]
fn suffixes_and_shebangs_say_what_is_read() -> Fallible {
    let folder = tree(&[
        "a.py",
        "b.pyw",
        "c.rs",
        "d.pyi",
        "e.ipynb",
        "f.txt",
        "bin/tool=#!/usr/bin/env python3\n",
        "bin/other=#!/bin/sh\n",
        "bin/empty",
        "g.sh=#!/usr/bin/python3\n",
        ".hidden/h.py",
        ".github/scripts/i.py",
    ])?;
    let expected = [
        ".github/scripts/i.py",
        ".hidden/h.py",
        "a.py",
        "b.pyw",
        "bin/tool",
        "c.rs",
    ];
    assert_eq!(shown(&walk(folder.path()), &["."]), expected);
    let only = Walk {
        languages: vec![Language::Rust],
        ..walk(folder.path())
    };
    assert_eq!(shown(&only, &["."]), ["c.rs"]);
    Ok(())
}

#[test]
fn what_is_too_large_is_told_and_not_read() -> Fallible {
    let folder = tree(&[
        "fits.py=12345",
        "over.py=123456",
        "over.rs=123456",
        "over.txt=123456",
    ])?;
    let small = Walk {
        max_file_size: 5,
        languages: vec![Language::Python],
        ..walk(folder.path())
    };
    for named in [&["."][..], &["fits.py", "over.py", "over.rs"]] {
        let mut found = find(&small, named);
        let told: Vec<_> = found.problems.iter().collect();
        let [over] = told.as_slice() else {
            panic!("{told:?}");
        };
        assert_eq!(
            (over.id, over.path.as_str()),
            (ProblemId::SkippedFile, "over.py")
        );
        let message =
            "not read: 6 bytes, over the limit of 5 bytes; raise --max-file-size or exclude it";
        assert_eq!(over.message, message);
        assert_eq!(found.take_files().len(), 1);
    }
    Ok(())
}

#[test]
fn ignore_files_hold_wherever_the_walk_starts() -> Fallible {
    let folder = tree(&[
        ".git/HEAD",
        ".git/hooks/x.py",
        ".git/info/exclude=private/\n",
        ".gitignore=/src/made/\n*.gen.py\n!keep.gen.py\n",
        "src/made/a.py",
        "src/foo/b.gen.py",
        "src/foo/keep.gen.py",
        "src/foo/c.py",
        "src/foo/private/d.py",
        "src/foo/.ignore=e.py\n",
        "src/foo/e.py",
        "src/target/f.rs",
    ])?;
    let expected = ["src/foo/c.py", "src/foo/keep.gen.py", "src/target/f.rs"];
    let place = Place::new(folder.path());
    for start in ["", "src", "src/foo"] {
        let walk = walk(&folder.path().join(start));
        let mut from_root: Vec<PathBuf> = find(&walk, &[place.cwd.to_str().unwrap_or_default()])
            .take_files()
            .into_iter()
            .map(|input| {
                input
                    .path
                    .strip_prefix(&place.cwd)
                    .map(Path::to_owned)
                    .unwrap_or_default()
            })
            .collect();
        from_root.sort();
        assert_eq!(from_root, expected.map(PathBuf::from), "from {start}");
        assert_eq!(walk.place.prefix(), start);
    }
    assert_eq!(
        shown(&walk(folder.path()), &["src/foo"]),
        ["src/foo/c.py", "src/foo/keep.gen.py"]
    );
    assert_eq!(
        shown(&walk(&folder.path().join("src/foo")), &["."]),
        ["c.py", "keep.gen.py"]
    );
    assert_eq!(
        shown(&walk(&folder.path().join("src/foo")), &["../target"]),
        ["../target/f.rs"]
    );
    // A path that is named is read, ignored or not.
    assert_eq!(
        shown(&walk(folder.path()), &["src/made/a.py", "src/made"]),
        ["src/made/a.py"]
    );
    let all = Walk {
        no_ignore: true,
        ..walk(folder.path())
    };
    assert_eq!(shown(&all, &["."]).len(), 7);
    Ok(())
}

#[test]
fn gitignore_means_nothing_without_git() -> Fallible {
    let folder = tree(&[".gitignore=a.py\n", "a.py", ".ignore=b.py\n", "b.py"])?;
    assert_eq!(shown(&walk(folder.path()), &["."]), ["a.py"]);
    Ok(())
}

#[test]
fn made_folders_need_proof() -> Fallible {
    let folder = tree(&[
        "target/CACHEDIR.TAG=Signature: 8a477f597d28d172789f06886806bc55\n# cargo\n",
        "target/debug/a.rs",
        "src/target/b.rs",
        "x/target/CACHEDIR.TAG=no signature",
        "x/target/c.rs",
        "env/pyvenv.cfg=home = /usr",
        "env/lib/d.py",
        "venv/e.py",
        "target.rs",
    ])?;
    assert_eq!(
        shown(&walk(folder.path()), &["."]),
        ["src/target/b.rs", "target.rs", "venv/e.py", "x/target/c.rs"]
    );
    let all = Walk {
        no_ignore: true,
        ..walk(folder.path())
    };
    assert_eq!(shown(&all, &["."]).len(), 6);
    // What is named is read.
    assert_eq!(shown(&walk(folder.path()), &["env"]), ["env/lib/d.py"]);
    Ok(())
}

#[test]
fn excludes_do_not_hold_for_named_files_unless_forced() -> Fallible {
    let folder = tree(&[
        "build/proj/a.py",
        "build/proj/gen/b.py",
        "build/proj/gen/deep/c.py",
    ])?;
    let project = folder.path().join("build/proj");
    let mut walk = excluding(&project, &["gen/"]);
    assert_eq!(shown(&walk, &["."]), ["a.py"]);
    assert_eq!(
        shown(&walk, &["gen/b.py", "gen/deep/c.py"]),
        ["gen/b.py", "gen/deep/c.py"]
    );
    walk.force_exclude = true;
    assert_eq!(
        shown(&walk, &["a.py", "gen/b.py", "gen/deep/c.py", "gen"]),
        ["a.py"]
    );
    // No folder above the project matches by chance.
    assert_eq!(shown(&excluding(&project, &["build"]), &["."]).len(), 3);
    let elsewhere = excluding(&folder.path().join("build/proj/gen/deep"), &["build"]);
    assert_eq!(shown(&elsewhere, &["../.."]).len(), 3);
    assert_eq!(
        shown(&excluding(&project, &["*.py", "!a.py"]), &["."]),
        ["a.py"]
    );
    assert!(Excludes::new(&["a{b".to_owned()]).is_err());
    Ok(())
}

#[test]
fn each_file_is_read_once() -> Fallible {
    let folder = tree(&["a.py", "sub/b.py"])?;
    let walk = walk(folder.path());
    let full = folder.path().join("a.py");
    let named = [
        "a.py",
        "./a.py",
        "sub/../a.py",
        full.to_str().unwrap_or_default(),
        ".",
        "sub",
    ];
    assert_eq!(shown(&walk, &named), ["a.py", "sub/b.py"]);
    Ok(())
}

#[test]
fn an_unknown_type_is_a_note_and_a_missing_path_a_problem() -> Fallible {
    let folder = tree(&["picture.png", "README"])?;
    let found = find(&walk(folder.path()), &["picture.png", "README"]);
    assert_eq!(
        (found.notes.len(), found.problems.len(), found.missing),
        (2, 0, false)
    );
    let found = find(
        &walk(folder.path()),
        &["none.py", "picture.png/x.py", "none.py"],
    );
    assert_eq!(
        (found.notes.len(), found.problems.len(), found.missing),
        (0, 2, true)
    );
    assert!(
        found
            .problems
            .iter()
            .all(|problem| problem.id == ProblemId::UnreadablePath)
    );
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn links_are_not_followed_unless_named() -> Fallible {
        let folder = tree(&["a.py", "sub/b.py"])?;
        let at = |name: &str| folder.path().join(name);
        symlink("a.py", at("link.py"))?;
        symlink("..", at("sub/parent"))?;
        symlink("self.py", at("self.py"))?;
        symlink("nowhere", at("dangling.py"))?;
        symlink("sub", at("folder"))?;
        let walk = walk(folder.path());
        let found = find(&walk, &["."]);
        assert_eq!(found.problems, []);
        assert_eq!(shown(&walk, &["."]), ["a.py", "sub/b.py"]);
        assert_eq!(shown(&walk, &["link.py"]), ["link.py"]);
        assert_eq!(shown(&walk, &["folder"]), ["folder/b.py"]);
        assert_eq!(
            shown(&walk, &["a.py", "link.py", "sub", "folder"]),
            ["a.py", "sub/b.py"]
        );
        assert!(find(&walk, &["dangling.py"]).missing);
        assert_eq!(find(&walk, &["self.py"]).problems.len(), 1);
        Ok(())
    }

    #[test]
    fn what_is_no_regular_file_is_never_opened() -> Fallible {
        let folder = tree(&["a.py"])?;
        let _socket = UnixListener::bind(folder.path().join("socket.py"))?;
        // Opening it for reading would wait for ever.
        let made = std::process::Command::new("mkfifo")
            .arg(folder.path().join("pipe.py"))
            .status()?;
        assert!(made.success());
        for named in [&["."][..], &["pipe.py", "socket.py", "a.py"]] {
            let mut found = find(&walk(folder.path()), named);
            let problems: Vec<_> = found
                .problems
                .iter()
                .map(|problem| (problem.id, problem.path.as_str()))
                .collect();
            assert_eq!(
                problems,
                [
                    (ProblemId::SkippedFile, "pipe.py"),
                    (ProblemId::SkippedFile, "socket.py")
                ]
            );
            assert_eq!(found.take_files().len(), 1);
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_listed_is_said_once() -> Fallible {
        let folder = tree(&["a.py", "shut/b.py"])?;
        let shut = folder.path().join("shut");
        fs::set_permissions(&shut, fs::Permissions::from_mode(0o000))?;
        let reads_all = fs::read_dir(&shut).is_ok(); // root does
        for no_ignore in [false, true] {
            let walk = Walk {
                no_ignore,
                ..walk(folder.path())
            };
            let mut found = find(&walk, &[".", "."]);
            if !reads_all {
                let problems: Vec<_> = found
                    .problems
                    .iter()
                    .map(|problem| (problem.id, problem.path.as_str()))
                    .collect();
                assert_eq!(problems, [(ProblemId::UnreadablePath, "shut")]);
                assert_eq!(found.take_files().len(), 1);
                assert!(!found.missing);
            }
        }
        fs::set_permissions(&shut, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    #[test]
    fn names_may_be_any_bytes() -> Fallible {
        let folder = tree(&["sp ace,co:lon%.py", "日本.py"])?;
        let odd = folder.path().join(OsStr::from_bytes(b"\xff.py"));
        fs::write(&odd, "x = 1\n")?;
        let files = find(&walk(folder.path()), &["."]).take_files();
        let names: Vec<&str> = files.iter().map(|input| input.shown.as_str()).collect();
        assert_eq!(names, ["sp ace,co:lon%.py", "日本.py", "\u{fffd}.py"]);
        assert_eq!(fs::read(&files[2].path)?, b"x = 1\n");
        Ok(())
    }
}
