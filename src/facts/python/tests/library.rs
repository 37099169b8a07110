//! Both readers over the standard library of the Python at hand. `CHECK_ALL=1` reads all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// Files that start processes, or hold much syntax.
const ALWAYS: &[&str] = &[
    "subprocess.py",
    "os.py",
    "pty.py",
    "tempfile.py",
    "typing.py",
];

fn library() -> Option<PathBuf> {
    let code = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let output = Command::new("python3").args(["-c", code]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(path.trim()))
}

fn files(folder: &Path, all: bool) -> Vec<(u64, PathBuf)> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(about) = entry.metadata() else {
                continue;
            };
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if about.is_dir() {
                if all
                    || !matches!(
                        name.as_str(),
                        "test" | "tests" | "site-packages" | "lib2to3"
                    )
                {
                    todo.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "py") {
                found.push((about.len(), path));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_standard_library_reads_the_same() {
    let Some(folder) = library() else {
        assert!(std::env::var_os("CI").is_none(), "not run: python3 missing");
        return;
    };
    let all = std::env::var_os("CHECK_ALL").is_some();
    let asked = |index: usize, path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        all || index < 200
            || ALWAYS.contains(&name.as_ref())
            || path.parent().is_some_and(|own| own.ends_with("asyncio"))
    };
    let files = files(&folder, all).into_iter().enumerate();
    let asked = files.filter_map(|(index, (_, path))| asked(index, &path).then_some(path));
    let both = compare(asked);
    assert!(both >= 90, "only {both} files in a hundred were compared");
}

/// Other people's code: `CHECK_CORPUS=FOLDER` reads every Python file in it.
#[test]
fn a_folder_that_is_named_reads_the_same() {
    if let Some(folder) = std::env::var_os("CHECK_CORPUS") {
        let files = files(Path::new(&folder), true);
        assert!(!files.is_empty(), "no Python file in {}", folder.display());
        compare(files.into_iter().map(|(_, path)| path));
    }
}

/// Fails if the readers give two trees of a file that both accept, and gives the share of such files in
/// percent.
///
/// Where rustpython accepts a file, tree-sitter is never asked: what it refuses there are oddities of
/// Python's own tests (`from __future__ import *`). More than one file in a thousand is no oddity.
fn compare(files: impl Iterator<Item = PathBuf>) -> usize {
    let (mut read, mut both) = (0, 0);
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for path in files {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        read += 1;
        let code = Code::of(&text);
        let Some(strict) = strict(&code) else {
            continue;
        };
        let tolerant = tolerant::read(&code);
        if tolerant.fault.is_some() {
            refused.push(format!("{}: {:?}", path.display(), tolerant.fault));
            continue;
        }
        both += 1;
        let (one, two) = (dump(&strict, &text), dump(&tolerant, &text));
        if one != two {
            let difference = dump::difference(&one, &two);
            wrong.push(format!("{}\n{difference}", path.display()));
        }
    }
    let first: Vec<&str> = wrong.iter().map(String::as_str).take(15).collect();
    let (count, first) = (wrong.len(), first.join("\n"));
    assert_eq!(count, 0, "files that read differently\n{first}");
    let (few, all) = (refused.len() * 1000 <= read, refused.join("\n"));
    assert!(few, "of {read} files, tree-sitter alone refuses\n{all}");
    both * 100 / read.max(1)
}
