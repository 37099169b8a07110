//! What a Rust text holds, by the lexer alone: for those who ask before it is parsed.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};

use super::lexer::terminated;
use super::literal::{Literal, Part, read};

/// A text without its comments.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    /// Its tokens; string literals are empty, and the names of functions and constants are left out
    /// where they are defined.
    pub(crate) code: String,
    /// Its string literals, escapes resolved, and whether each is put behind another text.
    pub(crate) texts: Vec<(String, bool)>,
    /// Whether a `concat!` was opened and nothing closed since.
    in_concat: bool,
}

/// Reads it. Total.
pub(crate) fn sketch(text: &str) -> Sketch {
    let mut sketch = Sketch::default();
    let mut at = 0;
    let mut defines = false;
    // An unterminated literal is taken to end with its line, as the reader does.
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        for token in tokenize(rest, FrontmatterAllowed::No) {
            let end = at + token.len as usize;
            let own = text.get(at..end).unwrap_or_default();
            let mut next = end;
            match token.kind {
                TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => {
                    sketch.code.push(' ');
                }
                TokenKind::Whitespace => sketch.code.push(' '),
                TokenKind::Literal { kind, .. } => {
                    if !terminated(kind) {
                        next = at + own.find('\n').unwrap_or(own.len()).max(1);
                    }
                    sketch.literal(own, at);
                    defines = false;
                }
                TokenKind::Ident | TokenKind::RawIdent => {
                    let pointer = sketch.code.ends_with('*');
                    if !defines {
                        sketch.code.push_str(own);
                    }
                    defines = match own {
                        "fn" | "static" => true,
                        "const" => !pointer,
                        // `static mut NAME`, `const unsafe fn NAME`.
                        "mut" | "ref" | "unsafe" => defines,
                        _ => false,
                    };
                }
                _ => {
                    sketch.sign(own);
                    defines = false;
                }
            }
            at = next;
            if next != end {
                break;
            }
        }
    }
    sketch
}

impl Sketch {
    fn sign(&mut self, own: &str) {
        self.code.push_str(own);
        match own {
            "(" if self.code.ends_with("concat!(") => self.in_concat = true,
            ")" => self.in_concat = false,
            _ => {}
        }
    }

    /// Whether what comes next is put behind a text: `a + "b"`, `a.push_str("b")`, `concat!("a", "b")`.
    fn goes_on(&self) -> bool {
        let code = self.code.trim_end();
        let added = ["+", "+=", "push_str("];
        added.iter().any(|end| code.ends_with(end)) || self.in_concat && code.ends_with(',')
    }

    fn literal(&mut self, own: &str, start: usize) {
        match read(own, start, false) {
            Literal::Text(parts) => {
                let texts = parts.into_iter().map(|part| match part {
                    Part::Text(text, _) | Part::Hole(text, _) => text,
                });
                self.texts.push((texts.collect(), self.goes_on()));
                self.code.push_str("\"\"");
            }
            Literal::Int(_) | Literal::Other => self.code.push_str(own),
        }
    }
}
