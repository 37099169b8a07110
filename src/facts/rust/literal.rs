//! Literals: numbers, and strings in pieces whose places in the source are exact.

use crate::facts::tree::Piece;
use crate::source::Span;

/// A literal's value.
pub(super) enum Literal {
    /// An integer that fits.
    Int(i128),
    /// A string of any kind.
    Text(Vec<Part>),
    /// A character, a float, anything else.
    Other,
}

/// Part of a string.
pub(super) enum Part {
    /// Constant text.
    Text(String, Span),
    /// A hole of a format string, with what stands before its `:`.
    Hole(String, Span),
}

impl Part {
    /// As a piece of the tree; a hole's value is not known.
    pub(super) fn piece(self) -> Piece {
        match self {
            Self::Text(text, span) => Piece::Text { text, span },
            Self::Hole(_, span) => Piece::Hole { value: None, span },
        }
    }
}

/// Reads the literal that is written as `text` at byte `start`; `format` says whether braces are
/// holes in it.
pub(super) fn read(text: &str, start: usize, format: bool) -> Literal {
    let body = text.trim_start_matches(['b', 'c', 'r']);
    let prefix = text.get(..text.len() - body.len()).unwrap_or_default();
    let first = body.bytes().next().unwrap_or_default();
    if first.is_ascii_digit() && prefix.is_empty() {
        return int(text).map_or(Literal::Other, Literal::Int);
    }
    let raw = prefix.ends_with('r');
    if first != b'"' && !(raw && first == b'#') {
        return Literal::Other;
    }
    let hashes = if raw {
        body.len() - body.trim_start_matches('#').len()
    } else {
        0
    };
    let from = prefix.len() + hashes + 1;
    let closing = format!(
        "\"{}",
        text.get(prefix.len()..prefix.len() + hashes)
            .unwrap_or_default()
    );
    let end = text
        .rfind(&closing)
        .filter(|end| *end >= from)
        .unwrap_or(text.len());
    let content = text.get(from..end).unwrap_or_default();
    Literal::Text(
        Reader {
            content,
            start: start + from,
            raw,
            format,
            parts: Vec::new(),
        }
        .run(),
    )
}

fn int(text: &str) -> Option<i128> {
    let digits: String = text.chars().filter(|digit| *digit != '_').collect();
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, digits.get(2..)?),
        Some("0o") => (8, digits.get(2..)?),
        Some("0b") => (2, digits.get(2..)?),
        _ => (10, digits.as_str()),
    };
    let length = digits
        .find(|digit: char| !digit.is_digit(radix))
        .unwrap_or(digits.len());
    let suffix = digits.get(length..)?;
    let whole = suffix.is_empty() || suffix.starts_with('i') || suffix.starts_with('u');
    if !whole {
        return None;
    }
    i128::from_str_radix(digits.get(..length)?, radix).ok()
}

struct Reader<'s> {
    content: &'s str,
    start: usize,
    raw: bool,
    format: bool,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn run(mut self) -> Vec<Part> {
        let (mut at, mut plain) = (0, 0);
        while let Some(next) = self.content.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = self.content.get(at..).unwrap_or_default();
            let special = match next {
                '\\' if !self.raw => true,
                '\r' => rest.starts_with("\r\n"),
                '{' | '}' => self.format,
                _ => false,
            };
            if !special {
                at += next.len_utf8();
                continue;
            }
            self.plain(plain, at);
            let length = match next {
                '\\' => self.escape(at, rest),
                '\r' => self.push("\n", at, 2),
                _ => self.brace(at, rest),
            };
            at += length.max(1);
            plain = at;
        }
        self.plain(plain, self.content.len());
        self.parts
    }

    fn span(&self, at: usize, length: usize) -> Span {
        Span::new(self.start + at, self.start + at + length)
    }

    fn push(&mut self, text: &str, at: usize, length: usize) -> usize {
        self.parts
            .push(Part::Text(text.to_owned(), self.span(at, length)));
        length
    }

    fn plain(&mut self, from: usize, to: usize) {
        if from < to {
            let text = self.content.get(from..to).unwrap_or_default().to_owned();
            self.parts
                .push(Part::Text(text, self.span(from, to - from)));
        }
    }

    fn escape(&mut self, at: usize, rest: &str) -> usize {
        let tail = rest.get(1..).unwrap_or_default();
        let Some(sign) = tail.chars().next() else {
            return 1;
        };
        let plain = match sign {
            'n' => "\n",
            't' => "\t",
            'r' => "\r",
            '0' => "\0",
            '\r' | '\n' => {
                return 1 + tail.len() - tail.trim_start_matches([' ', '\t', '\n', '\r']).len();
            }
            'x' => {
                let code = tail
                    .get(1..3)
                    .and_then(|code| u8::from_str_radix(code, 16).ok());
                return self.push(
                    &char::from(code.unwrap_or(b'?')).to_string(),
                    at,
                    rest.len().min(4),
                );
            }
            'u' => {
                let length = tail.find('}').map_or(1, |end| end + 1);
                let code = tail
                    .get(2..length.saturating_sub(1))
                    .unwrap_or_default()
                    .replace('_', "");
                let code = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                return self.push(&code.unwrap_or('?').to_string(), at, 1 + length);
            }
            _ => tail.get(..sign.len_utf8()).unwrap_or_default(),
        };
        self.push(plain, at, 1 + sign.len_utf8())
    }

    /// `{{`, `}}`, or a hole up to its `}`.
    fn brace(&mut self, at: usize, rest: &str) -> usize {
        if rest.starts_with("{{") || rest.starts_with("}}") {
            return self.push(rest.get(..1).unwrap_or_default(), at, 2);
        }
        let Some(end) = rest.find('}').filter(|end| *end > 0) else {
            return self.push(rest.get(..1).unwrap_or_default(), at, 1);
        };
        let inside = rest.get(1..end).unwrap_or_default();
        let name = inside
            .split(':')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        self.parts.push(Part::Hole(name, self.span(at, end + 1)));
        end + 1
    }
}
