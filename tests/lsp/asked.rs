//! What an editor asks for and is not told: diagnostics that it pulls, all fixes at once; and what it tells
//! itself, so that nothing is read again.

use serde_json::{Value, json};

use super::{codes, edited};
use crate::command::{BAD, CONFIG, good, run, write};
use crate::editor::{Editor, folder, uri};

fn pull(editor: &mut Editor, file: &str) -> Vec<Value> {
    let params = json!({ "textDocument": { "uri": file }, "identifier": "check-detached-spawns" });
    let mut answer = editor.ask("textDocument/diagnostic", params);
    assert_eq!(answer["result"]["kind"], "full", "{answer}");
    serde_json::from_value(answer["result"]["items"].take()).unwrap()
}

#[test]
fn who_asks_for_diagnostics_is_not_told_them() {
    let folder = folder();
    write(folder.path(), "a.py", BAD);
    let mut editor = Editor::started(folder.path());
    let able = json!({
        "workspace": {
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "diagnostics": { "refreshSupport": true },
        },
        "textDocument": { "diagnostic": { "relatedInformation": true }, "publishDiagnostics": {} },
    });
    let answer = editor.begin_as(folder.path(), able);
    let offered = &answer["result"]["capabilities"]["diagnosticProvider"];
    assert_eq!(offered["workspaceDiagnostics"], false, "{answer}");
    let file = uri(&folder.path().join("a.py"));
    editor.show(&file, BAD);
    let told = pull(&mut editor, &file);
    assert_eq!(codes(&told), ["detaching-spawn[new-session]"]);
    editor.change(&file, 2, &good());
    assert!(pull(&mut editor, &file).is_empty());
    editor.change(&file, 3, BAD);
    assert_eq!(pull(&mut editor, &file)[0]["severity"], 1);
    // A configuration that changes is a reason to ask again.
    write(folder.path(), CONFIG, "levels.all = 'warn'\n");
    for number in 1..3 {
        editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
        let asked = editor.wait(|message| message["method"] == "workspace/diagnostic/refresh");
        assert_eq!(asked["id"], format!("refresh {number}"));
        editor.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }));
        assert_eq!(pull(&mut editor, &file)[0]["severity"], 2);
    }
    // What is not open has none.
    assert!(pull(&mut editor, &uri(&folder.path().join("other.py"))).is_empty());
    let params = json!({ "textDocument": { "uri": &file } });
    editor.notify("textDocument/didClose", params);
    assert!(pull(&mut editor, &file).is_empty());
    assert_eq!(editor.ask("shutdown", Value::Null)["result"], Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended().0, 0);
    assert!(!editor.came("textDocument/publishDiagnostics"));
}

/// Severities of the same text before and after its configuration changes, unsaid and then said.
fn severities(agrees: Option<bool>) -> [Value; 3] {
    let folder = folder();
    write(folder.path(), "a.py", BAD);
    let mut editor = Editor::started(folder.path());
    let watches = json!({ "dynamicRegistration": agrees.is_some() });
    let able = json!({ "workspace": { "didChangeWatchedFiles": watches } });
    editor.begin_as(folder.path(), able);
    if let Some(agrees) = agrees {
        let asked = editor.wait(|message| message["method"] == "client/registerCapability");
        let mut answer = json!({ "jsonrpc": "2.0", "id": asked["id"] });
        let (key, value) = if agrees {
            ("result", Value::Null)
        } else {
            ("error", json!({ "code": -32601, "message": "no" }))
        };
        answer[key] = value;
        editor.send(&answer);
    }
    let file = uri(&folder.path().join("a.py"));
    let first = editor.open(&file, BAD)[0]["severity"].clone();
    write(folder.path(), CONFIG, "levels.all = 'warn'\n");
    editor.change(&file, 2, BAD);
    let unsaid = editor.told(&file, 2)[0]["severity"].clone();
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    let said = editor.told(&file, 2)[0]["severity"].clone();
    assert_eq!(editor.leave(), 0);
    [first, unsaid, said]
}

#[test]
fn a_configuration_is_read_again_when_its_change_is_told() {
    assert_eq!(severities(Some(true)), [1, 1, 2]);
    // Who does not tell, or does not agree to, need not.
    assert_eq!(severities(Some(false)), [1, 2, 2]);
    assert_eq!(severities(None), [1, 2, 2]);
}

#[test]
fn all_fixes_are_one_action() {
    let folder = folder();
    let mut editor = Editor::started(folder.path());
    let answer = editor.begin(folder.path());
    let kind = "source.fixAll.check-detached-spawns";
    let kinds = &answer["result"]["capabilities"]["codeActionProvider"]["codeActionKinds"];
    assert_eq!(kinds, &json!(["quickfix", kind]));
    let stale = "# detached-spawn: nothing detaches here any longer\nx = 1\n";
    let text = format!("y = '🦀'\n{stale}{}{stale}", good());
    write(folder.path(), "a.py", &text);
    let file = uri(&folder.path().join("a.py"));
    assert_eq!(editor.open(&file, &text).len(), 2);
    for asked in ["source.fixAll", kind, "source"] {
        let actions = editor.offers(&file, 900, asked);
        assert_eq!(
            (actions.len(), &actions[0]["kind"]),
            (1, &json!(kind)),
            "{asked}"
        );
        run(folder.path(), &["--fix", "a.py"]).unwrap();
        let fixed = std::fs::read_to_string(folder.path().join("a.py")).unwrap();
        assert_eq!(edited(&actions[0], &file, &text), fixed);
    }
    assert!(editor.offers(&file, 1, "source.fixAll.other").is_empty());
    editor.change(&file, 2, &good());
    assert!(editor.offers(&file, 1, kind).is_empty());
    assert_eq!(editor.leave(), 0);
}
