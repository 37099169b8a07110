//! The program as others call it: run it in a folder, and look at what it said.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) type Fallible = Result<(), Box<dyn std::error::Error>>;

/// Every format of output.
pub(crate) const FORMATS: [&str; 11] = [
    "full",
    "concise",
    "json",
    "jsonl",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "checkstyle",
    "rdjsonl",
    "markdown",
];

/// The name of a configuration's file.
pub(crate) const CONFIG: &str = "check-detached-spawns.toml";

/// A file with one finding, on line 2.
pub(crate) const BAD: &str = "import subprocess\nsubprocess.Popen(['x'], start_new_session=True)\n";

/// A good reason.
pub(crate) const REASON: &str =
    "# detached-spawn: the updater must outlive the process that it replaces\n";
/// What it may stand above: a detaching spawn.
pub(crate) const CALL: &str = "subprocess.Popen(['x'], start_new_session=True)\n";

/// A file with a justified spawn.
pub(crate) fn good() -> String {
    format!("import subprocess\n{REASON}{CALL}")
}

/// A folder with a bad file and this configuration.
pub(crate) fn project(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    write(folder.path(), "bad.py", BAD);
    write(folder.path(), CONFIG, config);
    folder
}

/// The program, with no wish for colours.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_check-detached-spawns"));
    command
        .env_remove("NO_COLOR")
        .env_remove("FORCE_COLOR")
        .env_remove("CLICOLOR_FORCE");
    command
}

pub(crate) fn run(folder: &Path, args: &[&str]) -> std::io::Result<Output> {
    program()
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .output()
}

/// Runs with `text` on standard input. The pipe holds it all, so that nothing waits.
pub(crate) fn pipe(folder: &Path, args: &[&str], text: &[u8]) -> std::io::Result<Output> {
    let mut input = tempfile::tempfile()?;
    input.write_all(text)?;
    std::io::Seek::rewind(&mut input)?;
    program()
        .current_dir(folder)
        .args(args)
        .stdin(input)
        .output()
}

/// git as nobody has configured it.
pub(crate) fn git(folder: &Path, args: &[&str]) -> Output {
    let output = Command::new("git")
        .current_dir(folder)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git is installed");
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        text(&output.stderr)
    );
    output
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// The lines of `concise` on standard output; the run may not complain.
pub(crate) fn concise(folder: &Path, args: &[&str]) -> Vec<String> {
    let args = [&["--output-format", "concise"], args].concat();
    let output = run(folder, &args).expect("the program runs");
    let complaint = text(&output.stderr);
    assert!(!complaint.contains("error:"), "{complaint}");
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// Writes `text` to a file, and its folders.
pub(crate) fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders are made");
    std::fs::write(path, text).expect("the file is written");
}
