//! How a session begins and ends, what becomes of messages that are none, and how a server is started.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{BAD, program, run, status, text, write};
use crate::editor::{Editor, folder, uri};

#[test]
fn the_protocol_is_kept() {
    let folder = folder();
    let mut editor = Editor::started(folder.path());
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    editor.notify("textDocument/didOpen", json!({}));
    assert_eq!(
        code(&editor.ask("textDocument/hover", json!({}))),
        Some(-32002)
    );
    editor.begin(folder.path());
    assert_eq!(code(&editor.ask("initialize", json!({}))), Some(-32600));
    assert_eq!(
        code(&editor.ask("textDocument/rename", json!({}))),
        Some(-32601)
    );
    assert_eq!(
        code(&editor.ask("textDocument/hover", json!({ "position": -1 }))),
        Some(-32602)
    );
    let unknown =
        json!({ "textDocument": { "uri": "x:y" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(
        editor.ask("textDocument/hover", unknown)["result"],
        Value::Null
    );
    editor.notify("textDocument/didChange", json!([]));
    let said = editor.wait(|message| message["method"] == "window/logMessage");
    assert!(
        said["params"]["message"]
            .as_str()
            .unwrap()
            .contains("didChange"),
        "{said}"
    );
    editor.notify("$/setTrace", json!({ "value": "off" }));
    editor.raw(b"Content-Length: 4\r\n\r\n{\"a\"");
    let refused = editor.wait(|message| message.get("error").is_some());
    assert_eq!(
        (code(&refused), &refused["id"]),
        (Some(-32700), &Value::Null)
    );
    assert!(editor.ask("shutdown", Value::Null).get("result").is_some());
    assert_eq!(code(&editor.ask("shutdown", Value::Null)), Some(-32600));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended(), (0, String::new()));
}

#[test]
fn the_server_ends_whatever_becomes_of_its_editor() {
    let folder = folder();
    let begun = || Editor::new(folder.path());
    // `exit` without `shutdown`, a closed pipe, one closed within a message, and at once.
    let mut editor = begun();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended(), (1, String::new()));
    for last in ["", "Content-Len", "Content-Length: 50\r\n\r\n{\"json"] {
        let mut editor = begun();
        editor.raw(last.as_bytes());
        editor.input = None;
        assert_eq!(editor.ended(), (1, String::new()), "{last}");
    }
    let mut editor = Editor::started(folder.path());
    editor.input = None;
    let (status, said) = editor.ended();
    assert!(status == 2 && said.contains("`./lsp`"), "{said}");
    let mut editor = begun();
    editor.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let (status, said) = editor.ended();
    assert!(
        status == 2 && said.contains("no language server protocol"),
        "{said}"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "an editor that is gone while its server runs"
)]
fn an_editor_that_does_not_read_is_gone() {
    let folder = folder();
    let mut command = program();
    command.current_dir(folder.path()).arg("lsp");
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let mut input = child.stdin.take().unwrap();
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    // Its input stays open: what ends it is the answer that nobody takes.
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!((status(&output), text(&output.stderr)), (1, String::new()));
}

/// Whole frames with bodies that were cut, doubled and overwritten: the server lives on.
#[test]
fn no_message_ends_the_server() {
    let folder = folder();
    let mut editor = Editor::new(folder.path());
    let file = uri(&folder.path().join("a.py"));
    editor.open(&file, BAD);
    let place = json!({ "line": 1, "character": 30 });
    let seeds = [
        json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": { "textDocument": { "uri": &file, "version": 7 }, "contentChanges": [{ "text": BAD }] } }),
        json!({ "jsonrpc": "2.0", "id": "x", "method": "textDocument/hover", "params": { "textDocument": { "uri": &file }, "position": place } }),
        json!({ "jsonrpc": "2.0", "id": "y", "method": "textDocument/codeAction", "params": { "textDocument": { "uri": &file }, "range": { "start": place, "end": place }, "context": {} } }),
    ];
    let mut state: usize = 7;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for turn in 0..300 {
        let mut body = seeds[turn % seeds.len()].to_string().into_bytes();
        for _ in 0..=random(3) {
            let at = random(body.len());
            match random(3) {
                0 => body[at] = b"{}[]\",:0-9e\\\0\xff"[random(14)],
                1 => body.truncate(at.max(1)),
                _ => body.extend_from_within(at..),
            }
        }
        editor.raw(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        editor.raw(&body);
    }
    editor.change(&file, 1000, BAD);
    assert_eq!(editor.told(&file, 1000).len(), 1);
    assert_eq!(editor.leave(), 0);
}

#[test]
fn only_the_first_word_makes_a_server() {
    let folder = folder();
    write(
        folder.path(),
        "lsp",
        format!("#!/usr/bin/env python3\n{BAD}"),
    );
    for args in [&["./lsp"][..], &["--", "lsp"], &["--force-exclude", "lsp"]] {
        let output = run(folder.path(), args).unwrap();
        assert_eq!(status(&output), 1, "{args:?}");
    }
    assert_eq!(status(&run(folder.path(), &["lsp"]).unwrap()), 2);
    assert_eq!(status(&run(folder.path(), &["lsp", "a.py"]).unwrap()), 2);
    let man = text(&run(folder.path(), &["--man"]).unwrap().stdout);
    assert!(
        man.contains("spawns lsp\n") && !man.contains("lsp(1)"),
        "{man}"
    );
    let script = text(
        &run(folder.path(), &["--completions", "bash"])
            .unwrap()
            .stdout,
    );
    assert!(script.contains("lsp"), "{script}");
}

/// What the README tells editors to start is a server.
#[test]
fn editors_are_told_how_to_start_it() {
    let readme = include_str!("../../README.md");
    let block = |language: &str| {
        let fence = format!("```{language}\n");
        let mut blocks = readme
            .split(&fence)
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap());
        blocks
            .find(|block| block.contains("lsp"))
            .unwrap_or_else(|| panic!("no {language}"))
    };
    let code: Value = serde_json::from_str(block("json")).unwrap();
    let helix: toml_edit::DocumentMut = block("toml").parse().unwrap();
    let helix = &helix["language-server"]["check-detached-spawns"];
    let words = |list: &str| -> Vec<String> {
        let list = format!(
            "[{}]",
            list.trim()
                .trim_matches(['{', '}', '[', ']'])
                .replace('\'', "\"")
        );
        serde_json::from_str(&list).unwrap()
    };
    let neovim = block("lua").split("cmd = ").nth(1).unwrap();
    let neovim = words(neovim.split_inclusive('}').next().unwrap());
    let of_code = [
        code["glspc.server.command"].as_str().unwrap(),
        code["glspc.server.commandArguments"][0].as_str().unwrap(),
    ];
    let of_helix = [
        helix["command"].as_str().unwrap(),
        helix["args"][0].as_str().unwrap(),
    ];
    assert_eq!(neovim, of_code);
    assert_eq!(neovim, of_helix);
    assert_eq!(neovim[0], "check-detached-spawns");
    let folder = folder();
    let mut command = program();
    command.current_dir(folder.path()).args(&neovim[1..]);
    // As clients of VS Code have it.
    let mut editor = Editor::spawned({
        command.arg("--stdio");
        command
    });
    editor.begin(folder.path());
    assert_eq!(editor.leave(), 0);
}
