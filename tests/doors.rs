//! The doors through which users come in, each tried with the real tool behind it: act for the action,
//! pre-commit and prek for the hooks, maturin for the wheel, validators and parsers for what is written
//! for other programs. The tests are the Python programs in `tests/doors/`; a tool that is missing is
//! said, and fails where `CI=true`.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs one of the programs to its end.
fn script(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/doors/{name}.py"));
    let output = Command::new("python3")
        .args([Path::new("-B"), &path])
        .env("CDS_PROGRAM", env!("CARGO_BIN_EXE_check-detached-spawns"))
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        println!("not run: python3 missing");
        let required = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!required, "python3 is missing and CI=true");
        return;
    };
    let (said, faults) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    println!("{said}{faults}");
    assert!(output.status.success(), "{}", path.display());
}

#[test]
fn the_action_runs_in_act() {
    script("act");
}

#[test]
fn formatters_move_what_stays_in_force() {
    script("formatters");
}

#[test]
fn formats_are_what_their_readers_read() {
    script("formats");
}

#[test]
fn hooks_run_in_pre_commit_and_prek() {
    script("hooks");
}

#[test]
fn a_release_is_packed_and_tagged() {
    script("release");
}

#[test]
fn a_wheel_is_built_and_installed() {
    script("wheel");
}

#[test]
fn texts_for_other_programs_are_valid() {
    script("texts");
}
