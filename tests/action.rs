//! The action's script, called as the runner calls it: inputs and files by environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{CALL, git, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_check-detached-spawns");
const BAD: &str = "import subprocess\nsubprocess.Popen(['::error::x'], start_new_session=True)\n";
const GOOD: &str = "import subprocess\n# detached-spawn: the updater must outlive the process that it replaces\nsubprocess.Popen(['x'], start_new_session=True)\n";

/// What one step came to.
struct Step {
    status: i32,
    log: String,
    outputs: BTreeMap<String, String>,
    summary: String,
}

/// A runner: a folder for the repository, and one for what outlives a step.
struct Runner {
    folder: tempfile::TempDir,
    script: PathBuf,
}

impl Runner {
    fn new() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/action/run.sh");
        let folder = tempfile::tempdir().unwrap();
        for name in ["repository", "temp", "tools"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, script }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path("repository").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn step(&self, inputs: &[(&str, &str)]) -> Step {
        let (outputs, summary) = (self.path("outputs"), self.path("summary"));
        for file in [&outputs, &summary] {
            std::fs::write(file, "").unwrap();
        }
        let output = Command::new("bash")
            .arg(&self.script)
            .current_dir(self.path("repository"))
            .env("RUNNER_TEMP", self.path("temp"))
            .env("RUNNER_TOOL_CACHE", self.path("tools"))
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            .env("GITHUB_OUTPUT", &outputs)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .envs(inputs.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        let left = std::fs::read_dir(self.path("temp")).unwrap().count();
        let status = output.status.code().unwrap_or(-1);
        assert_eq!(left, 0, "the step left files behind");
        Step {
            status,
            log: String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr),
            outputs: read(&outputs).lines().map(pair).collect(),
            summary: read(&summary),
        }
    }
}

#[test]
fn findings_fail_the_step_and_are_shown() {
    let runner = Runner::new();
    runner.file("a b,c%d:e.py", BAD);
    runner.file("good.py", GOOD);
    let step = runner.step(&[
        ("INPUT_BINARY", PROGRAM),
        ("INPUT_SARIF_FILE", "out put.sarif"),
    ]);
    assert_eq!(step.status, 1, "{}", step.log);
    let output = |name: &str| step.outputs.get(name).map(String::as_str);
    assert_eq!(output("findings"), Some("1"));
    assert_eq!(output("justified"), Some("1"));
    assert_eq!(output("problems"), Some("0"));
    assert_eq!(output("exit-code"), Some("1"));
    assert_eq!(output("version"), Some(env!("CARGO_PKG_VERSION")));
    assert!(step.log.contains("\u{1b}["), "no colours: {}", step.log);
    assert!(
        step.log.contains("file=a b%2Cc%25d%3Ae.py,line=2,"),
        "{}",
        step.log
    );
    assert!(
        step.summary.contains("the updater must outlive"),
        "{}",
        step.summary
    );
    let sarif = std::fs::read(runner.path("repository/out put.sarif")).unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&sarif).is_ok());
    let mild = runner.step(&[
        ("INPUT_BINARY", PROGRAM),
        ("INPUT_FAIL_ON_FINDINGS", "false"),
        ("INPUT_ANNOTATIONS", "false"),
    ]);
    assert_eq!(mild.status, 0, "{}", mild.log);
    assert!(!mild.log.contains("::error title="), "{}", mild.log);
}

/// C 56: a summary over a mebibyte is dropped whole.
#[test]
fn a_summary_is_cut_before_the_runner_refuses_it() {
    let runner = Runner::new();
    let code = format!("import subprocess\n{}", CALL.repeat(200));
    for index in 0..40 {
        runner.file(&format!("{index}.py"), &code);
    }
    let step = runner.step(&[("INPUT_BINARY", PROGRAM), ("INPUT_ANNOTATIONS", "false")]);
    assert_eq!(step.outputs.get("findings").unwrap(), "8000");
    assert!(step.summary.len() < 1_000_000, "{}", step.summary.len());
    assert!(
        step.summary
            .starts_with("## Detached spawns\n\n40 files, 8000 findings")
    );
    let (rows, last) = step.summary.trim_end().rsplit_once("\n\n").unwrap();
    assert!(last.starts_with("**The rest is cut"), "{last}");
    assert!(rows.ends_with(" |"), "a row is whole or not there");
}

#[test]
fn sources_give_the_runner_no_commands() {
    let runner = Runner::new();
    runner.file(
        "bad.py",
        "import os\nos.system('''\n::error::x\nsetsid x &\n''')\n",
    );
    let step = runner.step(&[("INPUT_BINARY", PROGRAM), ("INPUT_ANNOTATIONS", "false")]);
    let stopped = step.log.split("::stop-commands::").nth(1).unwrap();
    let token = stopped.lines().next().unwrap();
    let (inside, after) = stopped.split_once(&format!("\n::{token}::")).unwrap();
    assert!(inside.contains("setsid"), "{}", step.log);
    assert!(!after.contains("::error"), "{}", step.log);
}

#[test]
fn a_clean_repository_passes_and_usage_fails() {
    let runner = Runner::new();
    runner.file("sub dir/good.py", GOOD);
    let step = runner.step(&[
        ("INPUT_BINARY", PROGRAM),
        ("INPUT_WORKING_DIRECTORY", "sub dir"),
        ("INPUT_PATHS", "good.py\r\n\n  \r\n"),
        ("INPUT_ARGS", "--jobs\n1"),
    ]);
    assert_eq!(step.status, 0, "{}", step.log);
    for inputs in [
        [("INPUT_BINARY", PROGRAM), ("INPUT_PATHS", "missing.py")],
        [("INPUT_BINARY", PROGRAM), ("INPUT_ARGS", "--no-such-flag")],
        [
            ("INPUT_BINARY", PROGRAM),
            ("INPUT_WORKING_DIRECTORY", "missing"),
        ],
        [
            ("INPUT_BINARY", "missing"),
            ("INPUT_FAIL_ON_FINDINGS", "false"),
        ],
    ] {
        let step = runner.step(&inputs);
        assert_eq!(step.status, 2, "{inputs:?}: {}", step.log);
        assert!(
            step.log.contains("::error title=check-detached-spawns::"),
            "{}",
            step.log
        );
        assert!(!step.log.contains("run.sh: line"), "{}", step.log);
    }
}

#[test]
fn only_what_is_new_fails_the_step() {
    let runner = Runner::new();
    let git = |args: &[&str]| {
        let output = git(&runner.path("repository"), args);
        text(&output.stdout).trim().to_owned()
    };
    git(&["init", "--quiet"]);
    runner.file("old.py", BAD);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=x"]);
    let base = git(&["rev-parse", "HEAD"]);
    let step = |more: &[(&str, &str)]| {
        let fixed = [("INPUT_BINARY", PROGRAM), ("INPUT_DIFF_ONLY", "true")];
        runner.step(&[&fixed[..], more].concat())
    };
    let old = step(&[("PULL_REQUEST_BASE", &base)]);
    assert_eq!(old.status, 0, "{}", old.log);
    runner.file("new.py", BAD);
    let new = step(&[("INPUT_DIFF_BASE", &base), ("PULL_REQUEST_BASE", "x")]);
    assert_eq!(new.status, 1, "{}", new.log);
    assert_eq!(new.outputs["findings"], "1");
    let none = step(&[]);
    assert!(
        none.status == 2 && none.log.contains("'diff-base'"),
        "{}",
        none.log
    );
    let shallow = step(&[("INPUT_DIFF_BASE", "origin/main")]);
    assert!(
        shallow.status == 2 && shallow.log.contains("fetch-depth: 0"),
        "{}",
        shallow.log
    );
    runner.file("quiet.toml", "[levels]\nall = 'allow'\n");
    let quiet = runner.step(&[("INPUT_BINARY", PROGRAM), ("INPUT_CONFIG", "quiet.toml")]);
    assert_eq!(quiet.status, 0, "{}", quiet.log);
}

/// An action's tree with a list of checksums, and releases to download.
fn released(runner: &mut Runner) -> (PathBuf, String) {
    let root = runner.path("action");
    let folder = root.join(".github/action");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(&runner.script, folder.join("run.sh")).unwrap();
    std::fs::write(root.join("Cargo.toml"), "version = \"1.2.3\"\n").unwrap();
    runner.script = folder.join("run.sh");
    let releases = runner.path("releases/v1.2.3");
    std::fs::create_dir_all(&releases).unwrap();
    let archive = releases.join("check-detached-spawns-x86_64-unknown-linux-musl.tar.gz");
    let packed = runner.path("packed");
    std::fs::create_dir(&packed).unwrap();
    // The program itself would take long to pack.
    let program = format!("#!/bin/sh\nexec {PROGRAM} \"$@\"\n");
    std::fs::write(packed.join("check-detached-spawns"), program).unwrap();
    let packed = Command::new("tar")
        .arg("-czf")
        .arg(&archive)
        .arg("-C")
        .arg(&packed)
        .arg("check-detached-spawns")
        .status();
    assert!(packed.unwrap().success());
    let sum = Command::new("sha256sum").arg(&archive).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap()[..64].to_owned();
    list(&runner.script, &sum);
    (
        archive,
        format!("file://{}", runner.path("releases").display()),
    )
}

fn list(script: &Path, sum: &str) {
    let text = format!("{sum}  check-detached-spawns-x86_64-unknown-linux-musl.tar.gz\n");
    std::fs::write(script.with_file_name("SHA256SUMS"), text).unwrap();
}

#[test]
fn a_release_is_downloaded_once_and_verified() {
    let mut runner = Runner::new();
    runner.file("good.py", GOOD);
    let (archive, url) = released(&mut runner);
    let step = runner.step(&[("INPUT_BASE_URL", &url)]);
    assert_eq!(step.status, 0, "{}", step.log);
    std::fs::remove_file(&archive).unwrap();
    let again = runner.step(&[("INPUT_BASE_URL", &url)]);
    assert_eq!(again.status, 0, "from the cache: {}", again.log);
}

#[test]
fn another_file_than_the_published_one_is_refused() {
    let mut runner = Runner::new();
    runner.file("good.py", GOOD);
    let (archive, url) = released(&mut runner);
    let bytes = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
    let step = runner.step(&[("INPUT_BASE_URL", &url)]);
    assert_eq!(step.status, 2);
    assert!(step.log.contains("nothing was run"), "{}", step.log);
}

#[test]
fn without_a_release_the_tree_is_built() {
    let mut runner = Runner::new();
    runner.file("good.py", GOOD);
    let (archive, url) = released(&mut runner);
    std::fs::remove_file(&archive).unwrap();
    let tools = runner.path("bin");
    std::fs::create_dir(&tools).unwrap();
    // A cargo that notes how it is called, and builds by copying.
    let cargo = format!(
        "#!/bin/sh\necho \"$@\" >{tools}/called\nfor last; do :; done\nmkdir -p \"$last/release\"\ncp {PROGRAM} \"$last/release/\"\n",
        tools = tools.display(),
    );
    std::fs::write(tools.join("cargo"), cargo).unwrap();
    let made = Command::new("chmod")
        .arg("+x")
        .arg(tools.join("cargo"))
        .status();
    assert!(made.unwrap().success());
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let step = runner.step(&[("INPUT_BASE_URL", &url), ("PATH", &path)]);
    assert_eq!(step.status, 0, "{}", step.log);
    let called = std::fs::read_to_string(tools.join("called")).unwrap();
    assert!(
        called.contains("--release --locked --manifest-path"),
        "{called}"
    );
}

#[test]
fn every_input_reaches_the_script_and_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (action, script, readme) = (
        read("action.yml"),
        read(".github/action/run.sh"),
        read("README.md"),
    );
    let section = |from: &str, to: &str| -> Vec<String> {
        let lines = action.lines().skip_while(|line| *line != from).skip(1);
        let own = lines.take_while(|line| *line != to);
        let names = own.filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
        names
            .filter(|name| !name.starts_with(' '))
            .map(str::to_owned)
            .collect()
    };
    let (inputs, outputs) = (section("inputs:", "outputs:"), section("outputs:", "runs:"));
    assert!(inputs.len() > 5 && outputs.len() > 5);
    for input in inputs {
        let name = format!("INPUT_{}", input.to_uppercase().replace('-', "_"));
        let line = format!("{name}: ${{{{ inputs.{input} }}}}");
        assert!(action.contains(&line), "{line}");
        assert!(script.contains(&format!("${{{name}:")), "{name}");
        assert!(
            readme.contains(&format!("| `{input}` |")),
            "{input} is not in the README"
        );
    }
    for output in outputs {
        assert!(script.contains(&format!("{output}=")), "{output}");
        assert!(
            readme.contains(&format!("`{output}`")),
            "{output} is not in the README"
        );
    }
}
