//! What a configuration says of nothing is told, by a run that can know it.

use std::path::Path;

use crate::command::{BAD, CONFIG, git, good, pipe, project, run, status, text, write};

const ALLOW: &str = "mechanism = 'new-session'\nreason = 'the service manager ends these'\n";

/// What is told as stale, each without its beginning and its end.
fn stale(folder: &Path, args: &[&str]) -> Vec<String> {
    let said = text(&run(folder, args).unwrap().stderr);
    let told = |line: &str| {
        let line = line.strip_prefix("note: stale in ")?;
        let line = line.strip_suffix("; mend it or take it out")?;
        Some(line.to_owned())
    };
    let lines: Vec<String> = said.lines().filter_map(told).collect();
    assert_eq!(lines.len(), said.lines().count(), "{said}");
    lines
}

#[test]
fn what_a_configuration_says_of_nothing_is_told() {
    let folder = project(&format!(
        "exclude = ['vendored/', 'vendord/', '!keep.py']\n\
         detaching-calls = ['team.launch', 'team.lanch', {{ path = 'bad.start', flag = 'definition' }}]\n\
         owning-calls = ['team.own', 'team.owm']\n\
         [[allow]]\npath = './bad.py'\n{ALLOW}\
         [[allow]]\npath = ['daemons/', 'x.py']\n{ALLOW}\
         [[allow]]\npath = 'fine.py'\n{ALLOW}\
         [[allow]]\npath = 'ended.py'\n{ALLOW}until = '2020-01-01'\n",
    ));
    let at = folder.path();
    write(at, "vendored/a.py", BAD);
    write(
        at,
        "keep.py",
        "from team import launch, own\nlaunch()\nown(1)\n",
    );
    write(at, "fine.py", good());
    write(at, "ended.py", BAD);
    let all = [
        "check-detached-spawns.toml: exclude: `vendord/` leaves nothing out",
        "check-detached-spawns.toml:8: [[allow]]: no file that was read matches `daemons/`, `x.py`",
        "check-detached-spawns.toml:12: [[allow]]: nothing in its files detaches by `new-session` without a reason of its own",
        "check-detached-spawns.toml: detaching-calls: nothing that was read calls or defines `team.lanch`",
        "check-detached-spawns.toml: detaching-calls: nothing that was read calls or defines `bad.start`",
        "check-detached-spawns.toml: owning-calls: nothing that was read calls `team.owm`",
    ];
    assert_eq!(stale(at, &["-A", "all"]), all);
    assert_eq!(stale(at, &["-j", "1", "."]), all);
    let ended = text(&run(at, &["ended.py"]).unwrap().stdout);
    assert!(ended.contains("[[allow]] at check-detached-spawns.toml:16 held until 2020-01-01"));
    // It is a remark: what was found decides.
    assert_eq!(status(&run(at, &["-A", "all"]).unwrap()), 0);
    assert!(stale(at, &["--no-config"]).is_empty());
    // What is mended is told no more.
    write(at, "vendord/a.py", "");
    write(at, "x.py", BAD);
    write(at, "fine.py", BAD);
    write(
        at,
        "bad.py",
        format!("from team import *\n\n\ndef start():\n    team.lanch(owm)\n\n\n{BAD}"),
    );
    let left = stale(at, &[]);
    assert!(
        left.len() < 3 && left.iter().all(|one| one.contains("-calls")),
        "{left:?}"
    );
}

#[test]
fn who_reads_a_part_cannot_tell() {
    let folder = project(
        "exclude = ['none/']\n[[allow]]\npath = 'none.py'\nmechanism = 'all'\nreason = 'there is no such file'\n",
    );
    let at = folder.path();
    write(at, "sub/a.py", BAD);
    assert_eq!(stale(at, &["."]).len(), 2);
    assert_eq!(stale(&at.join("sub"), &[".."]).len(), 2);
    for args in [
        &["bad.py"][..],
        &["sub"],
        &["--exclude", "sub/"],
        &["--lang", "python"],
        &["--show-settings"],
    ] {
        assert!(stale(at, args).is_empty(), "{args:?}");
    }
    let listed = pipe(at, &["--files-from", "-"], b"bad.py\n").unwrap();
    assert_eq!(text(&listed.stderr), "");
    git(at, &["init", "--quiet"]);
    git(at, &["add", "."]);
    assert!(stale(at, &["--staged"]).is_empty());
    // Whatever could not be read may be what it speaks of.
    assert_eq!(text(&run(at, &[".", "gone.py"]).unwrap().stderr), "");
}

#[test]
fn each_configuration_is_asked_about_its_own_folder() {
    let folder = project("exclude = ['none/']\n");
    let at = folder.path();
    let inner = "[tool.check-detached-spawns]\nexclude = ['gone/', 'sub/']\n";
    write(at, "pkg/pyproject.toml", inner);
    write(at, "pkg/a.py", BAD);
    write(at, "pkg/sub/b.py", BAD);
    let both = stale(at, &[]);
    assert_eq!(
        both,
        [
            "check-detached-spawns.toml: exclude: `none/` leaves nothing out",
            "pkg/pyproject.toml: exclude: `gone/` leaves nothing out",
        ]
    );
    assert_eq!(stale(at, &["pkg"]), both[1..]);
    // One that was chosen holds for everything.
    let chosen = ["--config", "pkg/pyproject.toml"];
    assert_eq!(stale(at, &chosen), both[1..]);
    assert!(stale(at, &[&chosen[..], &["pkg"]].concat()).is_empty());
    // What an ignore file leaves out as well is not stale.
    write(at, ".gitignore", "gone/\nnone/\n");
    write(at, "none/x.py", BAD);
    write(at, "pkg/gone/x.py", BAD);
    assert!(stale(at, &[]).is_empty());
    // On a machine that has not built anything it is not either.
    std::fs::remove_dir_all(at.join("none")).unwrap();
    std::fs::remove_dir_all(at.join("pkg/gone")).unwrap();
    assert!(stale(at, &[]).is_empty());
}

#[test]
fn what_would_speak_of_nothing_is_refused() {
    let allow = |key: &str, value: &str| {
        let mut entry = [
            ("path", "'a.py'"),
            ("mechanism", "'all'"),
            ("reason", "'the daemon of x'"),
        ];
        entry
            .iter_mut()
            .filter(|(own, _)| *own == key)
            .for_each(|own| own.1 = value);
        let lines = entry
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"));
        format!("[[allow]]\n{}", lines.collect::<String>())
    };
    for (config, said) in [
        (allow("path", "[]"), ":2:8: `path` is an empty list"),
        (
            allow("mechanism", "[]"),
            ":3:13: `mechanism` is an empty list",
        ),
        (allow("mechanism", "''"), ":3:13: there is no mechanism ``"),
        (allow("reason", "''"), ":4:10: the reason is"),
        (allow("reason", "'  '"), ":4:10: the reason is"),
        (allow("path", "'..\\a.py'"), ":2:8: cannot read the glob"),
        (allow("path", "'../a.py'"), ":2:8: cannot read the glob"),
        (
            "exclude = ['a', 'b\\c']\n".to_owned(),
            ":1:17: cannot read the glob",
        ),
    ] {
        let output = run(project(&config).path(), &[]).unwrap();
        let complaint = text(&output.stderr);
        assert_eq!(status(&output), 2, "{config}");
        assert!(
            complaint.contains(&format!("{CONFIG}{said}")),
            "{config}: {complaint}"
        );
    }
    let output = run(project("").path(), &["--exclude", r"a\b"]).unwrap();
    assert!(text(&output.stderr).contains("separated by `/`"));
}

#[test]
fn much_that_is_stale_is_counted() {
    let globs: Vec<String> = (0..30).map(|at| format!("'no{at}/'")).collect();
    let folder = project(&format!("exclude = [{}]\n", globs.join(", ")));
    let said = text(&run(folder.path(), &[]).unwrap().stderr);
    assert_eq!(said.lines().count(), 11, "{said}");
    assert!(
        said.ends_with("note: 20 more entries of the configuration are stale\n"),
        "{said}"
    );
}
