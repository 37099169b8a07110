//! The README says what the program says: its rule table is made from the rules themselves.
//! `UPDATE=1 cargo test --test readme` rewrites it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use check_detached_spawns::config::{ALLOW_KEYS, HELPER_KEYS, KEYS};
use check_detached_spawns::report::{FindingId, ProblemId};
use check_detached_spawns::rules::{ALL, Level};

use crate::command::{git, run, text, write};

const BEGIN: &str = "<!-- rules: made from src/rules by tests/readme.rs -->\n";
const END: &str = "<!-- end of rules -->";
const BEGIN_KEYS: &str = "<!-- keys: made from src/config/keys.rs by tests/readme.rs -->\n";
const END_KEYS: &str = "<!-- end of keys -->";

fn table() -> String {
    let mut table = String::from("| mechanism | level | what it finds |\n| --- | --- | --- |\n");
    for rule in ALL {
        let level = match rule.level {
            Level::Deny => "deny",
            Level::Warn => "warn",
            Level::Allow => "allow",
        };
        writeln!(
            table,
            "| `{}` | {level} | {} |",
            rule.id,
            rule.summary.replace('|', "\\|")
        )
        .unwrap();
    }
    table
}

fn key_table() -> String {
    let mut table = String::from("| key | default | |\n| --- | --- | --- |\n");
    let lists = [
        ("", KEYS),
        ("allow.", ALLOW_KEYS),
        ("detaching-calls.", HELPER_KEYS),
    ];
    for (of, keys) in lists {
        for key in keys {
            let default = if key.default.is_empty() {
                "required".to_owned()
            } else {
                format!("`{}`", key.default)
            };
            let summary = key.summary.replace('|', "\\|");
            writeln!(table, "| `{of}{}` | {default} | {summary} |", key.name).unwrap();
        }
    }
    table
}

/// Compares the part of the README between two lines with `wanted`, or writes it there.
fn is_current(begin: &str, end: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md is read");
    let start = readme.find(begin).expect("README.md has the table's begin") + begin.len();
    let end = readme.find(end).expect("README.md has the table's end");
    if std::env::var_os("UPDATE").is_some() {
        let updated = format!("{}{wanted}{}", &readme[..start], &readme[end..]);
        std::fs::write(&path, updated).expect("README.md is written");
        return;
    }
    assert_eq!(
        &readme[start..end],
        wanted,
        "run UPDATE=1 cargo test --test readme"
    );
}

#[test]
fn tables_are_current() {
    // One after the other: with UPDATE both write the same file.
    is_current(BEGIN, END, &table());
    is_current(BEGIN_KEYS, END_KEYS, &key_table());
}

#[test]
fn every_flag_is_in_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = include_str!("../README.md");
    let help = text(&run(root, &["--help"]).unwrap().stdout);
    let flags: Vec<&str> = help
        .lines()
        .filter_map(|line| line.trim_start().split_once("--"))
        .filter(|(before, _)| before.is_empty() || before.ends_with(", "))
        .filter_map(|(_, rest)| rest.split([' ', '[', '=', '.']).next())
        .filter(|flag| !["help", "version"].contains(flag))
        .collect();
    assert!(flags.len() > 25, "{flags:?}");
    for flag in flags {
        assert!(
            readme.contains(&format!("--{flag}")),
            "README.md does not say what --{flag} is"
        );
    }
}

#[test]
fn every_id_is_in_the_readme() {
    let readme = include_str!("../README.md");
    let findings = FindingId::ALL.map(FindingId::name);
    for id in findings
        .into_iter()
        .chain(ProblemId::ALL.map(ProblemId::name))
    {
        assert!(
            readme.contains(&format!("`{id}`")),
            "README.md does not say what {id} is"
        );
    }
}

/// What the page says of its placeholders is enough to copy from it.
#[cfg(unix)]
#[test]
fn placeholders_are_filled_in_a_clone() {
    let readme = include_str!("../README.md");
    let mut blocks = readme.split("```sh\n").skip(1);
    let block = blocks.find(|block| block.starts_with("owner=")).unwrap();
    let script = block.split("```").next().unwrap();
    for url in [
        "https://github.com/octo-org/check-detached-spawns",
        "https://github.com/octo-org/check-detached-spawns.git/",
        "git@github.com:octo-org/check-detached-spawns.git",
        "ssh://git@github.com/octo-org/check-detached-spawns",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        git(at, &["init", "--quiet"]);
        git(at, &["remote", "add", "origin", url]);
        write(at, "README.md", readme);
        git(at, &["add", "."]);
        git(at, &["commit", "--quiet", "--message=x"]);
        let head = text(&git(at, &["rev-parse", "HEAD"]).stdout);
        let filled = Command::new("sh")
            .args(["-c", script])
            .current_dir(at)
            .output();
        let filled = text(&filled.unwrap().stdout);
        for line in [
            format!("      - uses: octo-org/check-detached-spawns@{head}"),
            "  - repo: https://github.com/octo-org/check-detached-spawns\n".to_owned(),
            format!("    rev: {head}"),
        ] {
            assert!(filled.contains(&line), "{url}: {line}");
        }
        assert!(!filled.contains("OWNER/check") && !filled.contains("@COMMIT"));
    }
}

#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = [
        "README.md",
        "supervisor/README.md",
        "supervisor/python/README.md",
    ];
    let mut links = 0;
    for page in pages {
        let page = root.join(page);
        let text = std::fs::read_to_string(&page).unwrap();
        let words: String = text.split("```").step_by(2).collect();
        for link in words.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap();
            if !link.contains("://") && !link.is_empty() {
                let target = page.parent().unwrap().join(link);
                assert!(target.exists(), "{}: {link}", page.display());
                links += 1;
            }
        }
    }
    assert!(links > 8, "{links}");
}
