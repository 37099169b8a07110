//! Just enough of a lexer to skip strings and comments and to count brackets, for code that the
//! readers have read already. Total: on text that is no code it is merely wrong.

use crate::source::{Language, Source};

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// White space and comments.
    Blank,
    /// `(`, `[`, `{`.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// Strings, words, and every other character.
    Other(char),
}

/// End of the argument, entry, item or chain link that starts at `from`: the next comma or
/// semicolon, the bracket that closes around it, for a chain link the next one on a line of its own;
/// at most `limit`.
pub(super) fn item_end(source: &Source, from: u32, limit: u32) -> u32 {
    let (mut at, limit) = (from as usize, limit as usize);
    let link = source.code().as_bytes().get(at) == Some(&b'.');
    let mut depth = 0_usize;
    let mut line = source.line(from);
    while at < limit {
        let (piece, end) = step(source, at);
        match piece {
            Piece::Open => depth += 1,
            Piece::Close | Piece::Other(',' | ';') if depth == 0 => break,
            Piece::Close => depth -= 1,
            Piece::Other('.') if link && depth == 0 && source.line(offset(at)) > line => break,
            Piece::Blank | Piece::Other(_) => {}
        }
        if piece != Piece::Blank {
            line = source.line(offset(end.saturating_sub(1)));
        }
        at = end;
    }
    offset(at.min(limit))
}

/// Where the decorators or attributes that open the code at `from` lie: each one's start and end.
pub(super) fn decorators(source: &Source, from: u32, limit: u32) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut at = skip_blank(source, from as usize);
    while at < limit as usize {
        let end = match source.code().as_bytes().get(at) {
            Some(b'@') if source.language == Language::Python => {
                logical_line_end(source, at, limit as usize)
            }
            Some(b'#') if source.language == Language::Rust => {
                attribute_end(source, at, limit as usize)
            }
            _ => break,
        };
        found.push((offset(at), offset(end)));
        at = skip_blank(source, end);
    }
    found
}

fn skip_blank(source: &Source, mut at: usize) -> usize {
    loop {
        let (piece, end) = step(source, at);
        if piece != Piece::Blank || end == at {
            return at;
        }
        at = end;
    }
}

/// End of the code of the logical line at `at`, which a line break outside of brackets ends.
fn logical_line_end(source: &Source, mut at: usize, limit: usize) -> usize {
    let mut depth = 0_usize;
    let mut last = at;
    while at < limit {
        let (piece, end) = step(source, at);
        let broken = source
            .text
            .get(at..end)
            .is_some_and(|text| text.contains(['\n', '\r']));
        match piece {
            Piece::Blank if depth == 0 && broken => break,
            Piece::Open => depth += 1,
            Piece::Close => depth = depth.saturating_sub(1),
            Piece::Blank | Piece::Other(_) => {}
        }
        at = end;
        if piece != Piece::Blank {
            last = end;
        }
    }
    last
}

/// End of the attribute at `at`: the bracket that closes its first one.
fn attribute_end(source: &Source, mut at: usize, limit: usize) -> usize {
    let mut depth = 0_usize;
    while at < limit {
        let (piece, end) = step(source, at);
        at = end;
        match piece {
            Piece::Open => depth += 1,
            Piece::Close if depth <= 1 => break,
            Piece::Close => depth -= 1,
            Piece::Blank | Piece::Other(_) => {}
        }
    }
    at
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The piece at `at` and where it ends; past the end of the text an empty blank.
pub(super) fn step(source: &Source, at: usize) -> (Piece, usize) {
    let rest = source.code().get(at..).unwrap_or_default();
    let Some(first) = rest.chars().next() else {
        return (Piece::Blank, at);
    };
    let rust = source.language == Language::Rust;
    let (piece, length) = match first {
        _ if first.is_whitespace() => (Piece::Blank, rest.len() - rest.trim_start().len()),
        '#' if !rust => (Piece::Blank, line_length(rest)),
        '/' if rust && rest.starts_with("//") => (Piece::Blank, line_length(rest)),
        '/' if rust && rest.starts_with("/*") => (Piece::Blank, block_comment(rest)),
        '(' | '[' | '{' => (Piece::Open, 1),
        ')' | ']' | '}' => (Piece::Close, 1),
        '"' => (
            Piece::Other(first),
            if rust {
                quoted(rest, "\"")
            } else {
                python_string(rest)
            },
        ),
        '\'' => (
            Piece::Other(first),
            if rust {
                character(rest)
            } else {
                python_string(rest)
            },
        ),
        _ if first.is_alphanumeric() || first == '_' => (Piece::Other('a'), word(rest, rust)),
        _ => (Piece::Other(first), first.len_utf8()),
    };
    (piece, at + length)
}

fn line_length(rest: &str) -> usize {
    rest.find(['\n', '\r']).unwrap_or(rest.len())
}

/// Rust's block comments nest.
fn block_comment(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" if depth <= 1 => return at + 2,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    rest.len()
}

/// Length of a string from `quote` to `quote`, where a backslash takes the next character with it.
fn quoted(rest: &str, quote: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = quote.len();
    while at < bytes.len() {
        match bytes.get(at..) {
            Some([b'\\', ..]) => at += 2,
            Some(tail) if tail.starts_with(quote.as_bytes()) => return at + quote.len(),
            _ => at += 1,
        }
    }
    rest.len()
}

fn python_string(rest: &str) -> usize {
    let quote = rest.get(..1).unwrap_or_default();
    let triple = rest.get(..3).filter(|start| *start == quote.repeat(3));
    quoted(rest, triple.unwrap_or(quote))
}

/// A character literal, or the sign of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => quoted(rest, "'"),
        (_, Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// A word; with a raw string's prefix the string too.
fn word(rest: &str, rust: bool) -> usize {
    let end = rest
        .find(|char: char| !(char.is_alphanumeric() || char == '_'))
        .unwrap_or(rest.len());
    let (word, tail) = rest.split_at(end);
    let hashes = tail.len() - tail.trim_start_matches('#').len();
    let raw = rust
        && matches!(word, "r" | "br" | "cr")
        && tail.get(hashes..).is_some_and(|tail| tail.starts_with('"'));
    if !raw {
        return end;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let body = end + hashes + 1;
    let found = rest.get(body..).and_then(|text| text.find(&close));
    found.map_or(rest.len(), |at| body + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, language: Language) -> String {
        let source = Source::new("x", language, text.to_owned());
        let from = offset(text.find('@').unwrap() + 1);
        let end = item_end(&source, from, offset(text.len()));
        text[from as usize..end as usize].to_owned()
    }

    #[test]
    fn items_end_at_their_comma_bracket_or_next_link() {
        let python = [
            ("f(@a=1, b=2)", "a=1"),
            ("f(@a=g(1, 2), b)", "a=g(1, 2)"),
            ("f(@a=')', b)", "a=')'"),
            ("f(@a='''),\n)''', b)", "a='''),\n)'''"),
            ("f(@a='\\'),', b)", "a='\\'),'"),
            ("f(@a  # ),\n, b)", "a  # ),\n"),
            ("f(@a\n.b\n.c)", "a\n.b\n.c"),
            ("(a\n@.b(1,\n.2)\n.c)", ".b(1,\n.2)\n"),
        ];
        for (text, expected) in python {
            assert_eq!(item(text, Language::Python), expected, "{text}");
        }
        let rust = [
            ("f(@'(', b)", "'('"),
            ("f(@'\\'', b)", "'\\''"),
            ("f(@x::<'a>(1), b)", "x::<'a>(1)"),
            ("f(@r#\"),\"#, b)", "r#\"),\"#"),
            ("f(@a /* ), /* */ , */, b)", "a /* ), /* */ , */"),
            ("f(@a // ),\n, b)", "a // ),\n"),
            ("x\n@.a().b()\n.c();", ".a().b()\n"),
            ("x = @y\n.a()\n.b(); z", "y\n.a()\n.b()"),
        ];
        for (text, expected) in rust {
            assert_eq!(item(text, Language::Rust), expected, "{text}");
        }
    }

    #[test]
    fn decorators_and_attributes_are_found() {
        let cases = [
            (
                Language::Python,
                "@a\n@b(\n  1,\n)  # x\n# y\ndef f(): pass",
                "@a|@b(\n  1,\n)",
            ),
            (Language::Python, "x = 1", ""),
            (
                Language::Rust,
                "#[cfg(unix)] // x\n#[a = \"]\"]\nlet x = #[b] y;",
                "#[cfg(unix)]|#[a = \"]\"]",
            ),
            (Language::Rust, "let x = 1;", ""),
        ];
        for (language, text, expected) in cases {
            let source = Source::new("x", language, text.to_owned());
            let found = decorators(&source, 0, offset(text.len()));
            let found: Vec<&str> = found
                .iter()
                .map(|(start, end)| &text[*start as usize..*end as usize])
                .collect();
            assert_eq!(found.join("|"), expected, "{text}");
        }
    }
}
