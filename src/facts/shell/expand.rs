//! Quotes and expansions inside a word of a shell text.

use super::lex::{Scan, Words};
use super::{Char, Reader, string};
use crate::facts::HOLE;

/// The longest value of a variable that is put in where it is used.
const MAX_VALUE: usize = 4096;

impl<'a> Scan<'a> {
    pub(super) fn single(&mut self, words: &mut Words) {
        words.quoted = true;
        let end = self.find(self.at + 1, '\'');
        words
            .current
            .chars
            .extend_from_slice(self.slice(self.at + 1, end));
        self.at = end + 1;
    }

    fn find(&self, from: usize, what: char) -> usize {
        let rest = self.chars.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|own| own.ch != what).count()
    }

    /// Reads what stands between double quotes, or all of a here-document.
    pub(super) fn double(&mut self, reader: &mut Reader, words: &mut Words, end: Option<char>) {
        words.quoted = true;
        while let Some(own) = self.chars.get(self.at).copied() {
            match own.ch {
                ch if Some(ch) == end => {
                    self.at += 1;
                    return;
                }
                '\\' if self
                    .peek(1)
                    .is_some_and(|ch| matches!(ch, '$' | '`' | '"' | '\\' | '\n')) =>
                {
                    if self.peek(1) != Some('\n') {
                        words.current.chars.extend(self.chars.get(self.at + 1));
                    }
                    self.at += 2;
                }
                '$' => self.dollar(reader, words, true),
                '`' if self.posix => self.backtick(reader, words, true),
                _ => {
                    words.current.chars.push(own);
                    self.at += 1;
                }
            }
        }
    }

    /// Reads an expansion from its `$` on.
    pub(super) fn dollar(&mut self, reader: &mut Reader, words: &mut Words, quoted: bool) {
        let start = self.at;
        words.quoted = true;
        self.at += 1;
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                let value = self.substitution(reader);
                words.expand(&self.value(value.as_deref(), start), quoted);
            }
            Some('{') => {
                self.at += 1;
                let value = self.braces(reader);
                words.expand(&self.value(value.as_deref(), start), quoted);
            }
            Some('\'') if !quoted => self.escaped(words),
            Some('"') if !quoted => {}
            Some(ch) if ch == '_' || ch.is_alphabetic() => {
                while self
                    .peek(0)
                    .is_some_and(|ch| ch == '_' || ch.is_alphanumeric())
                {
                    self.at += 1;
                }
                let name = string(self.slice(start + 1, self.at));
                let value = variable(reader, &name);
                words.expand(&self.value(value.as_deref(), start), quoted);
            }
            Some(ch) if ch.is_ascii_digit() || "@*#?$!-".contains(ch) => {
                self.at += 1;
                words.expand(&self.value(None, start), quoted);
            }
            _ => words.current.chars.extend(self.chars.get(start)),
        }
    }

    /// A known value, or the hole for one that is not, written where it is used.
    fn value(&self, value: Option<&str>, start: usize) -> Vec<Char> {
        let span = self.span(start);
        match value {
            Some(value) => value.chars().map(|ch| Char { ch, span }).collect(),
            None => vec![Char { ch: HOLE, span }],
        }
    }

    /// Reads `$(…)` or `$((…))` from behind its first parenthesis on.
    fn substitution(&mut self, reader: &mut Reader) -> Option<String> {
        if self.peek(0) == Some('(') && self.arithmetic(reader) {
            return None;
        }
        looked_up(&string(self.parenthesis(reader)))
    }

    /// Reads commands up to the closing parenthesis, and gives their text.
    pub(super) fn parenthesis(&mut self, reader: &mut Reader) -> &'a [Char] {
        let end = self.close(reader, self.at, ')');
        let inner = self.slice(self.at, end);
        let shell = reader.shell.clone();
        reader.text(inner, &shell);
        self.at = end + 1;
        inner
    }

    /// Passes `((…))` from its second parenthesis on, if it is arithmetic and not two subshells.
    pub(super) fn arithmetic(&mut self, reader: &mut Reader) -> bool {
        let inner = self.close(reader, self.at + 1, ')');
        if self.chars.get(inner + 1).is_none_or(|own| own.ch != ')') {
            return false;
        }
        self.only_expand(reader, self.at + 1, inner);
        self.at = inner + 2;
        true
    }

    /// Passes a parenthesis that holds no commands, from behind its opening on.
    pub(super) fn pass(&mut self, reader: &mut Reader) {
        let end = self.close(reader, self.at, ')');
        self.only_expand(reader, self.at, end);
        self.at = end + 1;
    }

    fn only_expand(&self, reader: &mut Reader, start: usize, end: usize) {
        if reader.depth >= super::MAX_DEPTH || !reader.afford(end - start.min(end)) {
            return;
        }
        reader.depth += 1;
        let mut inner = Scan {
            chars: self.slice(start, end),
            at: 0,
            skip: None,
            posix: self.posix,
        };
        inner.double(reader, &mut Words::default(), None);
        reader.depth -= 1;
    }

    /// Reads `${…}` from behind its brace on; gives the value of a plain name.
    fn braces(&mut self, reader: &mut Reader) -> Option<String> {
        let (start, end) = (self.at, self.close(reader, self.at, '}'));
        self.only_expand(reader, start, end);
        self.at = end + 1;
        variable(reader, &string(self.slice(start, end)))
    }

    pub(super) fn backtick(&mut self, reader: &mut Reader, words: &mut Words, quoted: bool) {
        let start = self.at;
        self.at += 1;
        let mut inner = Vec::new();
        while let Some(own) = self.chars.get(self.at).copied() {
            self.at += 1;
            if own.ch == '`' {
                break;
            }
            let next = self.peek(0);
            if !(own.ch == '\\' && next.is_some_and(|ch| matches!(ch, '`' | '\\' | '$'))) {
                inner.push(own);
            } else if let Some(next) = self.chars.get(self.at) {
                inner.push(*next);
                self.at += 1;
            }
        }
        let shell = reader.shell.clone();
        reader.text(&inner, &shell);
        words.expand(
            &self.value(looked_up(&string(&inner)).as_deref(), start),
            quoted,
        );
    }

    /// Reads `'…'` after a `$`, in which escapes are known.
    fn escaped(&mut self, words: &mut Words) {
        self.at += 1;
        while let Some(own) = self.chars.get(self.at).copied() {
            self.at += 1;
            match (own.ch, self.peek(0)) {
                ('\'', _) => return,
                ('\\', Some(next)) => {
                    self.at += 1;
                    let ch = self.escape(next);
                    words.current.chars.push(Char { ch, span: own.span });
                }
                _ => words.current.chars.push(own),
            }
        }
    }

    /// The character that the escape `\next` means; passes its digits.
    fn escape(&mut self, next: char) -> char {
        let (base, most) = match next {
            'n' => return '\n',
            't' => return '\t',
            'r' => return '\r',
            'x' => (16, 2),
            'u' => (16, 4),
            '0'..='7' => (8, 3),
            _ => return next,
        };
        if base == 8 {
            self.at -= 1;
        }
        let mut code = 0;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|ch| ch.to_digit(base)) else {
                break;
            };
            code = code * base + digit;
            self.at += 1;
        }
        char::from_u32(code).unwrap_or(HOLE)
    }

    /// Where `closer` closes what was opened before `from`; the end, where nothing does.
    fn close(&self, reader: &mut Reader, from: usize, closer: char) -> usize {
        if reader.budget == 0 {
            return self.chars.len();
        }
        let mut stack = vec![closer];
        let mut at = from;
        let mut before = ' ';
        while let (Some(own), Some(wanted)) = (self.chars.get(at), stack.last().copied()) {
            match own.ch {
                '\\' if wanted != '\'' => at += 1,
                ch if ch == wanted => {
                    stack.pop();
                    if stack.is_empty() {
                        break;
                    }
                }
                _ if wanted == '\'' => {}
                '\'' if wanted != '"' => stack.push('\''),
                '"' => stack.push('"'),
                '`' => stack.push('`'),
                '(' if wanted != '"' || before == '$' => stack.push(')'),
                '{' if before == '$' => stack.push('}'),
                _ => {}
            }
            before = own.ch;
            at += 1;
        }
        let end = at.min(self.chars.len());
        if reader.afford(end.saturating_sub(from)) {
            end
        } else {
            self.chars.len()
        }
    }
}

/// The constant that the variable holds.
fn variable(reader: &mut Reader, name: &str) -> Option<String> {
    let value = string(reader.vars.get(name)?);
    (value.len() <= MAX_VALUE && reader.afford(value.len())).then_some(value)
}

/// The program that `command -v x` and its like look up.
fn looked_up(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = match words.as_slice() {
        ["command", "-v", name, ..] | ["type", "-p" | "-P", name, ..] | ["which", name, ..] => {
            *name
        }
        _ => return None,
    };
    let plain = |ch: char| ch.is_alphanumeric() || "-_./+".contains(ch);
    name.chars().all(plain).then(|| name.to_owned())
}
