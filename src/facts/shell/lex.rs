//! Words, operators and redirections of a shell text; substitutions are read on the way.

use super::{Char, Reader, Token, cover, string};
use crate::facts::HOLE;
use crate::source::Span;

/// Longest first.
const OPERATORS: [&str; 14] = [
    "\n", ";;&", ";;", ";&", ";", "&&", "&!", "&|", "&", "||", "|&", "|", "(", ")",
];

/// What comes next in a text.
pub(super) enum Lexeme {
    /// One word, or several that an unquoted variable gave.
    Words(Vec<Token>),
    /// An operator: newline, `;`, `;;`, `&`, `&!`, `&&`, `||`, `|`, `(` or `)`.
    Op(&'static str, Span),
    /// A redirection, with the text that it feeds to the command, if it is known.
    Redirect(Option<Vec<Char>>),
}

/// A place in a text.
pub(super) struct Scan<'a> {
    pub(super) chars: &'a [Char],
    pub(super) at: usize,
    /// The end of a line after which here-documents stand, and where they end.
    pub(super) skip: Option<(usize, usize)>,
    /// Single quotes and backslashes quote, `#` comments.
    pub(super) posix: bool,
}

/// Words in the making.
#[derive(Default)]
pub(super) struct Words {
    done: Vec<Token>,
    pub(super) current: Token,
    /// A quote or expansion was seen in the current word.
    pub(super) quoted: bool,
}

impl Words {
    fn push(&mut self, own: Char) {
        if !self.quoted {
            self.current.bare += 1;
        }
        self.current.chars.push(own);
    }

    /// Puts in an expansion; without quotes, blanks part it into words.
    pub(super) fn expand(&mut self, value: &[Char], quoted: bool) {
        self.quoted = true;
        for own in value {
            if !quoted && own.ch.is_whitespace() {
                if !self.current.chars.is_empty() {
                    self.done.push(std::mem::take(&mut self.current));
                }
            } else {
                self.current.chars.push(*own);
            }
        }
    }

    fn finish(mut self, span: Span) -> Vec<Token> {
        if !self.current.chars.is_empty() || self.done.is_empty() {
            self.done.push(self.current);
        }
        for token in &mut self.done {
            token.span = span;
        }
        self.done
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(chars: &'a [Char], shell: &str) -> Self {
        let posix = !matches!(shell, "cmd" | "powershell" | "pwsh");
        Self {
            chars,
            at: 0,
            skip: None,
            posix,
        }
    }

    /// Whether `&` puts what stands before it in the background, as it does outside Windows.
    pub(super) const fn background(&self) -> bool {
        self.posix
    }

    /// The character `ahead` of the current one.
    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).map(|own| own.ch)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a [Char] {
        let end = end.min(self.chars.len());
        self.chars.get(start.min(end)..end).unwrap_or_default()
    }

    pub(super) fn span(&self, start: usize) -> Span {
        cover(self.slice(start, self.at.max(start + 1))).unwrap_or_default()
    }

    fn starts(&self, what: &str) -> bool {
        what.chars()
            .enumerate()
            .all(|(ahead, ch)| self.peek(ahead) == Some(ch))
    }

    /// Skips blanks, continued lines and comments.
    pub(super) fn blanks(&mut self) {
        while let Some(ch) = self.peek(0) {
            if ch == '\\' && self.peek(1) == Some('\n') && self.posix {
                self.at += 2;
            } else if ch != '\n' && ch.is_whitespace() {
                self.at += 1;
            } else if ch == '#' && self.posix {
                while self.peek(0).is_some_and(|ch| ch != '\n') {
                    self.at += 1;
                }
            } else {
                break;
            }
        }
    }

    pub(super) fn next(&mut self, reader: &mut Reader) -> Option<Lexeme> {
        self.blanks();
        let start = self.at;
        let first = self.peek(0)?;
        if let Some(op) = self.operator(first) {
            self.at += op.chars().count();
            let span = self.span(start);
            if op == "\n" {
                self.pass_documents();
            }
            // Every way to end an arm of `case` is one to us.
            return Some(Lexeme::Op(
                if op.starts_with(";;") || op == ";&" {
                    ";;"
                } else {
                    op
                },
                span,
            ));
        }
        let digits = self.chars.get(start..).unwrap_or_default();
        let digits = digits
            .iter()
            .take_while(|own| own.ch.is_ascii_digit())
            .count();
        let arrow = self.peek(digits).is_some_and(|ch| matches!(ch, '<' | '>'));
        if first == '&' || (arrow && (digits > 0 || self.peek(1) != Some('('))) {
            self.at += digits + usize::from(first == '&');
            return Some(Lexeme::Redirect(self.redirect(reader)));
        }
        Some(Lexeme::Words(self.word(reader)))
    }

    /// The operator here; none for words and redirections (`&>` is one).
    fn operator(&self, first: char) -> Option<&'static str> {
        if !matches!(first, '\n' | ';' | '&' | '|' | '(' | ')') || (self.starts("&>") && self.posix)
        {
            return None;
        }
        let op = OPERATORS.iter().copied().find(|op| self.starts(op))?;
        match op {
            // Only the shells of Windows part commands so: there `&|` would be an error.
            "&!" | "&|" if !self.posix => Some("&"),
            _ => Some(op),
        }
    }

    fn pass_documents(&mut self) {
        if let Some((line, end)) = self.skip
            && self.at > line
        {
            self.at = self.at.max(end);
            self.skip = None;
        }
    }

    /// Reads a redirection from its arrow on; gives the text that it feeds in.
    fn redirect(&mut self, reader: &mut Reader) -> Option<Vec<Char>> {
        if self.starts("<<<") {
            self.at += 3;
            self.blanks();
            let words = self.word(reader);
            return Some(words.into_iter().flat_map(|token| token.chars).collect());
        }
        if self.starts("<<") {
            self.at += 2 + usize::from(self.peek(2) == Some('-'));
            self.blanks();
            return Some(self.document(reader));
        }
        self.at += 1;
        if self
            .peek(0)
            .is_some_and(|ch| matches!(ch, '>' | '&' | '|' | '!'))
            && !(self.starts(">("))
        {
            self.at += 1;
        }
        self.blanks();
        let ends = |ch| matches!(ch, '\n' | ';' | '&' | '|' | '(' | ')');
        if self.peek(0).is_some_and(|ch| !ends(ch))
            && (!self.at_arrow() || self.peek(1) == Some('('))
        {
            self.word(reader);
        }
        None
    }

    fn at_arrow(&self) -> bool {
        self.peek(0).is_some_and(|ch| matches!(ch, '<' | '>'))
    }

    /// Reads the delimiter of a here-document, then the document below the line.
    fn document(&mut self, reader: &mut Reader) -> Vec<Char> {
        let start = self.at;
        while self
            .peek(0)
            .is_some_and(|ch| !ch.is_whitespace() && !is_meta(ch))
        {
            self.at += 1;
        }
        let raw = string(self.slice(start, self.at));
        let delimiter: String = raw
            .chars()
            .filter(|ch| !matches!(ch, '\'' | '"' | '\\'))
            .collect();
        let line = self
            .skip
            .map_or_else(|| self.line_end(self.at), |(line, _)| line);
        let body = self.skip.map_or(line + 1, |(_, end)| end);
        let (mut from, mut end) = (body, self.chars.len());
        let mut until = end;
        while from < self.chars.len() {
            let next = self.line_end(from);
            if string(self.slice(from, next)).trim() == delimiter {
                (until, end) = (from, next + 1);
                break;
            }
            from = next + 1;
        }
        self.skip = Some((line, end));
        let text = self.slice(body, until);
        if delimiter.len() < raw.len() {
            return text.to_vec();
        }
        let mut words = Words::default();
        Scan {
            chars: text,
            at: 0,
            skip: None,
            posix: true,
        }
        .double(reader, &mut words, None);
        words.current.chars
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.chars.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|own| own.ch != '\n').count()
    }

    /// Reads a word; at least one character, whatever it is.
    fn word(&mut self, reader: &mut Reader) -> Vec<Token> {
        let start = self.at;
        let mut words = Words::default();
        while let Some(own) = self.chars.get(self.at).copied() {
            match own.ch {
                '<' | '>' if self.peek(1) == Some('(') => {
                    self.at += 2;
                    self.parenthesis(reader);
                    words.expand(
                        &[Char {
                            ch: HOLE,
                            span: self.span(start),
                        }],
                        true,
                    );
                }
                '(' if self.at > start && string(&words.current.chars).ends_with('=') => {
                    self.at += 1;
                    self.pass(reader);
                    words.expand(
                        &[Char {
                            ch: HOLE,
                            span: own.span,
                        }],
                        true,
                    );
                }
                ch if ch.is_whitespace() || is_meta(ch) => break,
                '\\' if self.posix => {
                    words.quoted = true;
                    if let Some(next) = self.chars.get(self.at + 1)
                        && next.ch != '\n'
                    {
                        words.push(*next);
                    }
                    self.at += 2;
                }
                '\'' if self.posix => self.single(&mut words),
                '"' => {
                    words.quoted = true;
                    self.at += 1;
                    self.double(reader, &mut words, Some('"'));
                }
                '$' => self.dollar(reader, &mut words, false),
                '`' if self.posix => self.backtick(reader, &mut words, false),
                _ => {
                    words.push(own);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.clamp(start + 1, self.chars.len().max(start + 1));
        words.finish(self.span(start))
    }
}

const fn is_meta(ch: char) -> bool {
    matches!(ch, ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
