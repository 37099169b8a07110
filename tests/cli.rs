//! The command as users call it: what it prints, and the exit status. `TRYCMD=overwrite` rewrites
//! the expected output.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{BAD, FORMATS, Fallible, pipe, program, run, status, text};

#[test]
fn examples_hold() {
    let cases = trycmd::TestCases::new();
    cases.case("tests/cmd/*.trycmd").case("README.md");
}

#[test]
fn several_reports_are_written_at_once() -> Fallible {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("bad.py"), BAD)?;
    let args = [
        "--output-format",
        "concise",
        "--output-format",
        "sarif=a.sarif",
    ];
    let output = run(folder.path(), &[&args[..], &["bad.py"]].concat())?;
    assert_eq!(status(&output), 1);
    assert!(text(&output.stdout).starts_with("bad.py:2:"));
    assert!(std::fs::read(folder.path().join("a.sarif"))?.starts_with(b"{"));
    let quiet = run(
        folder.path(),
        &["-qq", "--output-format", "json=b.json", "bad.py"],
    )?;
    assert!(quiet.stdout.is_empty() && folder.path().join("b.json").exists());
    for args in [
        ["--output-format", "json", "--output-format", "full"],
        [
            "--output-format=sarif=same",
            "--output-format=json=same",
            "-j",
            "1",
        ],
        ["--output-format", "json=missing/x", "-j", "1"],
        ["--output-format", "jsn", "-j", "1"],
    ] {
        assert_eq!(status(&run(folder.path(), &args)?), 2, "{args:?}");
    }
    Ok(())
}

#[test]
fn statuses_are_the_same_in_every_format() -> Fallible {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("bad.py"), BAD)?;
    std::fs::write(folder.path().join("good.py"), "print(1)\n")?;
    for format in FORMATS {
        let of = |args: &[&str]| -> std::io::Result<i32> {
            let args = [&["--output-format", format], args].concat();
            Ok(status(&run(folder.path(), &args)?))
        };
        assert_eq!(of(&["good.py"])?, 0, "{format}");
        assert_eq!(of(&["."])?, 1, "{format}");
        assert_eq!(of(&["-q"])?, 1, "{format}");
        assert_eq!(of(&["-W", "all"])?, 0, "{format}");
        assert_eq!(of(&["-A", "all"])?, 0, "{format}");
        assert_eq!(of(&["-A", "all", "-D", "new-session"])?, 1, "{format}");
        assert_eq!(of(&["missing.py", "bad.py"])?, 2, "{format}");
        assert_eq!(of(&["--no-such-option"])?, 2, "{format}");
    }
    Ok(())
}

#[test]
fn a_missing_path_does_not_hide_the_rest() -> Fallible {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("bad.py"), BAD)?;
    let output = run(
        folder.path(),
        &["--output-format", "concise", "missing.py", "bad.py"],
    )?;
    let out = text(&output.stdout);
    assert_eq!(status(&output), 2);
    assert!(
        out.contains("bad.py:2:25: detaching-spawn[new-session]"),
        "{out}"
    );
    assert!(
        out.contains("missing.py: unreadable-path: cannot be read: no such file"),
        "{out}"
    );
    Ok(())
}

#[test]
fn standard_input_is_a_file() -> Fallible {
    let folder = tempfile::tempdir()?;
    let of = |args: &[&str], input: &str| {
        pipe(
            folder.path(),
            &[&["--output-format", "concise"], args].concat(),
            input.as_bytes(),
        )
    };
    let named = of(&["--stdin-filename", "pkg/x.py"], BAD)?;
    assert_eq!(status(&named), 1);
    assert!(
        text(&named.stdout).starts_with("pkg/x.py:2:25: "),
        "{}",
        text(&named.stdout)
    );
    let sniffed = of(&["-"], &format!("#!/usr/bin/env python3\n{BAD}"))?;
    assert!(
        text(&sniffed.stdout).starts_with("<stdin>:3:25: "),
        "{}",
        text(&sniffed.stdout)
    );
    assert_eq!(status(&of(&["-", "--lang", "python"], BAD)?), 1);
    assert_eq!(status(&of(&["-"], BAD)?), 2);
    let unknown = of(&["--stdin-filename", "x.txt"], BAD)?;
    assert_eq!(status(&unknown), 0);
    assert!(
        text(&unknown.stderr).contains("note: x.txt is neither"),
        "{}",
        text(&unknown.stderr)
    );
    let excluded = of(
        &[
            "--stdin-filename",
            "pkg/x.py",
            "--exclude",
            "pkg/",
            "--force-exclude",
        ],
        BAD,
    )?;
    assert_eq!(status(&excluded), 0);
    let size = BAD.len().to_string();
    let fits = of(&["-", "--lang=python", "--max-file-size", &size], BAD)?;
    assert!(
        text(&fits.stdout).contains("0 problems"),
        "{}",
        text(&fits.stdout)
    );
    let large = of(
        &["-", "--lang=python", "--max-file-size", &size],
        &format!("{BAD}\n"),
    )?;
    let wanted =
        format!("<stdin>: skipped-file: not read: larger than the limit of {size} bytes; raise");
    assert!(
        text(&large.stdout).starts_with(&wanted),
        "{}",
        text(&large.stdout)
    );
    assert_eq!(status(&large), 1);
    Ok(())
}

#[test]
fn lists_of_paths_may_be_long() -> Fallible {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("bad\nname.py"), BAD)?;
    std::fs::write(folder.path().join("good.py"), "")?;
    let mut list = b"./good.py\0".repeat(100_000);
    list.extend_from_slice(b"bad\nname.py\0");
    let output = pipe(
        folder.path(),
        &["--files-from", "-", "-0", "--output-format", "concise"],
        &list,
    )?;
    let out = text(&output.stdout);
    assert!(out.starts_with("bad\\nname.py:2:25: "), "{out}");
    assert!(
        out.ends_with("2 files, 1 finding (1 denied, 0 warnings), 0 justified, 0 problems\n"),
        "{out}"
    );
    let output = pipe(
        folder.path(),
        &["--files-from", "-", "--output-format", "concise"],
        b"good.py\r\n\n",
    )?;
    assert!(text(&output.stdout).starts_with("1 file, 0 findings"));
    // As some shells write lists.
    let output = pipe(
        folder.path(),
        &["--files-from", "-", "--output-format", "concise"],
        b"\xef\xbb\xbfgood.py\r\n",
    )?;
    assert!(text(&output.stdout).starts_with("1 file, 0 findings"));
    // An empty list is nothing to read, not everything.
    let output = pipe(
        folder.path(),
        &["--files-from", "-", "--output-format", "concise"],
        b"",
    )?;
    assert!(text(&output.stdout).starts_with("0 files, "));
    assert_eq!(
        status(&pipe(folder.path(), &["--files-from", "-", "-"], b"")?),
        2
    );
    Ok(())
}

#[test]
fn output_is_the_same_for_every_number_of_threads() -> Fallible {
    let folder = tempfile::tempdir()?;
    for index in 0..40 {
        std::fs::write(folder.path().join(format!("f{index}.py")), BAD)?;
    }
    let of = |jobs: &str| run(folder.path(), &["--output-format", "json", "-j", jobs]);
    let first = of("1")?;
    for jobs in ["1", "2", "8", "0"] {
        assert_eq!(of(jobs)?.stdout, first.stdout, "-j {jobs}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of = |jobs: &str| {
        let args = [
            "--output-format=json",
            "--no-config",
            "--deny=all",
            "-j",
            jobs,
            "fixtures",
        ];
        run(root, &args)
    };
    let alone = of("1")?.stdout;
    assert!(alone.len() > 500_000, "{} bytes", alone.len());
    assert_eq!(of("16")?.stdout, alone);
    Ok(())
}

#[test]
fn the_prefilter_changes_nothing() -> Fallible {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of = |args: &[&str]| -> Result<serde_json::Value, Box<dyn std::error::Error>> {
        let args = [
            &[
                "--output-format",
                "json",
                "--no-ignore",
                "--deny",
                "all",
                "fixtures",
                "tests/fixtures",
            ],
            args,
        ]
        .concat();
        let mut report: serde_json::Value = serde_json::from_slice(&run(root, &args)?.stdout)?;
        // How many files were parsed, and what is unreadable in those that were not, is what differs.
        report["summary"] = serde_json::Value::Null;
        report["problems"] = serde_json::Value::Null;
        Ok(report)
    };
    assert_eq!(of(&[])?, of(&["--no-prefilter"])?);
    Ok(())
}

#[test]
fn colour_is_for_those_who_see_it() -> Fallible {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("bad.py"), BAD)?;
    let coloured = |args: &[&str], variables: &[(&str, &str)]| -> std::io::Result<bool> {
        let output = program()
            .current_dir(folder.path())
            .args(args)
            .envs(variables.iter().copied())
            .output()?;
        Ok(output.stdout.contains(&0x1b))
    };
    assert!(!coloured(&[], &[])?);
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")])?);
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")])?);
    assert!(!coloured(
        &[],
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    )?);
    assert!(!coloured(
        &["--color", "never"],
        &[("CLICOLOR_FORCE", "1")]
    )?);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_fault() -> Fallible {
    let folder = tempfile::tempdir()?;
    for index in 0..200 {
        std::fs::write(folder.path().join(format!("f{index}.py")), BAD)?;
    }
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let output = program()
        .current_dir(folder.path())
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()?;
    assert_eq!(status(&output), 1);
    assert_eq!(text(&output.stderr), "");
    Ok(())
}

#[test]
fn hostile_text_cannot_forge_output() -> Fallible {
    let folder = tempfile::tempdir()?;
    let hostile =
        "import subprocess\nsubprocess.Popen(['\u{1b}[2J\u{202e}'], start_new_session=True)\n";
    std::fs::write(folder.path().join("bad.py"), hostile)?;
    for format in ["full", "concise"] {
        let out = text(&run(folder.path(), &["--output-format", format])?.stdout);
        assert!(out.contains("detaching-spawn"), "{out:?}");
        assert!(!out.contains(['\u{1b}', '\u{202e}', '\r']), "{out:?}");
    }
    Ok(())
}

#[test]
fn long_lines_are_cut() -> Fallible {
    let folder = tempfile::tempdir()?;
    let line = format!(
        "{}; {}; y = '{}'\n",
        "a = 1; ".repeat(2_000),
        BAD.replace('\n', "; ").trim_end_matches("; "),
        "é".repeat(9_000)
    );
    std::fs::write(folder.path().join("bad.py"), line)?;
    let out = text(&run(folder.path(), &[])?.stdout);
    assert!(out.contains("start_new_session=True"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() < 330), "{out}");
    Ok(())
}

/// A Python with the validator; none is said, and fails where everything must run.
pub(crate) fn validator() -> Option<PathBuf> {
    let has = |python: &PathBuf| {
        let tried = Command::new(python)
            .args(["-c", "import jsonschema"])
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    };
    let found = Some(PathBuf::from("python3")).filter(has);
    if found.is_none() {
        println!("not run: Python's jsonschema missing");
        assert!(
            std::env::var_os("CI").is_none_or(|value| value != "true"),
            "jsonschema is missing and CI=true"
        );
    }
    found
}

#[test]
fn json_is_as_its_schema_says() -> Fallible {
    let Some(python) = validator() else {
        return Ok(());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir()?;
    let script = "import json, sys, jsonschema\n\
        schema = json.load(open(sys.argv[1]))\n\
        jsonschema.Draft202012Validator.check_schema(schema)\n\
        for path in sys.argv[2:]:\n    \
            jsonschema.Draft202012Validator(schema).validate(json.load(open(path)))\n";
    let mut reports = Vec::new();
    for (index, args) in [["tests/fixtures"], ["fixtures"], ["no-such-path"]]
        .iter()
        .enumerate()
    {
        let args = [&["--output-format", "json", "--no-ignore"], args.as_slice()].concat();
        let report = folder.path().join(format!("{index}.json"));
        std::fs::write(&report, run(root, &args)?.stdout)?;
        reports.push(report);
    }
    let checked = Command::new(python)
        .args(["-c", script])
        .arg(root.join("src/report/schema.json"))
        .args(&reports)
        .output()?;
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    Ok(())
}

#[test]
fn fingerprints_stay_when_lines_move() -> Fallible {
    let folder = tempfile::tempdir()?;
    let fingerprints = |source: String| -> Result<Vec<String>, Box<dyn std::error::Error>> {
        std::fs::write(folder.path().join("bad.py"), source)?;
        let report: serde_json::Value =
            serde_json::from_slice(&run(folder.path(), &["--output-format", "json"])?.stdout)?;
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        Ok(findings
            .iter()
            .map(|finding| finding["fingerprint"].to_string())
            .collect())
    };
    let before = fingerprints(format!("{BAD}{BAD}"))?;
    assert_eq!(before.len(), 2);
    assert_ne!(before[0], before[1]);
    let laid_out = BAD
        .replace("['x'], start", "  # why\n    ['x'],\n    start")
        .replace("True)", "True,\n)");
    assert_eq!(
        fingerprints(format!("{}{laid_out}{laid_out}", "x = 1\n".repeat(30)))?,
        before
    );
    Ok(())
}

/// Our own detaching spawns are justified; examples of bad ones lie in folders named `fixtures`.
#[test]
fn this_repository_is_clean() -> Fallible {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = run(root, &["."])?;
    assert_eq!(status(&output), 0, "{}", text(&output.stdout));
    Ok(())
}
