//! Messages in and out: a header with a length in bytes, then JSON (the protocol's base part).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use lsp_server::{ErrorCode, Message};
use serde_json::json;

use crate::walk::reason;

/// Longest line of a header, in bytes.
const LINE: u64 = 8 << 10;
/// Longest message, in bytes: a text of the largest size that is read, escaped.
const BODY: u64 = 1 << 30;

/// What comes from an editor.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message.
    Message(Message),
    /// Whole, but no message: why.
    Malformed(String),
    /// Where one message ends and the next one begins is lost: why. Nothing comes after it.
    Broken(String),
}

/// Reads messages on a thread of its own, to the end of `input`: an editor that waits until we have
/// read never waits for an answer that we cannot write.
pub(super) fn incoming(input: impl Read + Send + 'static) -> Result<Receiver<Incoming>, String> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut input = BufReader::new(input);
        while let Some(incoming) = next(&mut input) {
            let last = matches!(incoming, Incoming::Broken(_));
            if sender.send(incoming).is_err() || last {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("editor".to_owned()).spawn(read);
    match thread {
        Ok(_) => Ok(receiver),
        Err(error) => Err(format!("no thread could be started: {}", reason(&error))),
    }
}

/// Answers what is no message, as JSON-RPC has it: nobody knows whose request it was.
pub(super) fn refuse(out: &mut dyn Write, why: &str) -> io::Result<()> {
    let error = json!({ "code": ErrorCode::ParseError as i32, "message": why });
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

/// The next message; none where the input ends, be it within one.
fn next(input: &mut impl BufRead) -> Option<Incoming> {
    let body = match length(input) {
        Ok(length) => body(input, length?),
        Err(why) => Err(why),
    };
    let body = match body {
        Ok(body) => body?,
        Err(why) => return Some(Incoming::Broken(why)),
    };
    Some(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(format!("no message: {error}")),
    })
}

/// Reads a header: the length of what follows, in bytes.
fn length(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE).read_until(b'\n', &mut line);
        read.map_err(|error| unreadable(&error))?;
        if !line.ends_with(b"\n") {
            return if (line.len() as u64) < LINE {
                Ok(None)
            } else {
                Err("what comes is no language server protocol: no end of a header".to_owned())
            };
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let number = match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => value.trim(),
            Some(_) => continue,
            None => return Err(strange(line)),
        };
        let number = number.parse().ok().filter(|number| *number <= BODY);
        length = Some(number.ok_or_else(|| strange(line))?);
    }
    let none = || "what comes is no language server protocol: no Content-Length".to_owned();
    length.map(Some).ok_or_else(none)
}

/// Reads `length` bytes; memory is taken as they come, whatever the header promised.
fn body(input: &mut impl BufRead, length: u64) -> Result<Option<Vec<u8>>, String> {
    let mut body = Vec::new();
    let read = input.take(length).read_to_end(&mut body);
    let read = read.map_err(|error| unreadable(&error))?;
    Ok((read as u64 == length).then_some(body))
}

fn strange(line: &str) -> String {
    format!("what comes is no language server protocol: {line:?}")
}

fn unreadable(error: &io::Error) -> String {
    format!("cannot read from the editor: {}", reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<String> {
        let mut input = BufReader::new(bytes);
        let name = |incoming| match incoming {
            Incoming::Message(_) => "message".to_owned(),
            Incoming::Malformed(_) => "malformed".to_owned(),
            Incoming::Broken(why) => why,
        };
        std::iter::from_fn(|| next(&mut input))
            .map(name)
            .take(3)
            .collect()
    }

    #[test]
    fn what_is_whole_is_read_on_after_what_is_malformed() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let one = format!("content-LENGTH:{}\nX-Other: 1\n\n{exit}", exit.len());
        let bytes = format!("Content-Length: 3\r\n\r\n{{\"aContent-Length: 2\r\n\r\n[]{one}");
        assert_eq!(all(bytes.as_bytes()), ["malformed", "malformed", "message"]);
    }

    #[test]
    fn nothing_is_believed_of_a_header() {
        let deep = "[".repeat(100_000);
        let deep = format!("Content-Length: {}\r\n\r\n{deep}", deep.len());
        assert_eq!(all(deep.as_bytes()), ["malformed"]);
        for ends in [
            "",
            "Content-Le",
            "Content-Length: 5\r\n",
            "Content-Length: 900000000\r\n\r\n{}",
        ] {
            assert!(all(ends.as_bytes()).is_empty(), "{ends}");
        }
        for broken in [
            "\r\n",
            "hello\r\n",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 99999999999999999999\r\n\r\n",
            "Content-Type: x\r\n\r\n",
            &"x".repeat(10_000),
        ] {
            // What comes behind is not read any more.
            let said = all(broken.as_bytes());
            assert!(said[0].contains("no language server protocol"), "{said:?}");
        }
    }
}
