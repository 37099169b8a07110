//! The README says what the program says: its rule table is made from the rules themselves.
//! `UPDATE=1 cargo test --test readme` rewrites it.

use std::fmt::Write as _;
use std::path::Path;

use check_detached_spawns::report::{FindingId, ProblemId};
use check_detached_spawns::rules::{ALL, Level};

const BEGIN: &str = "<!-- rules: made from src/rules by tests/readme.rs -->\n";
const END: &str = "<!-- end of rules -->";

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

#[test]
fn rule_table_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md is read");
    let start = readme
        .find(BEGIN)
        .expect("README.md has the rule table's begin")
        + BEGIN.len();
    let end = readme
        .find(END)
        .expect("README.md has the rule table's end");
    if std::env::var_os("UPDATE").is_some() {
        let updated = format!("{}{}{}", &readme[..start], table(), &readme[end..]);
        std::fs::write(&path, updated).expect("README.md is written");
        return;
    }
    assert_eq!(
        &readme[start..end],
        table(),
        "run UPDATE=1 cargo test --test readme"
    );
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
