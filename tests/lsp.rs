//! The language server as an editor has it: what is told of texts, in whole sessions over pipes.

mod asked;
mod protocol;

use std::path::Path;

use serde_json::{Value, json};

use crate::command::{BAD, CALL, good, run, text, write};
use crate::editor::{Editor, folder, uri};

const STALE: &str =
    "# detached-spawn: the updater must outlive the process that it replaces\nx = 1\n";

/// `text` with the one edit of a code action made, its places counted in UTF-16 code units.
fn edited(action: &Value, uri: &str, text: &str) -> String {
    let edits = action["edit"]["changes"][uri].as_array().unwrap();
    assert_eq!(edits.len(), 1, "{action}");
    let offset = |place: &Value| {
        let [line, character] = ["line", "character"].map(|key| place[key].as_u64().unwrap());
        let line_of = text
            .split_inclusive('\n')
            .take(usize::try_from(line).unwrap());
        let start: usize = line_of.map(str::len).sum();
        let mut units = 0;
        let before = text[start..].chars().take_while(|char| {
            units += char.len_utf16() as u64;
            units <= character
        });
        start + before.map(char::len_utf8).sum::<usize>()
    };
    let [start, end] = ["start", "end"].map(|key| offset(&edits[0]["range"][key]));
    let new = edits[0]["newText"].as_str().unwrap();
    [&text[..start], new, &text[end..]].concat()
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    let codes = diagnostics
        .iter()
        .map(|own| own["code"].as_str().unwrap_or("none"));
    codes.collect()
}

#[test]
fn diagnostics_come_while_typing() {
    let folder = folder();
    let mut editor = Editor::started(folder.path());
    let answer = editor.begin(folder.path());
    let able = &answer["result"]["capabilities"];
    assert_eq!(able["positionEncoding"], "utf-16");
    assert_eq!(
        able["textDocumentSync"],
        json!({ "openClose": true, "change": 1 })
    );
    let file = uri(&folder.path().join("not saved/worker.py"));
    let typed = "import subprocess\n'🦀'; subprocess.Popen(['x'], start_new_session=True)\n";
    let told = editor.open(&file, typed);
    assert_eq!(codes(&told), ["detaching-spawn[new-session]"]);
    // The crab is two units.
    let range =
        json!({ "start": { "line": 1, "character": 30 }, "end": { "line": 1, "character": 52 } });
    assert_eq!(told[0]["range"], range);
    assert_eq!(
        (&told[0]["severity"], &told[0]["source"]),
        (&json!(1), &json!("check-detached-spawns"))
    );
    assert!(
        told[0]["message"]
            .as_str()
            .unwrap()
            .contains("survives a kill"),
        "{told:?}"
    );
    // Several changes at once: the last one is what counts, and is told.
    editor.change(
        &file,
        2,
        "import subprocess\nsubprocess.Popen(['x'], start_new_se",
    );
    editor.change(
        &file,
        3,
        "import subprocess\nsubprocess.Popen(['x'], start_new_session=flag)\n",
    );
    let told = editor.told(&file, 3);
    assert_eq!(
        (codes(&told), &told[0]["severity"]),
        (vec!["detaching-spawn[new-session]"], &json!(2))
    );
    editor.change(&file, 4, &good());
    assert!(editor.told(&file, 4).is_empty());
    editor.change(
        &file,
        5,
        "import subprocess\nsubprocess.Popen(['x'], start_new_session=True\n",
    );
    let told = editor.told(&file, 5);
    assert!(codes(&told).contains(&"unparsed-file"), "{told:?}");
    let params = json!({ "textDocument": { "uri": &file } });
    editor.notify("textDocument/didClose", params);
    let closed = editor.wait(|message| {
        message["params"].get("version").is_none() && message["params"]["uri"] == file
    });
    assert_eq!(closed["params"]["diagnostics"], json!([]));
    assert_eq!(editor.leave(), 0);
}

#[test]
fn other_places_and_texts_without_a_file_are_told_too() {
    let folder = folder();
    let mut editor = Editor::new(folder.path());
    let hook = "import os, subprocess\ndef hook():\n    os.setsid()\nsubprocess.Popen(['x'], preexec_fn=hook)\n";
    let told = editor.open("untitled:Untitled-1", hook);
    assert_eq!(codes(&told), ["detaching-spawn[preexec-detach]"]);
    let related = &told[0]["relatedInformation"][0]["location"];
    assert_eq!(
        (&related["uri"], &related["range"]["start"]["line"]),
        (&json!("untitled:Untitled-1"), &json!(3))
    );
    let rust = "fn start() {\n    std::process::Command::new(\"x\").process_group(0).spawn();\n}\n";
    assert_eq!(
        codes(&editor.open("untitled:Untitled-2.rs", rust)),
        ["detaching-spawn[new-group]"]
    );
    for other in ["worker.pyi", "notes.txt", "noext"] {
        let file = uri(&folder.path().join(other));
        assert!(editor.open(&file, BAD).is_empty(), "{other}");
    }
    let script = uri(&folder.path().join("script"));
    assert_eq!(
        editor
            .open(&script, &format!("#!/usr/bin/env python3\n{BAD}"))
            .len(),
        1
    );
    assert_eq!(editor.leave(), 0);
}

#[test]
fn a_configuration_holds_as_soon_as_it_is_written() {
    let folder = folder();
    write(
        folder.path(),
        "app/pyproject.toml",
        "[tool.check-detached-spawns.levels]\nall = 'warn'\n",
    );
    let mut editor = Editor::new(folder.path());
    let registered = editor.wait(|message| message["method"] == "client/registerCapability");
    let watchers = &registered["params"]["registrations"][0]["registerOptions"]["watchers"];
    assert!(
        watchers
            .to_string()
            .contains("**/check-detached-spawns.toml"),
        "{watchers}"
    );
    editor.send(&json!({ "jsonrpc": "2.0", "id": registered["id"], "result": null }));

    let file = uri(&folder.path().join("app/worker.py"));
    assert_eq!(editor.open(&file, BAD)[0]["severity"], 2);
    // Told by the editor.
    write(
        folder.path(),
        "app/pyproject.toml",
        "[tool.check-detached-spawns]\nexclud = []\n",
    );
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    let told = editor.told(&file, 1);
    assert_eq!(codes(&told), ["none"]);
    let message = told[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("app/pyproject.toml:2") && message.contains("exclude"),
        "{message}"
    );
    // Seen at the next change.
    write(
        folder.path(),
        "app/pyproject.toml",
        "[tool.check-detached-spawns]\nmarker = 'may-stay'\n",
    );
    editor.change(
        &file,
        2,
        &BAD.replace(
            "subprocess.",
            "# may-stay: the updater must outlive us all\nsubprocess.",
        ),
    );
    assert!(editor.told(&file, 2).is_empty());
    write(
        folder.path(),
        "app/pyproject.toml",
        "[tool.check-detached-spawns]\nexclude = ['worker.py']\n",
    );
    editor.change(&file, 3, BAD);
    assert!(editor.told(&file, 3).is_empty());
    std::fs::remove_file(folder.path().join("app/pyproject.toml")).unwrap();
    editor.change(&file, 4, BAD);
    assert_eq!(editor.told(&file, 4).len(), 1);
    assert_eq!(editor.leave(), 0);
}

/// Where there is no repository, the open folder is where the search for a configuration ends.
#[test]
fn an_open_folder_has_one_configuration() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "check-detached-spawns.toml",
        "levels.all = 'warn'\n",
    );
    write(folder.path(), "deep/er/a.py", BAD);
    let mut editor = Editor::new(folder.path());
    let file = uri(&folder.path().join("deep/er/a.py"));
    assert_eq!(editor.open(&file, BAD)[0]["severity"], 2);
    let mut folders = |added: &[&Path], removed: &[&Path]| {
        let list = |paths: &[&Path]| -> Vec<Value> {
            let folder = |path: &&Path| json!({ "uri": uri(path), "name": "x" });
            paths.iter().map(folder).collect()
        };
        let event = json!({ "added": list(added), "removed": list(removed) });
        editor.notify(
            "workspace/didChangeWorkspaceFolders",
            json!({ "event": event }),
        );
        editor.told(&file, 1)[0]["severity"].clone()
    };
    assert_eq!(folders(&[], &[folder.path()]), 1);
    assert_eq!(folders(&[folder.path()], &[]), 2);
    // The innermost one counts.
    assert_eq!(folders(&[&folder.path().join("deep")], &[]), 1);
    assert_eq!(editor.leave(), 0);
}

#[test]
fn what_a_run_leaves_out_has_no_diagnostics() {
    let folder = folder();
    write(
        folder.path(),
        "check-detached-spawns.toml",
        "exclude = ['vendored/']\n",
    );
    write(folder.path(), ".gitignore", "build/\n");
    write(folder.path(), ".venv/pyvenv.cfg", "");
    let all = [
        "vendored/a.py",
        "build/deep/a.py",
        ".venv/lib/a.py",
        "src/a.py",
    ];
    for name in all {
        write(folder.path(), name, BAD);
    }
    let run = run(folder.path(), &["--output-format", "concise"]).unwrap();
    let reads = text(&run.stdout);
    let mut editor = Editor::new(folder.path());
    for name in all
        .iter()
        .chain(&["vendored/new.py", "build/new.py", "src/new/new.py"])
    {
        let expected = if name.ends_with("new.py") {
            name.starts_with("src")
        } else {
            reads.contains(name)
        };
        let told = editor.open(&uri(&folder.path().join(name)), BAD);
        assert_eq!(told.len(), usize::from(expected), "{name}");
    }
    assert!(reads.starts_with("src/a.py:2"), "{reads}");
    // Another repository than the open one has rules of its own.
    let other = crate::editor::folder();
    write(
        other.path(),
        "pkg/check-detached-spawns.toml",
        "levels.all = 'warn'\n",
    );
    let told = editor.open(&uri(&other.path().join("pkg/a.py")), BAD);
    assert_eq!(told[0]["severity"], 2);
    assert_eq!(editor.leave(), 0);
}

#[test]
fn the_page_of_the_rule_is_shown_on_hover() {
    let folder = folder();
    let mut editor = Editor::new(folder.path());
    let file = uri(&folder.path().join("a.py"));
    editor.open(&file, &good());
    let mut hover = |line: u32, character: u32| {
        let place = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": &file }, "position": place });
        editor.ask("textDocument/hover", params)["result"].take()
    };
    // On the evidence, and on the comment that speaks of it.
    for (line, character) in [(2, 30), (1, 5)] {
        let shown = hover(line, character);
        let value = shown["contents"]["value"].as_str().unwrap();
        assert_eq!(shown["contents"]["kind"], "markdown");
        assert!(value.starts_with("justified: the updater"), "{value}");
        assert!(
            value.contains("# new-session (deny)\n") && value.contains("## Why it matters"),
            "{value}"
        );
    }
    assert_eq!(hover(0, 3), Value::Null);
    assert_eq!(hover(900, 900), Value::Null);
    let stale = uri(&folder.path().join("b.py"));
    editor.open(&stale, STALE);
    let params =
        json!({ "textDocument": { "uri": stale }, "position": { "line": 0, "character": 1 } });
    let shown = editor.ask("textDocument/hover", params);
    let value = shown["result"]["contents"]["value"].as_str().unwrap();
    assert!(
        value.contains("# unused-justification (finding)"),
        "{value}"
    );
    assert_eq!(editor.leave(), 0);
}

#[test]
fn markers_are_put_in_and_taken_out_as_the_command_does() {
    let folder = folder();
    let mut editor = Editor::new(folder.path());
    let deep = format!(
        "import subprocess\r\ndef f():\r\n    '🦀'\r\n    {}",
        CALL.replace('\n', "\r\n")
    );
    let chain = "fn f() {\n    std::process::Command::new(\"🦀\")\n        .process_group(0)\n        .spawn();\n}\n";
    let trailing = "x = '🦀'  # detached-spawn: the updater must outlive us all\n";
    let cases = [
        ("a.py", deep.as_str(), 3, "--add-markers"),
        ("b.rs", chain, 2, "--add-markers"),
        ("c.py", STALE, 0, "--fix"),
        ("d.py", trailing, 0, "--fix"),
    ];
    for (name, before, line, option) in cases {
        write(folder.path(), name, before);
        let file = uri(&folder.path().join(name));
        let told = editor.open(&file, before);
        let actions = editor.actions(&file, line);
        assert_eq!(actions.len(), 1, "{name}: {actions:?}");
        assert_eq!(
            (&actions[0]["kind"], &actions[0]["diagnostics"]),
            (&json!("quickfix"), &json!(told))
        );
        let after = edited(&actions[0], &file, before);
        run(folder.path(), &[option, name]).unwrap();
        assert_eq!(
            after,
            std::fs::read_to_string(folder.path().join(name)).unwrap(),
            "{name}"
        );
        assert!(after != before && editor.actions(&file, 900).is_empty());
        editor.change(&file, 2, &after);
        let faults: &[&str] = if option == "--fix" {
            &[]
        } else {
            &["empty-justification"]
        };
        let told = editor.told(&file, 2);
        let told: Vec<&str> = codes(&told)
            .iter()
            .map(|code| code.split('[').next().unwrap())
            .collect();
        assert_eq!(told, faults, "{name}");
    }
    // A warning may have its reason too, and what has one needs none.
    let file = uri(&folder.path().join("e.py"));
    editor.open(&file, "import webbrowser\nwebbrowser.open('x')\n");
    assert_eq!(editor.actions(&file, 1).len(), 1);
    editor.change(&file, 2, &good());
    assert!(editor.actions(&file, 2).is_empty());
    assert_eq!(editor.leave(), 0);
}
