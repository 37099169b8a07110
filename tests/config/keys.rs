//! What each key of a configuration does.

use crate::command::{BAD, CONFIG, concise, project, run, text, write};

/// The first line of `concise` for a project whose `bad.py` holds `code`.
fn first(config: &str, code: &str) -> String {
    let folder = project(config);
    write(folder.path(), "bad.py", code);
    concise(folder.path(), &[]).swap_remove(0)
}

fn justified(marker: &str) -> String {
    BAD.replace("\nsub", &format!("\n# {marker}\nsub"))
}

#[test]
fn reasons_must_be_as_the_configuration_wants() {
    let code = justified("detached-spawn: the updater outlives us");
    assert!(first("", &code).contains("1 justified"));
    let long = first("min-reason-length = 60\n", &code);
    assert!(
        long.contains("empty-justification[new-session]") && long.contains("23 of at least 60"),
        "{long}"
    );
    let ticket = "reason-pattern = 'OPS-\\d+'\n";
    assert!(first(ticket, &code).contains("has nothing that the pattern `OPS-\\d+` matches"));
    let with = justified("detached-spawn: the updater outlives us, OPS-12");
    assert!(first(ticket, &with).contains("1 justified"));
}

#[test]
fn brackets_may_be_demanded() {
    let config = "require-mechanism = true\n";
    let bare = first(
        config,
        &justified("detached-spawn: the updater outlives us"),
    );
    assert!(bare.contains("mechanism-mismatch[new-session]"), "{bare}");
    let named = justified("detached-spawn[new-session]: the updater outlives us");
    assert!(first(config, &named).contains("1 justified"));
}

#[test]
fn the_marker_may_be_another_word() {
    let config = "marker = 'must-outlive'\n";
    let own = justified("must-outlive: the updater replaces the process");
    assert!(first(config, &own).contains("1 justified"));
    let usual = first(
        config,
        &justified("detached-spawn: the updater replaces it"),
    );
    assert!(usual.contains("detaching-spawn[new-session]"), "{usual}");
    // In a file that holds nothing else for a rule, a stale or misspelt one is still seen.
    assert!(first(config, "# must-outlive: nothing is here\n").contains("unused-justification"));
    assert!(first(config, "# must_outlive: nothing is here\n").contains("malformed-marker"));
    let folder = project(config);
    let full = text(&run(folder.path(), &[]).unwrap().stdout);
    assert!(
        full.contains("`must-outlive:`") && !full.contains("detached-spawn:"),
        "{full}"
    );
}

const CALLER: &str = "from team.proc import launch as go\n\n\ngo(['server'])\n";

#[test]
fn callers_of_a_detaching_helper_are_findings() {
    let config = "detaching-calls = ['team.proc.launch']\n";
    assert!(first("", CALLER).starts_with("1 file, 0 findings"));
    let line = first(config, CALLER);
    assert!(line.starts_with("bad.py:4:1: detaching-spawn[lib-detach]: `go(['server'])` detaches, as `detaching-calls`"), "{line}");
    let why = CALLER.replace(
        "\n\n\n",
        "\n\n\n# detached-spawn: the server outlives this script\n",
    );
    assert!(first(config, &why).contains("1 justified"));
    // In its own package it is seen under shorter names, in Rust with the crate's.
    let near = "from .proc import launch\nlaunch('x')\n";
    assert!(first(config, near).contains("detaching-spawn[lib-detach]"));
    let folder = project(config);
    write(folder.path(), "bad.py", "");
    write(
        folder.path(),
        "src/main.rs",
        "use crate::proc::launch;\nfn main() { launch(\"x\"); }\n",
    );
    let line = concise(folder.path(), &[]).swap_remove(0);
    assert!(
        line.starts_with("src/main.rs:2:13: detaching-spawn[lib-detach]"),
        "{line}"
    );
}

const HELPER: &str = "import subprocess\n\n\ndef launch(argv):\n    return subprocess.Popen(argv, start_new_session=True)\n\n\nlaunch(['x'])\n";

#[test]
fn a_helper_that_is_handed_on_is_a_finding() {
    let config = "detaching-calls = ['team.proc.launch', 'bad.start']\n";
    for call in [
        "Thread(target=launch, args=(1,))",
        "pool.submit(launch, 1)",
        "partial(launch, 1)",
        "map(launch, names)",
        "pool.submit(start)",
    ] {
        let code =
            format!("from team.proc import launch\n\n\ndef start():\n    pass\n\n\n{call}\n");
        let line = first(config, &code);
        assert!(line.starts_with("bad.py:8:"), "{call}: {line}");
    }
}

#[test]
fn a_helper_answers_at_its_callers_or_at_its_definition() {
    let folder = project("detaching-calls = ['team.proc.launch']\n");
    write(folder.path(), "bad.py", "");
    write(folder.path(), "team/proc.py", HELPER);
    let lines = concise(folder.path(), &[]);
    assert!(lines[0].starts_with("team/proc.py:8:1: "), "{lines:?}");
    assert!(
        lines[1].contains("1 finding (1 denied, 0 warnings), 1 justified (1 allowed)"),
        "{lines:?}"
    );
    let definition = "detaching-calls = [{ path = 'team.proc.launch', flag = 'definition' }]\n";
    write(folder.path(), CONFIG, definition);
    let lines = concise(folder.path(), &[]);
    assert!(
        lines[0].starts_with("team/proc.py:5:35: detaching-spawn[new-session]"),
        "what it says itself is enough: {lines:?}"
    );
    assert!(lines[1].contains("1 finding"), "{lines:?}");
    write(
        folder.path(),
        "team/proc.py",
        "import _fast\n\n\ndef launch(argv):\n    return _fast.start(argv)\n",
    );
    let lines = concise(folder.path(), &[]);
    assert!(
        lines[0].starts_with(
            "team/proc.py:4:1: detaching-spawn[lib-detach]: `def launch(argv):` detaches"
        ),
        "{lines:?}"
    );
}

#[test]
fn what_a_helper_owns_is_no_finding() {
    let code = "import team\n\nteam.run_owned(['x'], start_new_session=True)\nteam.run(['x'], start_new_session=True)\n";
    let both = project("");
    write(both.path(), "bad.py", code);
    assert_eq!(concise(both.path(), &[]).len(), 3);
    let line = first("owning-calls = ['team.run_owned']\n", code);
    assert!(line.starts_with("bad.py:4:"), "{line}");
}

#[test]
fn allow_covers_what_it_names_until_its_day() {
    let allow = "[[allow]]\npath = 'daemons/'\nmechanism = 'new-session'\nreason = 'the service manager ends these'\n";
    let folder = project(allow);
    write(folder.path(), "daemons/a.py", BAD);
    write(folder.path(), "daemons/b.py", "import os\nos.setsid()\n");
    let lines = concise(folder.path(), &[]);
    assert!(
        lines[0].starts_with("bad.py:2:") && lines[1].starts_with("daemons/b.py:2:"),
        "{lines:?}"
    );
    assert!(lines[2].contains("1 justified (1 allowed)"), "{lines:?}");
    let json = run(folder.path(), &["--output-format", "json"]).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let covered = &report["justified"][0];
    assert_eq!(covered["verdict"], "allowed");
    let expected = serde_json::json!({"line": null, "reason": "the service manager ends these", "mechanisms": [], "until": null, "source": "configuration"});
    assert_eq!(covered["justification"], expected);

    write(
        folder.path(),
        CONFIG,
        format!("{allow}until = '2027-06-30'\n"),
    );
    let on = |day: &str| text(&run(folder.path(), &["--today", day]).unwrap().stdout);
    assert!(on("2027-06-30").contains("1 allowed"));
    let ended = on("2027-07-01");
    assert!(
        ended.contains("3 findings") && ended.contains("held until 2027-06-30"),
        "{ended}"
    );

    // A faulty comment is the comment's fault, wherever it stands.
    write(folder.path(), CONFIG, allow);
    write(
        folder.path(),
        "daemons/a.py",
        justified("detached-spawn: todo"),
    );
    assert!(
        concise(folder.path(), &[])
            .iter()
            .any(|line| line.starts_with("daemons/a.py:3:25: empty-justification"))
    );
}
