//! Places as editors count them: lines and UTF-16 code units from 0. A line ends at LF, CRLF or CR
//! whatever the language says, and a byte order mark is a character.

use serde_json::{Value, json};

use super::protocol::Position;
use crate::source::Span;

/// A text, to ask for places in it.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Byte offset of the start of each line.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let lone = *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if *byte == b'\n' || lone {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// The line of the byte offset `at`, from 0.
    pub(super) fn line(&self, at: u32) -> usize {
        self.starts
            .partition_point(|start| *start <= at as usize)
            .saturating_sub(1)
    }

    /// The byte offset of a position; one past the end of a line is at its end.
    pub(super) fn offset(&self, position: Position) -> u32 {
        let end = self.text.len();
        let start_of = |line: usize| self.starts.get(line).copied().unwrap_or(end);
        let start = start_of(position.line as usize);
        let line = self.text.get(start..start_of(position.line as usize + 1));
        let line = line.unwrap_or_default().trim_end_matches(['\r', '\n']);
        let mut units = 0;
        let before = line.chars().take_while(|char| {
            units += char.len_utf16();
            units <= position.character as usize
        });
        let bytes: usize = before.map(char::len_utf8).sum();
        u32::try_from(start + bytes).unwrap_or(u32::MAX)
    }

    /// A `Range` of the protocol.
    pub(super) fn range(&self, span: Span) -> Value {
        json!({ "start": self.position(span.start), "end": self.position(span.end) })
    }

    fn position(&self, at: u32) -> Value {
        let line = self.line(at);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let at = (at as usize).min(self.text.len());
        let before = self.text.get(start..at).unwrap_or_default();
        json!({ "line": line, "character": before.encode_utf16().count() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_there_and_back() {
        let text = "\u{feff}a🦀é\r\nb\rc\n\nend";
        let lines = Lines::new(text);
        for (at, line, character) in [
            (0, 0, 0),
            (3, 0, 1),
            (4, 0, 2),
            (8, 0, 4),
            (12, 1, 0),
            (14, 2, 0),
            (16, 3, 0),
            (20, 4, 3),
        ] {
            let place = json!({ "line": line, "character": character });
            assert_eq!(lines.position(at), place, "{at}");
            assert_eq!(lines.offset(Position { line, character }), at);
        }
    }

    #[test]
    fn places_outside_are_the_nearest_ones() {
        let lines = Lines::new("a🦀\nb");
        let offset = |line, character| lines.offset(Position { line, character });
        assert_eq!(
            [offset(0, 2), offset(0, 99), offset(1, 99), offset(9, 9)],
            [1, 5, 7, 7]
        );
        assert_eq!(offset(u32::MAX, u32::MAX), 7);
        assert_eq!(
            lines.position(u32::MAX),
            json!({ "line": 1, "character": 1 })
        );
    }
}
