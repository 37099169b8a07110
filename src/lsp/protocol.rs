//! What is read of the protocol's messages, and what we say of ourselves. What an editor sends besides
//! is not looked at.

use std::path::PathBuf;

use lsp_server::{Request, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::uri;
use crate::config::NAMES;

/// A place, from 0, in UTF-16 code units.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

#[derive(Debug, Deserialize)]
pub(super) struct Identifier {
    pub(super) uri: String,
    pub(super) version: Option<i64>,
}

/// `textDocument/didOpen`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened {
    pub(super) text_document: Item,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) uri: String,
    #[serde(default)]
    pub(super) language_id: String,
    pub(super) version: Option<i64>,
    pub(super) text: String,
}

/// `textDocument/didChange`; each change is the whole text, as we asked.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    pub(super) text_document: Identifier,
    pub(super) content_changes: Vec<Text>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Text {
    pub(super) text: String,
}

/// `textDocument/didClose` and `textDocument/diagnostic`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    pub(super) text_document: Identifier,
}

/// `textDocument/hover`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hovered {
    pub(super) text_document: Identifier,
    pub(super) position: Position,
}

/// `textDocument/codeAction`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    pub(super) text_document: Identifier,
    pub(super) range: Range,
    #[serde(default)]
    pub(super) context: Kinds,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Kinds {
    pub(super) only: Option<Vec<String>>,
}

/// `workspace/didChangeWorkspaceFolders`.
#[derive(Debug, Deserialize)]
pub(super) struct FoldersChanged {
    pub(super) event: FolderEvent,
}

#[derive(Debug, Deserialize)]
pub(super) struct FolderEvent {
    pub(super) added: Vec<Identifier>,
    pub(super) removed: Vec<Identifier>,
}

/// How an editor gets diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Diagnostics {
    /// It is told.
    #[default]
    Told,
    /// It asks.
    Asked,
    /// It asks, and does so again when it is told to.
    AskedAgain,
}

/// What an editor can do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Client {
    /// Tells of changed files, if asked to.
    pub(super) watches: bool,
    /// Shows other places of a diagnostic.
    pub(super) related: bool,
    /// Shows Markdown on hover.
    pub(super) markdown: bool,
    /// How it gets diagnostics.
    pub(super) diagnostics: Diagnostics,
}

impl Client {
    /// As `initialize` says.
    pub(super) fn of(params: &Value) -> Self {
        let ability = |path: &str| params.pointer(&format!("/capabilities/{path}"));
        let is = |path: &str| ability(path).and_then(Value::as_bool).unwrap_or(false);
        let formats = ability("textDocument/hover/contentFormat").and_then(Value::as_array);
        let related = |of: &&str| is(&format!("textDocument/{of}/relatedInformation"));
        Self {
            watches: is("workspace/didChangeWatchedFiles/dynamicRegistration"),
            related: ["publishDiagnostics", "diagnostic"].iter().any(related),
            markdown: formats.is_some_and(|formats| formats.contains(&"markdown".into())),
            diagnostics: match ability("textDocument/diagnostic") {
                Some(Value::Object(_)) if is("workspace/diagnostics/refreshSupport") => {
                    Diagnostics::AskedAgain
                }
                Some(Value::Object(_)) => Diagnostics::Asked,
                _ => Diagnostics::Told,
            },
        }
    }
}

/// The folders that an editor has open, as `initialize` says.
pub(super) fn folders(params: &Value) -> Vec<PathBuf> {
    let listed = params.get("workspaceFolders").and_then(Value::as_array);
    let root = params.get("rootUri");
    let of = |value: &Value| value.as_str().and_then(uri::path);
    match listed {
        Some(listed) => {
            let uris = listed.iter().filter_map(|folder| folder.get("uri"));
            uris.filter_map(of).collect()
        }
        None => root.and_then(of).into_iter().collect(),
    }
}

/// The paths of folders that come or go.
pub(super) fn paths(folders: &[Identifier]) -> Vec<PathBuf> {
    let paths = folders.iter().map(|folder| uri::path(&folder.uri));
    paths.flatten().collect()
}

/// The answer to `initialize`: what we can do, and who we are.
pub(super) fn abilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 1 },
            "hoverProvider": true,
            "codeActionProvider": { "codeActionKinds": super::actions::KINDS },
            "diagnosticProvider": {
                "identifier": env!("CARGO_PKG_NAME"),
                "interFileDependencies": false,
                "workspaceDiagnostics": false,
            },
            "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
        },
        "serverInfo": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
    })
}

/// The id of [`watch`], by which its answer is known.
const WATCH: &str = "configurations";

/// Asks to be told when a file changes that may hold a configuration, or leave files out.
pub(super) fn watch() -> Request {
    let names = NAMES
        .iter()
        .chain(&[".gitignore", ".ignore", ".git/info/exclude"]);
    let watchers: Vec<Value> = names
        .map(|name| json!({ "globPattern": format!("**/{name}") }))
        .collect();
    let registration = json!({
        "id": WATCH,
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    Request {
        id: WATCH.to_owned().into(),
        method: "client/registerCapability".to_owned(),
        params: json!({ "registrations": [registration] }),
    }
}

/// Whether an editor agrees to [`watch`].
pub(super) fn is_told(response: &Response) -> bool {
    response.id == WATCH.to_owned().into() && response.response_result.is_ok()
}

/// Asks an editor that asks for diagnostics to do so again.
pub(super) fn refresh(number: u32) -> Request {
    Request {
        id: format!("refresh {number}").into(),
        method: "workspace/diagnostic/refresh".to_owned(),
        params: Value::Null,
    }
}
