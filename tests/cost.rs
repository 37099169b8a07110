//! What a run costs, in numbers that do not depend on how busy the machine is: instructions, and the
//! share of files that the filter lets through to a parser.
//!
//! Where a number went up for a good reason, its bound here goes with it, and the commit says why.

use std::path::Path;
use std::process::{Command, Stdio};

use check_detached_spawns::filter::Filter;
use check_detached_spawns::source::Language;
use check_detached_spawns::walk::of_suffix;

/// Runs over files of this repository: a name, arguments, and million instructions at most of a program
/// that is built as tests are. About 15 in 100 above what was measured.
const RUNS: &[(&str, &[&str], u64)] = &[
    ("a start", &["--list-rules"], 5),
    ("spawns in Python and Rust", &["fixtures/live"], 205),
    ("justifications", &["fixtures/justified"], 199),
    ("our own Rust", &["src/facts/shell"], 575),
];

/// Frozen code of others: its folder, its language, and of a thousand files and of a thousand bytes, how
/// many may be let through.
const SHARES: &[(&str, Language, usize, usize)] = &[
    ("site", Language::Python, 32, 123),
    ("crates", Language::Rust, 23, 50),
];

fn missing(what: &str) {
    println!("not run: {what} missing");
    let required = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!required, "{what} is missing and CI=true");
}

#[test]
fn runs_take_no_more_instructions_than_they_did() {
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        println!("not run: the bounds are those of another kind of machine");
        return;
    }
    let mut over = Vec::new();
    for (name, arguments, bound) in RUNS {
        let Some(count) = instructions(arguments) else {
            return missing("valgrind");
        };
        let millions = count / 1_000_000;
        println!("{name}: {millions} million instructions of at most {bound}");
        if millions > *bound {
            over.push(*name);
        }
    }
    assert!(over.is_empty(), "more than the bound: {over:?}");
}

/// The instructions of one run on one thread, as callgrind counts them; none without valgrind.
fn instructions(arguments: &[&str]) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_check-detached-spawns"))
        .args(["--no-config", "--jobs=1", "--color=never"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let (_, count) = said
        .split_once("Collected : ")
        .unwrap_or_else(|| panic!("valgrind tells no count: {said}"));
    let count = count.split_whitespace().next().unwrap_or_default();
    Some(
        count
            .parse()
            .unwrap_or_else(|_| panic!("no count: {count}")),
    )
}

#[test]
fn few_files_of_others_reach_a_parser() {
    let Some(corpus) = std::env::var_os("CDS_CORPUS") else {
        return missing("CDS_CORPUS, which tests/support/corpus.py makes,");
    };
    let filter = Filter::new(std::iter::empty());
    let mut over = Vec::new();
    for (name, language, most_files, most_bytes) in SHARES {
        let (mut files, mut bytes, mut all_files, mut all_bytes) = (0, 0, 0, 0);
        for entry in walkdir::WalkDir::new(Path::new(&corpus).join(name)).follow_links(true) {
            let entry = entry.expect("the corpus is listed");
            if of_suffix(entry.path()) != Some(*language) {
                continue;
            }
            let text = std::fs::read(entry.path()).expect("a file is read");
            let wanted = filter.wants(*language, &text);
            files += usize::from(wanted);
            bytes += if wanted { text.len() } else { 0 };
            all_files += 1;
            all_bytes += text.len();
        }
        assert!(all_files > 1000, "{name} has {all_files} files only");
        let (of_files, of_bytes) = (files * 1000 / all_files, bytes * 1000 / all_bytes);
        println!(
            "{name}: {files} of {all_files} files ({of_files} in 1000, at most {most_files}), {bytes} of {all_bytes} bytes ({of_bytes} in 1000, at most {most_bytes})"
        );
        if of_files > *most_files || of_bytes > *most_bytes {
            over.push(*name);
        }
    }
    assert!(over.is_empty(), "more than the bound: {over:?}");
}
