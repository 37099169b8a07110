//! An editor for tests: one language server over two pipes. Whatever is waited for has a deadline.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::command::program;

const DEADLINE: Duration = Duration::from_secs(60);

/// An editor with one server.
pub(crate) struct Editor {
    child: Child,
    pub(crate) input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What came and was not asked for yet.
    waiting: Vec<Value>,
    requests: i32,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "a message is written where it is sent"
)]
impl Editor {
    #[expect(
        clippy::disallowed_methods,
        reason = "an editor talks to its server while it runs"
    )]
    pub(crate) fn spawned(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = message(&mut output) {
                sender.send(message).ok();
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            messages,
            waiting: Vec::new(),
            requests: 0,
        }
    }

    pub(crate) fn started(folder: &Path) -> Self {
        let mut command = program();
        command.current_dir(folder).arg("lsp");
        Self::spawned(command)
    }

    /// A session in `folder`, begun.
    pub(crate) fn new(folder: &Path) -> Self {
        let mut editor = Self::started(folder);
        editor.begin(folder);
        editor
    }

    pub(crate) fn begin(&mut self, folder: &Path) -> Value {
        let capabilities = json!({
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
            "textDocument": {
                "hover": { "contentFormat": ["markdown", "plaintext"] },
                "publishDiagnostics": { "relatedInformation": true },
            },
        });
        self.begin_as(folder, capabilities)
    }

    /// Begins as an editor that can do this.
    pub(crate) fn begin_as(&mut self, folder: &Path, capabilities: Value) -> Value {
        let params = json!({
            "processId": null, "rootUri": uri(folder), "capabilities": capabilities,
            "workspaceFolders": [{ "uri": uri(folder), "name": "x" }],
        });
        let answer = self.ask("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The first message, come or coming, that is `wanted`.
    pub(crate) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at);
        }
        let start = Instant::now();
        while let Some(left) = DEADLINE.checked_sub(start.elapsed()) {
            match self.messages.recv_timeout(left) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.waiting.push(message),
                Err(_) => break,
            }
        }
        panic!("it did not come; what came: {:#?}", self.waiting);
    }

    /// The response to a request, result or error.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Opens a document, and waits for its diagnostics.
    pub(crate) fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        self.show(uri, text);
        self.told(uri, 1)
    }

    /// Opens a document.
    pub(crate) fn show(&mut self, uri: &str, text: &str) {
        let language = if Path::new(uri).extension().is_some_and(|own| own == "rs") {
            "rust"
        } else {
            "python"
        };
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, text: &str) {
        let params = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "text": text }],
        });
        self.notify("textDocument/didChange", params);
    }

    /// The diagnostics of a document in one version.
    pub(crate) fn told(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let mut told = self.wait(|message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && params["version"] == version
        });
        serde_json::from_value(told["params"]["diagnostics"].take()).unwrap()
    }

    pub(crate) fn actions(&mut self, uri: &str, line: u32) -> Vec<Value> {
        self.offers(uri, line, "quickfix")
    }

    /// The code actions of a kind.
    pub(crate) fn offers(&mut self, uri: &str, line: u32, kind: &str) -> Vec<Value> {
        let place = json!({ "line": line, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": place, "end": place },
            "context": { "diagnostics": [], "only": [kind] },
        });
        let mut answer = self.ask("textDocument/codeAction", params);
        serde_json::from_value(answer["result"].take()).unwrap()
    }

    /// Whether a message of this kind came that nobody waited for.
    pub(crate) fn came(&self, method: &str) -> bool {
        self.waiting
            .iter()
            .any(|message| message["method"] == method)
    }

    /// Says goodbye, and waits for the end.
    pub(crate) fn leave(mut self) -> i32 {
        assert_eq!(self.ask("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.ended().0
    }

    /// The status, and what was said on standard error, at the end of the output.
    pub(crate) fn ended(&mut self) -> (i32, String) {
        let start = Instant::now();
        while let Some(left) = DEADLINE.checked_sub(start.elapsed()) {
            match self.messages.recv_timeout(left) {
                Ok(message) => self.waiting.push(message),
                Err(RecvTimeoutError::Disconnected) => {
                    let mut said = String::new();
                    let mut errors = self.child.stderr.take().unwrap();
                    errors.read_to_string(&mut said).unwrap();
                    return (self.child.wait().unwrap().code().unwrap_or(-1), said);
                }
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        panic!("the server does not end");
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // Ended already, unless a test failed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Reads one message; what is none fails the test by its absence.
fn message(output: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    output.read_line(&mut header).ok()?;
    let length: usize = header
        .trim_end()
        .strip_prefix("Content-Length: ")?
        .parse()
        .ok()?;
    let mut body = vec![0; length + 2];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(body.strip_prefix(b"\r\n")?).ok()
}

/// The URI of a file, as editors write it.
pub(crate) fn uri(path: &Path) -> String {
    let path = path
        .to_str()
        .unwrap()
        .replace('\\', "/")
        .replace(' ', "%20");
    format!("file:///{}", path.trim_start_matches('/'))
}

/// A repository to work in.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new()
        .prefix("cds lsp")
        .tempdir()
        .unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    folder
}
