//! A language server: what the linter says of a text while it is written, its pages on hover, and
//! markers put in and taken out. After the Language Server Protocol 3.17, over two streams.
//!
//! One thread reads, this one answers. What has come is taken in before anything is judged, so that
//! of several changes of a document only the last one is.

mod actions;
mod diagnostics;
mod document;
mod hover;
mod lines;
mod protocol;
mod uri;
mod wire;
mod world;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::mpsc::TryRecvError;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use document::Document;
use protocol::{Asked, Changed, Client, Diagnostics, FoldersChanged, Hovered, Named, Opened};
use wire::Incoming;
use world::World;

pub use world::Settings;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By `exit` after `shutdown`.
    Orderly,
    /// By `exit` alone, or since the editor is gone.
    Abrupt,
    /// Before it began: nobody said `initialize`.
    NeverBegun,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

/// Why a request gets no result.
type Refusal = (ErrorCode, String);

struct Session<'a> {
    out: &'a mut dyn Write,
    state: State,
    client: Client,
    world: World,
    documents: BTreeMap<String, Document>,
    /// How often the editor was asked to ask again.
    refreshed: u32,
}

/// Serves one editor until it leaves. `out` is flushed after each message.
///
/// # Errors
///
/// Says what is wrong with a stream: it cannot be read or written, or what comes is no protocol.
pub fn serve(
    input: impl Read + Send + 'static,
    out: &mut dyn Write,
    settings: Settings,
) -> Result<Ended, String> {
    let incoming = wire::incoming(input)?;
    let mut session = Session {
        out,
        state: State::New,
        client: Client::default(),
        world: World::new(settings),
        documents: BTreeMap::new(),
        refreshed: 0,
    };
    loop {
        let next = match incoming.try_recv() {
            Ok(next) => Some(next),
            Err(TryRecvError::Empty) => match session.tell_one() {
                Ok(true) => continue,
                Ok(false) => incoming.recv().ok(),
                Err(error) => return gone(&error),
            },
            Err(TryRecvError::Disconnected) => None,
        };
        let done = match next {
            Some(Incoming::Message(message)) => session.take(message),
            Some(Incoming::Malformed(why)) => wire::refuse(session.out, &why).map(|()| None),
            Some(Incoming::Broken(why)) => return Err(why),
            None if session.state == State::New => return Ok(Ended::NeverBegun),
            None => return Ok(Ended::Abrupt),
        };
        match done {
            Ok(None) => {}
            Ok(Some(ended)) => return Ok(ended),
            Err(error) => return gone(&error),
        }
    }
}

/// An editor that does not read any more is gone, which is no fault of ours.
fn gone(error: &io::Error) -> Result<Ended, String> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(Ended::Abrupt),
        _ => Err(format!("cannot write to the editor: {error}")),
    }
}

impl Session<'_> {
    fn send(&mut self, message: impl Into<Message>) -> io::Result<()> {
        message.into().write(&mut self.out)
    }

    fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        let method = method.to_owned();
        self.send(Notification { method, params })
    }

    /// Takes one message in; says how the session ended, if it did.
    fn take(&mut self, message: Message) -> io::Result<Option<Ended>> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let response_result =
                    self.answer(request)
                        .map_err(|(code, message)| lsp_server::ResponseError {
                            code: code as i32,
                            message,
                            data: None,
                        });
                self.send(Response {
                    id,
                    response_result,
                })?;
            }
            Message::Notification(own) if own.method == "exit" => {
                let orderly = self.state == State::ShutDown;
                return Ok(Some(if orderly {
                    Ended::Orderly
                } else {
                    Ended::Abrupt
                }));
            }
            Message::Notification(own) if self.state == State::Running => self.hear(own)?,
            Message::Response(own) if protocol::is_told(&own) => self.world.is_told(),
            Message::Notification(_) | Message::Response(_) => {}
        }
        Ok(None)
    }

    fn answer(&mut self, request: Request) -> Result<Value, Refusal> {
        match (self.state, request.method.as_str()) {
            (State::New, "initialize") => {
                self.state = State::Running;
                self.client = Client::of(&request.params);
                self.world.open(&protocol::folders(&request.params));
                Ok(protocol::abilities())
            }
            (State::New, _) => Err((
                ErrorCode::ServerNotInitialized,
                "`initialize` comes first".to_owned(),
            )),
            (State::ShutDown, _) | (_, "initialize") => Err((
                ErrorCode::InvalidRequest,
                format!("no time for `{}`", request.method),
            )),
            (_, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (_, "textDocument/hover") => {
                let asked: Hovered = read(request.params)?;
                let markdown = self.client.markdown;
                let page = self.judged(&asked.text_document.uri, |document, _| {
                    hover::hover(document, asked.position, markdown)
                });
                Ok(page.flatten().unwrap_or_default())
            }
            (_, "textDocument/diagnostic") => {
                let asked: Named = read(request.params)?;
                let related = self.client.related;
                let items = self.judged(&asked.text_document.uri, |document, _| {
                    diagnostics::all(document, related)
                });
                Ok(json!({ "kind": "full", "items": items.unwrap_or_default() }))
            }
            (_, "textDocument/codeAction") => {
                let asked: Asked = read(request.params)?;
                let related = self.client.related;
                let actions = self.judged(&asked.text_document.uri, |document, world| {
                    actions::actions(document, &asked, world.today(), related)
                });
                let actions = actions.transpose();
                let actions = actions.map_err(|why| (ErrorCode::InternalError, why))?;
                Ok(Value::from(actions.unwrap_or_default()))
            }
            (_, other) => Err((
                ErrorCode::MethodNotFound,
                format!("`{other}` is not offered"),
            )),
        }
    }

    /// What `ask` says of an open document, judged as it is now.
    fn judged<T>(&mut self, uri: &str, ask: impl FnOnce(&Document, &World) -> T) -> Option<T> {
        let document = self.documents.get_mut(uri)?;
        document.judge(&mut self.world);
        Some(ask(document, &self.world))
    }

    fn hear(&mut self, notification: Notification) -> io::Result<()> {
        let method = notification.method;
        let heard = match method.as_str() {
            "initialized" if self.client.watches => return self.send(protocol::watch()),
            "textDocument/didOpen" => read(notification.params).map(|own: Opened| {
                let document = Document::new(own.text_document);
                self.documents.insert(document.uri.clone(), document);
            }),
            "textDocument/didChange" => read(notification.params).map(|own: Changed| {
                if let Some(document) = self.documents.get_mut(&own.text_document.uri) {
                    document.change(own);
                }
            }),
            "textDocument/didClose" => match read(notification.params) {
                Ok(own) => return self.close(&own),
                Err(refusal) => Err(refusal),
            },
            "workspace/didChangeWorkspaceFolders" => {
                match read::<FoldersChanged>(notification.params) {
                    Ok(own) => {
                        self.world.close(&protocol::paths(&own.event.removed));
                        self.world.open(&protocol::paths(&own.event.added));
                        return self.forget();
                    }
                    Err(refusal) => Err(refusal),
                }
            }
            "workspace/didChangeWatchedFiles" | "workspace/didChangeConfiguration" => {
                return self.forget();
            }
            _ => Ok(()),
        };
        match heard {
            Ok(()) => Ok(()),
            Err((_, why)) => {
                let message = format!("`{method}` is left aside: {why}");
                self.notify(
                    "window/logMessage",
                    json!({ "type": 2, "message": message }),
                )
            }
        }
    }

    /// What was found is forgotten, and where files stand: configurations may be other ones now.
    fn forget(&mut self) -> io::Result<()> {
        self.world.forget();
        self.documents.values_mut().for_each(Document::forget);
        if self.client.diagnostics == Diagnostics::AskedAgain {
            self.refreshed += 1;
            return self.send(protocol::refresh(self.refreshed));
        }
        Ok(())
    }

    fn close(&mut self, own: &Named) -> io::Result<()> {
        let uri = &own.text_document.uri;
        if self.documents.remove(uri).is_none() || self.client.diagnostics != Diagnostics::Told {
            return Ok(());
        }
        let nothing = json!({ "uri": uri, "diagnostics": [] });
        self.notify("textDocument/publishDiagnostics", nothing)
    }

    /// Tells the diagnostics of one document that has news; whether there was one. An editor that asks is
    /// not told.
    fn tell_one(&mut self) -> io::Result<bool> {
        if self.client.diagnostics != Diagnostics::Told {
            return Ok(false);
        }
        let mut documents = self.documents.values_mut();
        let Some(document) = documents.find(|own| !own.told) else {
            return Ok(false);
        };
        document.judge(&mut self.world);
        document.told = true;
        let mut params = json!({
            "uri": document.uri,
            "diagnostics": diagnostics::all(document, self.client.related),
        });
        if let (Some(version), Some(params)) = (document.version, params.as_object_mut()) {
            params.insert("version".to_owned(), version.into());
        }
        self.notify("textDocument/publishDiagnostics", params)?;
        Ok(true)
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}
