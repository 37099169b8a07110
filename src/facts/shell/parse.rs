//! Which words of a text stand in command position, and what runs in the background.

use super::lex::{Lexeme, Scan};
use super::{Char, Reader, Token, string};
use crate::source::Span;

/// Deepest nesting of compound commands that is kept apart.
const MAX_FRAMES: usize = 256;

/// Reads a whole text.
pub(super) fn run(reader: &mut Reader, chars: &[Char]) {
    let scan = Scan::new(chars, &reader.shell);
    let root = Frame {
        closer: "",
        item: reader.out.len(),
        arms: false,
    };
    let mut parser = Parser {
        scan,
        frames: vec![root],
        words: Vec::new(),
        stdin: None,
        after: false,
        head: Head::None,
    };
    while let Some(lexeme) = parser.scan.next(reader) {
        match lexeme {
            Lexeme::Words(tokens) => tokens
                .into_iter()
                .for_each(|token| parser.word(reader, token)),
            Lexeme::Op(op, span) => parser.op(reader, op, span),
            Lexeme::Redirect(None) => {}
            Lexeme::Redirect(text) => parser.stdin = text,
        }
    }
    parser.end(reader);
}

/// An open compound command.
struct Frame {
    /// The word that closes it.
    closer: &'static str,
    /// The first command of the list that is being read.
    item: usize,
    /// A pattern of `case` comes next.
    arms: bool,
}

/// Words that come next and are no command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    None,
    /// `for x in …`, with the number of words read.
    For(usize),
    /// `case x in`
    Case,
    /// `function name`
    Function,
    /// `[[ … ]]`
    Test,
}

struct Parser<'a> {
    scan: Scan<'a>,
    frames: Vec<Frame>,
    /// The simple command so far.
    words: Vec<Token>,
    /// What is fed to the command, if it is known.
    stdin: Option<Vec<Char>>,
    /// A compound command has ended: no command until the next operator.
    after: bool,
    head: Head,
}

impl Parser<'_> {
    fn word(&mut self, reader: &mut Reader, token: Token) {
        let bare = token.bare > 0 && token.bare == token.chars.len();
        let text = if bare { token.text() } else { String::new() };
        if self.head != Head::None {
            return self.head_word(reader, &token, &text);
        }
        if self.in_pattern() {
            if text == "esac" {
                self.close(reader, "esac");
            }
            return;
        }
        if self.words.is_empty() && (self.keyword(reader, &text) || self.after) {
            return;
        }
        if self.words.is_empty() && assign(reader, &token) {
            return;
        }
        self.words.push(token);
    }

    fn head_word(&mut self, reader: &mut Reader, token: &Token, text: &str) {
        match self.head {
            // `for x do` has no list.
            Head::For(1) if text == "do" => self.head = Head::None,
            Head::For(count) => self.head = Head::For(count + 1),
            Head::Case if text == "in" => {
                self.head = Head::None;
                self.arms(true);
            }
            Head::Function => {
                reader.functions.insert(token.text());
                self.head = Head::None;
            }
            Head::Test if text == "]]" => {
                self.head = Head::None;
                self.after = true;
            }
            Head::None | Head::Case | Head::Test => {}
        }
    }

    fn in_pattern(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.arms)
    }

    fn arms(&mut self, arms: bool) {
        if let Some(frame) = self.frames.iter_mut().rfind(|frame| frame.closer == "esac") {
            frame.arms = arms;
        }
    }

    /// Takes a reserved word; false for any other.
    fn keyword(&mut self, reader: &mut Reader, text: &str) -> bool {
        match text {
            "if" => self.open(reader, "fi"),
            "while" | "until" => self.open(reader, "done"),
            "for" | "select" => {
                self.open(reader, "done");
                self.head = Head::For(0);
            }
            "case" => {
                self.open(reader, "esac");
                self.head = Head::Case;
            }
            "{" => self.open(reader, "}"),
            "[[" => self.head = Head::Test,
            "function" => self.head = Head::Function,
            "then" | "do" | "else" | "elif" => self.boundary(reader),
            "!" | "coproc" => self.after = false,
            "begin" | "and" | "or" | "not" if reader.shell == "fish" => self.after = false,
            "time" if self.compound_follows() => self.after = false,
            "fi" => self.close(reader, "fi"),
            "done" => self.close(reader, "done"),
            "esac" => self.close(reader, "esac"),
            "}" => self.close(reader, "}"),
            _ => return false,
        }
        true
    }

    fn compound_follows(&mut self) -> bool {
        self.scan.blanks();
        self.scan.peek(0).is_some_and(|ch| matches!(ch, '(' | '{'))
    }

    fn op(&mut self, reader: &mut Reader, op: &'static str, span: Span) {
        if self.head != Head::None && self.head_op(reader, op) {
            return;
        }
        if self.in_pattern() {
            if op == ")" {
                self.arms(false);
                self.boundary(reader);
            }
            return;
        }
        match op {
            "(" => self.parenthesis(reader),
            ")" => self.close(reader, ")"),
            "&" | "&!" | "&|" => {
                self.end(reader);
                if self.scan.background() {
                    self.background(reader, span);
                }
                self.boundary(reader);
            }
            ";;" => {
                self.boundary(reader);
                self.arms(true);
            }
            "|" | "|&" => {
                self.stdin = self.end(reader);
                self.after = false;
            }
            "&&" | "||" => {
                self.end(reader);
                self.after = false;
            }
            _ => self.boundary(reader),
        }
    }

    /// Takes an operator within the head of a compound command; false if the head ends there.
    fn head_op(&mut self, reader: &mut Reader, op: &str) -> bool {
        match (self.head, op) {
            (Head::For(_), "(") => self.scan.pass(reader),
            (Head::For(_) | Head::Test | Head::Function, ";") | (Head::For(_), "\n") => {
                self.head = Head::None;
                return false;
            }
            _ => {}
        }
        true
    }

    fn parenthesis(&mut self, reader: &mut Reader) {
        self.scan.blanks();
        if self.words.len() == 1 && self.scan.peek(0) == Some(')') {
            self.scan.pass(reader);
            let name = self.words.pop().map(|token| token.text());
            reader.functions.extend(name);
        } else if !self.words.is_empty() && reader.shell == "fish" {
            self.scan.parenthesis(reader);
        } else if !self.words.is_empty() || (self.after && self.scan.peek(0) != Some(')')) {
            self.scan.pass(reader);
        } else if self.scan.peek(0) == Some('(') && self.scan.arithmetic(reader) {
            self.after = true;
        } else {
            self.open(reader, ")");
        }
    }

    fn open(&mut self, reader: &Reader, closer: &'static str) {
        if self.frames.len() < MAX_FRAMES {
            self.frames.push(Frame {
                closer,
                item: reader.out.len(),
                arms: false,
            });
        }
        self.after = false;
    }

    fn close(&mut self, reader: &mut Reader, closer: &str) {
        self.end(reader);
        if let Some(index) = self.frames.iter().rposition(|frame| frame.closer == closer) {
            self.frames.truncate(index.max(1));
        }
        self.after = true;
    }

    /// Ends a list: what follows is not part of it.
    fn boundary(&mut self, reader: &mut Reader) {
        self.end(reader);
        if let Some(frame) = self.frames.last_mut() {
            frame.item = reader.out.len();
        }
        self.stdin = None;
        self.after = false;
    }

    fn background(&self, reader: &mut Reader, span: Span) {
        let item = self.frames.last().map_or(0, |frame| frame.item);
        for command in reader.out.iter_mut().skip(item) {
            command.background.get_or_insert(span);
        }
    }

    /// Ends a simple command; gives what it writes, if that is known.
    fn end(&mut self, reader: &mut Reader) -> Option<Vec<Char>> {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return None;
        }
        let stdin = self.stdin.take();
        reader.simple(&words, stdin.as_deref());
        written(reader, &words, stdin)
    }
}

/// Takes `name=value`; false for any other word.
fn assign(reader: &mut Reader, token: &Token) -> bool {
    let Some(equals) = token
        .chars
        .iter()
        .take(token.bare)
        .position(|own| own.ch == '=')
    else {
        return false;
    };
    let name: String = token.chars.iter().take(equals).map(|own| own.ch).collect();
    let name = name.strip_suffix('+').unwrap_or(&name);
    let first = name.chars().next();
    let named = first.is_some_and(|ch| ch == '_' || ch.is_alphabetic())
        && name.chars().all(|ch| ch == '_' || ch.is_alphanumeric());
    if named {
        let value = token.chars.iter().skip(equals + 1).copied().collect();
        reader.vars.insert(name.to_owned(), value);
    }
    named
}

/// What `echo`, `printf` or `cat` writes. Declarations set their variables on the way.
fn written(reader: &mut Reader, words: &[Token], stdin: Option<Vec<Char>>) -> Option<Vec<Char>> {
    let (program, args) = words.split_first()?;
    match program.text().as_str() {
        "echo" | "printf" => Some(joined(args.iter().skip_while(|arg| is_echo_option(arg)))),
        "cat" if args.iter().all(|arg| arg.text() == "-") => stdin,
        "export" | "readonly" | "local" | "declare" | "typeset" => {
            for arg in args {
                assign(reader, arg);
            }
            None
        }
        _ => None,
    }
}

fn is_echo_option(token: &Token) -> bool {
    let text = token.text();
    text.len() > 1
        && text
            .strip_prefix('-')
            .is_some_and(|rest| rest.chars().all(|ch| "neE-".contains(ch)))
}

/// The words with blanks between, `\n` made a line break.
fn joined<'t>(tokens: impl Iterator<Item = &'t Token>) -> Vec<Char> {
    let mut out: Vec<Char> = Vec::new();
    for token in tokens {
        if !out.is_empty() {
            out.push(Char {
                ch: ' ',
                span: token.span,
            });
        }
        for own in &token.chars {
            match out.last_mut() {
                Some(last) if last.ch == '\\' && own.ch == 'n' => last.ch = '\n',
                _ => out.push(*own),
            }
        }
    }
    out
}

/// The words with blanks between.
pub(super) fn spaced(tokens: &[Token]) -> Vec<Char> {
    let mut out = Vec::new();
    for token in tokens {
        if !out.is_empty() {
            out.push(Char {
                ch: ' ',
                span: token.span,
            });
        }
        out.extend_from_slice(&token.chars);
    }
    out
}

/// Whether all characters are known.
pub(super) fn known(chars: &[Char]) -> bool {
    !string(chars).contains(crate::facts::HOLE)
}
