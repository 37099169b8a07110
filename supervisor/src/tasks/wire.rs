//! The words between a keeper and those who ask it: one JSON object a line, on a socket in the task's
//! folder, which its user alone can enter.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sys;

/// The keeper's socket in the task's folder.
pub(super) const SOCKET: &str = "control";
/// Longer lines are nobody's: the longest are commands, which the system bounds by two megabytes.
pub(super) const LONGEST: usize = 16 << 20;
/// How long a reader may let a writer wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes as JSON: text where they are text, else their numbers.
pub(super) fn from_bytes(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).map_or_else(|_| json!(bytes), |text| json!(text))
}

/// The bytes that [`from_bytes`] was given.
pub(super) fn to_bytes(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let numbers = value.as_array()?.iter();
    numbers
        .map(|number| u8::try_from(number.as_u64()?).ok())
        .collect()
}

/// Takes the first whole line out of `text`: none if there is none yet. What is no JSON is null.
pub(super) fn take_line(text: &mut Vec<u8>) -> Option<Value> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let line: Vec<u8> = text.drain(..=end).collect();
    Some(serde_json::from_slice(&line).unwrap_or_default())
}

/// A connection, with what of it was read and is no whole line yet.
pub(super) struct Line {
    pub(super) stream: UnixStream,
    text: Vec<u8>,
}

impl Line {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            text: Vec::new(),
        }
    }

    /// Connects to the keeper of the task in `folder`.
    pub(super) fn connect(folder: &Path) -> io::Result<Self> {
        // An address holds about a hundred bytes, a folder's path may be longer.
        let near = File::open(folder)?;
        let short = format!("/proc/self/fd/{}", near.as_raw_fd());
        let path = Path::new(&short);
        let path = if path.exists() { path } else { folder };
        UnixStream::connect(path.join(SOCKET)).map(Self::new)
    }

    pub(super) fn say(&self, value: &Value) -> io::Result<()> {
        sys::write_quietly(
            self.stream.as_fd(),
            format!("{value}\n").as_bytes(),
            PATIENCE,
        )
    }

    /// What is said next, waited for until `end`: none when the other side is gone.
    pub(super) fn hear(&mut self, end: Option<Instant>) -> io::Result<Option<Value>> {
        loop {
            if let Some(value) = take_line(&mut self.text) {
                return Ok(Some(value));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if !sys::poll_one(Some(self.stream.as_fd()), left)? {
                if left.is_some_and(|left| left.is_zero()) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                continue;
            }
            if !self.read()? {
                return Ok(None);
            }
        }
    }

    /// A line that was read already.
    pub(super) fn heard(&mut self) -> Option<Value> {
        take_line(&mut self.text)
    }

    /// What was read and is no whole line.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Reads what is there; false at the end.
    pub(super) fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => Ok(false),
            Ok(length) => {
                self.text.extend_from_slice(&buffer[..length]);
                Ok(self.text.len() <= LONGEST)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Asks the keeper of the task in `folder`; none if it is gone, or goes without an answer.
pub(super) fn ask(folder: &Path, what: &Value, end: Option<Instant>) -> io::Result<Option<Value>> {
    let Ok(mut line) = Line::connect(folder) else {
        return Ok(None);
    };
    if line.say(what).is_err() {
        return Ok(None);
    }
    line.hear(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        for bytes in [&b"text"[..], b"\xff\x00x", b"", "ä\n".as_bytes()] {
            assert_eq!(to_bytes(&from_bytes(bytes)).unwrap(), bytes);
        }
        assert_eq!(to_bytes(&json!({"a": 1})), None);
        assert_eq!(to_bytes(&json!([256])), None);
    }

    #[test]
    fn lines_are_whole_or_not_there() {
        let mut text = b"{\"a\": 1}\nnonsense\n{\"b".to_vec();
        assert_eq!(take_line(&mut text), Some(json!({"a": 1})));
        assert_eq!(take_line(&mut text), Some(Value::Null));
        assert_eq!(take_line(&mut text), None);
        assert_eq!(text, b"{\"b");
    }
}
