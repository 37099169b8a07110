//! A simple command, or an argv, to commands: wrappers and inner texts unfolded.

use super::{Char, MAX_DEPTH, Reader, Token, code, special, wrappers};
use crate::facts::{Command, HOLE, Shell};

/// What a command runs besides itself.
pub(super) enum Inner {
    /// A program and its arguments.
    Words(Vec<Token>),
    /// Text that a shell of this name reads; empty for the shell that reads the command.
    Text(Vec<Char>, String),
}

impl Reader {
    /// Takes a simple command with what is fed to it.
    pub(super) fn simple(&mut self, words: &[Token], stdin: Option<&[Char]>) {
        let plain = words
            .first()
            .map(Token::text)
            .filter(|name| self.functions.contains(name));
        // A function hides a program of its name, not one that is given with its folder.
        if plain.is_none() {
            self.unfold(words, stdin);
        }
    }

    fn unfold(&mut self, words: &[Token], stdin: Option<&[Char]>) {
        let Some(first) = words.first() else { return };
        let cost = words.iter().map(|token| token.chars.len() + 1).sum();
        if self.depth >= MAX_DEPTH || !self.afford(cost) {
            return;
        }
        let name = program(&first.text());
        self.emit(&name, words, stdin);
        if name.contains(HOLE) {
            return;
        }
        self.depth += 1;
        for inner in
            special::inner(&name, words, stdin).unwrap_or_else(|| wrappers::inner(&name, words))
        {
            match inner {
                Inner::Words(words) => self.unfold(&words, stdin),
                Inner::Text(text, shell) => {
                    let shell = if shell.is_empty() {
                        self.shell.clone()
                    } else {
                        shell
                    };
                    self.text(&text, &shell);
                }
            }
        }
        self.depth -= 1;
    }

    fn emit(&mut self, name: &str, words: &[Token], stdin: Option<&[Char]>) {
        if name.is_empty() {
            return;
        }
        self.out.push(Command {
            program: name.to_owned(),
            words: words.iter().map(Token::word).collect(),
            background: None,
            shell: Shell {
                name: self.shell.clone(),
            },
            python: None,
            code: code::given(name, words, stdin),
            act: self.place.act,
            scope: self.place.scope,
            started: true,
        });
    }
}

/// A program's name: without its folder and `.exe`.
pub(super) fn program(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let bare = name
        .len()
        .checked_sub(4)
        .and_then(|at| name.split_at_checked(at));
    match bare {
        Some((bare, end)) if end.eq_ignore_ascii_case(".exe") && !bare.is_empty() => {
            bare.to_owned()
        }
        _ => name.to_owned(),
    }
}
