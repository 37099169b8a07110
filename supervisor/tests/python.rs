//! The Python package, by its own tests: real processes and real kills, with Rust owners beside it.

use std::process::Command;

use crate::witness::example;

#[test]
fn the_tests_of_the_python_package() {
    let tests = Command::new("python3")
        .args(["-m", "unittest", "discover"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/python"))
        // Owners of this crate write to the same ledger there.
        .env("SPAWN_OWNED_RUST_OWNER", example("owner"))
        .status();
    match tests {
        Ok(status) => assert!(status.success(), "the Python tests: {status}"),
        Err(error) => {
            println!("not run: python3 missing ({error})");
            assert!(std::env::var("CI").is_err(), "python3 is needed");
        }
    }
}
