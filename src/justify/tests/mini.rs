//! A reader of a small part of both languages, and findings by token: the tests of justifications
//! depend on no reader and no rule.

use crate::facts::tree::{Comment, CommentKind, Statement, Tree};
use crate::justify::lex::{Piece, step};
use crate::report::{Finding, FindingId, Verdict};
use crate::rules::{ALL, Certainty, Level};
use crate::source::{Language, Source, Span};

/// Tokens that stand for findings, and their mechanisms.
const TOKENS: &[(&str, &str)] = &[
    ("start_new_session=True", "new-session"),
    ("\"start_new_session\": True", "new-session"),
    ("process_group=0", "new-group"),
    ("process_group(0)", "new-group"),
    ("libc::setsid()", "raw-detach"),
    ("shell=\"x &\"", "shell-background"),
    ("pty.fork()", "pty-spawn"),
];

/// Reads `source`.
pub(super) fn tree(source: &Source) -> Tree {
    let mut tree = Tree {
        comments: comments(source),
        ..Tree::default()
    };
    match source.language {
        Language::Python => python(source, &mut tree.statements),
        Language::Rust => {
            rust(source, 0, false, &mut tree.statements);
        }
    }
    tree.statements.sort_by_key(|it| it.span.start);
    tree
}

/// A finding for each token outside of comments.
pub(super) fn findings(source: &Source, tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (token, id) in TOKENS {
        for (at, _) in source.text.match_indices(token) {
            let evidence = Span::new(at, at + token.len());
            if !tree
                .comments
                .iter()
                .any(|comment| comment.span.contains(evidence))
            {
                found.push(finding(source, evidence, id));
            }
        }
    }
    found.sort_by(|left, right| left.evidence.cmp(&right.evidence));
    found
}

/// A finding for each token, with any act.
pub(super) fn tokens(source: &Source, act: Span) -> Vec<Finding> {
    let tokens = source.text.match_indices("start_new_session=True");
    let found = tokens.map(|(at, token)| {
        let plain = Source::new("x", Language::Python, String::new());
        let finding = finding(&plain, Span::new(at, at + token.len()), "new-session");
        Finding { act, ..finding }
    });
    found.collect()
}

fn finding(source: &Source, evidence: Span, id: &str) -> Finding {
    let act = match source.language {
        Language::Python => call_around(source, evidence),
        Language::Rust => chain_around(source, evidence),
    };
    Finding {
        id: FindingId::DetachingSpawn,
        rules: ALL.iter().filter(|rule| rule.id == id).copied().collect(),
        level: Level::Deny,
        certainty: Certainty::Sure,
        verdict: Verdict::Unjustified,
        evidence: vec![evidence],
        act,
        statement: Statement {
            span: act,
            header: act,
        },
        message: String::new(),
        help: String::new(),
        notes: Vec::new(),
        justification: None,
        removable: None,
    }
}

fn call_around(source: &Source, evidence: Span) -> Span {
    let (mut at, mut open) = (0, Vec::new());
    let text = &source.text;
    while at < text.len() {
        let (piece, end) = step(source, at);
        match piece {
            Piece::Open => open.push(at),
            Piece::Close => {
                let start = open.pop().unwrap();
                if start < evidence.start as usize && at >= evidence.end as usize {
                    let name = text[..start].trim_end_matches(|char: char| {
                        char.is_alphanumeric() || "._".contains(char)
                    });
                    return Span::new(name.len(), end);
                }
            }
            _ => {}
        }
        at = end;
    }
    evidence
}

fn chain_around(source: &Source, evidence: Span) -> Span {
    let text = &source.text;
    let before = &text[..evidence.start as usize];
    if !before.ends_with('.') {
        return evidence;
    }
    let start = before.rfind("Command::new").unwrap();
    let (mut at, mut depth, mut end_of_chain) = (evidence.end as usize, 0, evidence.end as usize);
    while at < text.len() {
        let (piece, end) = step(source, at);
        match piece {
            Piece::Open => depth += 1,
            Piece::Close | Piece::Other(',' | ';') if depth == 0 => break,
            Piece::Close => depth -= 1,
            _ => {}
        }
        if piece != Piece::Blank {
            end_of_chain = end;
        }
        at = end;
    }
    Span::new(start, end_of_chain)
}

fn comments(source: &Source) -> Vec<Comment> {
    let (mut at, mut found) = (0, Vec::new());
    while at < source.text.len() {
        let (piece, end) = step(source, at);
        let text = &source.text[at..end];
        if piece == Piece::Blank && text.starts_with(['#', '/']) {
            let kind = match text {
                _ if ["///", "//!", "#:", "/**", "/*!"]
                    .iter()
                    .any(|sign| text.starts_with(sign)) =>
                {
                    CommentKind::Doc
                }
                _ if text.starts_with("/*") => CommentKind::Block,
                _ => CommentKind::Line,
            };
            let line = source
                .line_span(source.line(u32::try_from(at).unwrap()))
                .start as usize;
            found.push(Comment {
                span: Span::new(at, end),
                kind,
                own_line: source.text[line..at].trim().is_empty(),
            });
        }
        at = end;
    }
    found
}

const COMPOUND: &[&str] = &[
    "if", "with", "for", "while", "def", "class", "elif", "else", "try", "finally", "@",
];

/// Logical lines: where each starts and ends, its first colon and its semicolons outside of brackets.
fn python(source: &Source, statements: &mut Vec<Statement>) {
    let mut lines: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    let (mut at, mut depth, mut open) = (0, 0, false);
    while at < source.text.len() {
        let (piece, end) = step(source, at);
        let text = &source.text[at..end];
        if piece == Piece::Blank {
            let decorated = lines.last().is_some_and(|line| {
                let text = &source.text[line.0..line.1];
                text.starts_with('@') && !text.contains("def ") && !text.contains("class ")
            });
            open = open && (depth > 0 || decorated || !text.contains('\n'));
        } else {
            if !open {
                lines.push((at, end, Vec::new()));
            }
            open = true;
            let line = lines.last_mut().unwrap();
            line.1 = end;
            match piece {
                Piece::Open => depth += 1,
                Piece::Close => depth -= 1,
                Piece::Other(':' | ';') if depth == 0 => line.2.push(at),
                _ => {}
            }
        }
        at = end;
    }
    for (index, (start, end, marks)) in lines.iter().enumerate() {
        let mut from = *start;
        let word = &source.text[*start..*end];
        if COMPOUND.iter().any(|it| word.starts_with(it)) {
            let colon = marks[0] + 1;
            let indent = column(source, *start);
            let body = lines[index + 1..]
                .iter()
                .take_while(|line| column(source, line.0) > indent)
                .last();
            let last = body.map_or(*end, |line| line.1);
            statements.push(statement(*start, last, colon));
            from = colon + source.text[colon..*end].len()
                - source.text[colon..*end].trim_start().len();
        }
        for mark in marks
            .iter()
            .filter(|mark| source.text.as_bytes()[**mark] == b';')
            .chain([end])
        {
            if from < *mark {
                statements.push(statement(from, *mark, *mark));
            }
            from = (*mark + 2).min(*end);
        }
    }
}

fn column(source: &Source, at: usize) -> u32 {
    source.position(u32::try_from(at).unwrap()).column
}

fn statement(start: usize, end: usize, header: usize) -> Statement {
    Statement {
        span: Span::new(start, end),
        header: Span::new(start, header),
    }
}

/// Statements of a block from `at` on; gives the place of the bracket that closes it.
fn rust(source: &Source, mut at: usize, arms: bool, statements: &mut Vec<Statement>) -> usize {
    loop {
        let (piece, end) = step(source, at);
        if end == at || piece == Piece::Close {
            return at;
        }
        at = if piece == Piece::Blank {
            end
        } else {
            rust_statement(source, at, arms, statements)
        };
    }
}

fn rust_statement(
    source: &Source,
    start: usize,
    arms: bool,
    statements: &mut Vec<Statement>,
) -> usize {
    let text = &source.text;
    let words = [
        "fn ", "pub fn ", "if ", "match ", "unsafe ", "loop ", "while ", "for ", "mod ", "impl ",
        "{",
    ];
    let compound = !arms && words.iter().any(|word| text[start..].starts_with(word));
    let (mut at, mut depth, mut header, mut last) = (start, 0, None, start);
    loop {
        let (piece, end) = step(source, at);
        let char = text[at..].chars().next().unwrap_or('}');
        match piece {
            Piece::Open if char == '{' => {
                let arm = arms && depth == 0 && text[start..at].trim_end().ends_with("=>");
                if depth == 0 && (compound || arm) && header.is_none() {
                    header = Some(end);
                }
                let matching = text[start..at].contains("match ");
                at = rust(source, end, matching, statements) + 1;
                last = at;
                let rest = text[at.min(text.len())..].trim_start();
                if header.is_some() && depth == 0 && !rest.starts_with("else") {
                    last += usize::from(
                        rest.starts_with([';', ',']) && text[at..].starts_with([';', ',']),
                    );
                    break;
                }
                continue;
            }
            Piece::Open => depth += 1,
            Piece::Close if depth == 0 => break,
            Piece::Close => depth -= 1,
            Piece::Other(';') if depth == 0 => {
                last = end;
                break;
            }
            Piece::Other(',') if depth == 0 && arms => {
                last = end;
                break;
            }
            _ => {}
        }
        if end == at {
            break;
        }
        if piece != Piece::Blank {
            last = end;
        }
        at = end;
    }
    statements.push(statement(start, last, header.unwrap_or(last)));
    last
}
