//! Tables that tests measure and the crate's README shows: a table that is not the measured one fails the test.

use std::sync::{Mutex, PoisonError};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// Two tests that write at once would undo each other's work.
static WRITING: Mutex<()> = Mutex::new(());

/// Prints a table, and sees that the README shows it between its marks; with `UPDATE=1` writes it there.
/// Rows that were not run on this machine are named by their first cell.
pub(crate) fn is_in_the_readme(name: &str, table: &str, not_run: &[&str]) {
    println!("{table}");
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let readme = std::fs::read_to_string(README).expect("supervisor/README.md");
    let begin = format!("<!-- {name}: measured by supervisor/tests/{name}.rs -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = readme.split_once(&begin).expect("the table's begin");
    let (shown, after) = rest.split_once(&end).expect("the table's end");
    let was_run = |line: &&str| {
        !not_run
            .iter()
            .any(|row| line.starts_with(&format!("| {row} |")))
    };
    if std::env::var_os("UPDATE").is_some() && not_run.is_empty() {
        let updated = format!("{before}{begin}{table}{end}{after}");
        std::fs::write(README, updated).expect("supervisor/README.md is written");
        return;
    }
    let shown: Vec<&str> = shown.lines().filter(was_run).collect();
    let measured: Vec<&str> = table.lines().collect();
    assert_eq!(
        shown, measured,
        "run UPDATE=1 cargo test -p spawn-owned {name}"
    );
}
