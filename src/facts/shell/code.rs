//! Program text that a command gives to an interpreter other than a shell.

use super::{Char, Token, cover, string};
use crate::facts::Word;
use crate::source::Span;

/// Whether `name` is a Python interpreter: `python`, `python3.11`, `pypy3`, `python3.13t`.
pub(super) fn is_python(name: &str) -> bool {
    let rest = name
        .strip_prefix("python")
        .or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|rest| {
        rest.chars()
            .all(|ch| ch.is_ascii_digit() || ".tdw".contains(ch))
    })
}

/// The program text that the command gives to the interpreter `name`.
pub(super) fn given(name: &str, words: &[Token], stdin: Option<&[Char]>) -> Option<Word> {
    let args = words.get(1..).unwrap_or_default();
    if is_python(name) {
        return python(args, stdin);
    }
    let (short, long): (&str, &[&str]) = match name {
        "perl" => ("eE", &[]),
        "node" | "nodejs" | "bun" => ("ep", &["--eval", "--print"]),
        "deno" => ("", &["eval"]),
        "ruby" | "osascript" => ("e", &[]),
        "php" => ("r", &["--run"]),
        "expect" | "tclsh" => ("c", &[]),
        _ => return None,
    };
    let at = args
        .iter()
        .position(|arg| takes_code(&arg.text(), short, long))?;
    args.get(at + 1).map(whole)
}

/// Whether the next word is program text: `-e`, `-we`, `--eval`.
fn takes_code(arg: &str, short: &str, long: &[&str]) -> bool {
    if long.contains(&arg) {
        return true;
    }
    let Some(letters) = arg.strip_prefix('-') else {
        return false;
    };
    let attached = letters.starts_with(['M', 'm', 'I', '-'])
        || (letters.starts_with('r') && letters.len() > 1);
    !attached && letters.ends_with(|last| short.contains(last))
}

/// `-c TEXT` with options before it; standard input where there is neither file nor `-m`.
fn python(args: &[Token], stdin: Option<&[Char]>) -> Option<Word> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text();
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        if letters.starts_with('-') {
            at += 1;
            continue;
        }
        let special = letters.find(['c', 'm', 'W', 'X']);
        let Some(index) = special else {
            at += 1;
            continue;
        };
        let rest = letters.get(index + 1..).unwrap_or_default();
        match (letters.as_bytes().get(index), rest.is_empty()) {
            (Some(b'c'), true) => return args.get(at + 1).map(whole),
            (Some(b'c'), false) => return Some(tail(arg, index + 2)),
            (Some(b'm'), _) => return None,
            (_, true) => at += 2,
            (_, false) => at += 1,
        }
    }
    let reads_stdin = args.get(at).is_none_or(|arg| arg.text() == "-");
    stdin
        .filter(|_| reads_stdin)
        .map(|chars| word(chars, cover(chars).unwrap_or_default()))
}

/// The word without its first `skip` characters.
fn tail(token: &Token, skip: usize) -> Word {
    word(token.chars.get(skip..).unwrap_or_default(), token.span)
}

fn whole(token: &Token) -> Word {
    word(&token.chars, token.span)
}

fn word(chars: &[Char], span: Span) -> Word {
    Word {
        text: string(chars),
        span: cover(chars).unwrap_or(span),
        parts: parts(chars),
    }
}

/// Where the text is written, as in `Text::parts`: characters that stand side by side are one part.
fn parts(chars: &[Char]) -> Vec<(usize, Span)> {
    let mut parts: Vec<(usize, Span)> = Vec::new();
    let mut at = 0;
    for own in chars {
        let length = own.ch.len_utf8();
        match parts.last_mut() {
            Some((from, span))
                if own.span.len() == length
                    && span.end == own.span.start
                    && span.len() == at - *from =>
            {
                span.end = own.span.end;
            }
            // What an escape gave has no places of its own.
            Some((_, span)) if *span == own.span => {}
            _ => parts.push((at, own.span)),
        }
        at += length;
    }
    parts
}
