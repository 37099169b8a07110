//! One pass of rustc's lexer: tokens, comments, and how deeply the text nests.

mod nesting;

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, strip_shebang, tokenize};

use crate::facts::tree::{Comment, CommentKind, Fault};
use crate::source::Span;

/// What a token is; its first byte says the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// An identifier or keyword.
    Word,
    /// A number, character or string.
    Literal,
    /// `'a`.
    Lifetime,
    /// `(`, `[`, `{`.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// One sign.
    Sign,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// What it is.
    pub(super) class: Class,
    /// Its first byte.
    pub(super) sign: u8,
    /// Where it starts.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Of an `Open`, the index of its `Close`, or the number of tokens if there is none. Of others,
    /// their own index.
    pub(super) partner: usize,
}

impl Token {
    /// Its bytes.
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// A text, lexed.
pub(super) struct Lexed {
    /// The text; byte order mark, shebang and frontmatter are spaces.
    pub(super) text: String,
    /// All tokens but white space and comments.
    pub(super) tokens: Vec<Token>,
    /// All comments.
    pub(super) comments: Vec<Comment>,
    /// Upper bound of how deeply a parser recurses.
    pub(super) nesting: usize,
    /// Upper bound of how far a syntax tree leans to one side.
    pub(super) chain: usize,
    /// Where the larger of them was found.
    pub(super) deepest: Span,
    /// Whether only white space was read since the last line break.
    fresh: bool,
    /// The first thing that no Rust text may have.
    pub(super) fault: Option<Fault>,
}

impl Lexed {
    /// Lexes `text`. Total.
    pub(super) fn new(text: &str) -> Self {
        let mut lexed = Self {
            text: blank(text),
            tokens: Vec::new(),
            comments: Vec::new(),
            nesting: 0,
            chain: 0,
            deepest: Span::default(),
            fresh: true,
            fault: None,
        };
        lexed.run();
        lexed.pair();
        lexed.measure();
        lexed
    }

    /// Index of the first token that starts at or after the byte `at`.
    pub(super) fn token_at(&self, at: usize) -> usize {
        self.tokens.partition_point(|token| token.start < at)
    }

    /// End of the last token that ends at or before the byte `at`.
    pub(super) fn end_before(&self, at: usize) -> usize {
        let index = self.tokens.partition_point(|token| token.end <= at);
        index
            .checked_sub(1)
            .and_then(|index| self.tokens.get(index))
            .map_or(at, |token| token.end)
    }

    /// The token's text.
    pub(super) fn slice(&self, index: usize) -> &str {
        let token = self.tokens.get(index);
        token
            .and_then(|token| self.text.get(token.start..token.end))
            .unwrap_or_default()
    }

    /// The identifier at `index`, without `r#`.
    pub(super) fn word(&self, index: usize) -> Option<&str> {
        let token = self.tokens.get(index)?;
        let text = self.text.get(token.start..token.end)?;
        (token.class == Class::Word).then(|| text.strip_prefix("r#").unwrap_or(text))
    }

    /// Whether the signs from `index` on are those of `signs`, joined.
    pub(super) fn signs(&self, index: usize, signs: &str) -> bool {
        signs.bytes().enumerate().all(|(more, sign)| {
            let token = self.tokens.get(index + more);
            let joined = more == 0
                || self.tokens.get(index + more - 1).map(|token| token.end)
                    == token.map(|token| token.start);
            joined && token.is_some_and(|token| token.class == Class::Sign && token.sign == sign)
        })
    }

    /// Whether an opening `bracket` is at `index`.
    pub(super) fn opens(&self, index: usize, bracket: u8) -> bool {
        let token = self.tokens.get(index);
        token.is_some_and(|token| token.class == Class::Open && token.sign == bracket)
    }

    fn run(&mut self) {
        let text = self.text.clone();
        let mut at = 0;
        let mut rest = text.as_str();
        let mut resumed = 0;
        while !rest.is_empty() {
            let mut again = None;
            for token in tokenize(rest, FrontmatterAllowed::No) {
                let start = at;
                at += token.len as usize;
                if let Some(resume) = self.take(token.kind, start, at) {
                    again = Some(resume);
                    break;
                }
            }
            let Some(resume) = again else { return };
            // Each resumption has read to the end of the file once: only so many are worth it.
            resumed += 1;
            at = if resumed > 64 { text.len() } else { resume };
            rest = text.get(at..).unwrap_or_default();
        }
    }

    /// Takes one token. An unterminated string would swallow the rest of the file: it is taken to
    /// end with its line, and lexing is resumed there.
    fn take(&mut self, kind: TokenKind, start: usize, end: usize) -> Option<usize> {
        let own_line = self.fresh;
        if kind == TokenKind::Whitespace {
            self.fresh |= self
                .text
                .get(start..end)
                .is_some_and(|text| text.contains('\n'));
            return None;
        }
        self.fresh = false;
        let class = match kind {
            TokenKind::LineComment { doc_style } => {
                let kind = if doc_style.is_some() {
                    CommentKind::Doc
                } else {
                    CommentKind::Line
                };
                self.comment(start, end, kind, own_line);
                return None;
            }
            TokenKind::BlockComment {
                doc_style,
                terminated,
            } => {
                let kind = if doc_style.is_some() {
                    CommentKind::Doc
                } else {
                    CommentKind::Block
                };
                self.comment(start, end, kind, own_line);
                if !terminated {
                    self.fail(start, start + 2, "unterminated comment");
                }
                return None;
            }
            TokenKind::Literal { kind, .. } if !terminated(kind) => {
                let line = self
                    .text
                    .get(start..end)
                    .and_then(|text| text.find('\n'))
                    .unwrap_or(end - start);
                self.push(Class::Literal, start, start + line);
                self.fail(start, start + line, "unterminated literal");
                return Some(start + line);
            }
            TokenKind::Whitespace
            | TokenKind::Unknown
            | TokenKind::Frontmatter { .. }
            | TokenKind::Eof => return None,
            TokenKind::Literal { .. } => Class::Literal,
            TokenKind::Ident
            | TokenKind::InvalidIdent
            | TokenKind::RawIdent
            | TokenKind::ForcedKeywordIdent
            | TokenKind::UnknownPrefix => Class::Word,
            TokenKind::Lifetime { .. }
            | TokenKind::RawLifetime
            | TokenKind::UnknownPrefixLifetime => Class::Lifetime,
            TokenKind::OpenParen | TokenKind::OpenBrace | TokenKind::OpenBracket => Class::Open,
            TokenKind::CloseParen | TokenKind::CloseBrace | TokenKind::CloseBracket => Class::Close,
            _ => Class::Sign,
        };
        self.push(class, start, end);
        None
    }

    fn push(&mut self, class: Class, start: usize, end: usize) {
        let sign = self.text.as_bytes().get(start).copied().unwrap_or_default();
        self.tokens.push(Token {
            class,
            sign,
            start,
            end,
            partner: self.tokens.len(),
        });
    }

    fn comment(&mut self, start: usize, end: usize, kind: CommentKind, own_line: bool) {
        let text = self.text.get(start..end).unwrap_or_default();
        let span = Span::new(start, start + text.trim_end_matches('\r').len());
        self.comments.push(Comment {
            span,
            kind,
            own_line,
        });
    }

    fn fail(&mut self, start: usize, end: usize, why: &str) {
        let fault = Fault {
            at: Span::new(start, end),
            why: why.to_owned(),
        };
        self.fault.get_or_insert(fault);
    }
}

pub(super) fn terminated(kind: LiteralKind) -> bool {
    match kind {
        LiteralKind::Int { .. } | LiteralKind::Float { .. } => true,
        LiteralKind::Char { terminated }
        | LiteralKind::Byte { terminated }
        | LiteralKind::Str { terminated }
        | LiteralKind::ByteStr { terminated }
        | LiteralKind::CStr { terminated } => terminated,
        LiteralKind::RawStr { n_hashes }
        | LiteralKind::RawByteStr { n_hashes }
        | LiteralKind::RawCStr { n_hashes } => n_hashes.is_some(),
    }
}

/// The text with spaces for the mark, the shebang and the frontmatter: positions stay as they are.
fn blank(text: &str) -> String {
    const MARK: &str = "\u{feff}";
    let mark = if text.starts_with(MARK) {
        MARK.len()
    } else {
        0
    };
    let mut end = mark;
    end += text.get(end..).and_then(strip_shebang).unwrap_or(0);
    end += text.get(end..).map_or(0, frontmatter);
    let head = text.get(..end).unwrap_or_default();
    let spaces = head.bytes().map(|byte| {
        if matches!(byte, b'\n' | b'\r') {
            char::from(byte)
        } else {
            ' '
        }
    });
    spaces
        .chain(text.get(end..).unwrap_or_default().chars())
        .collect()
}

/// Length of the frontmatter that `text` begins with. One that is never closed is none.
fn frontmatter(text: &str) -> usize {
    let mut at = 0;
    for token in tokenize(text, FrontmatterAllowed::Yes) {
        let end = at + token.len as usize;
        match token.kind {
            TokenKind::Whitespace => at = end,
            TokenKind::Frontmatter { .. } => {
                let inside = text.get(at..end).unwrap_or_default().trim();
                let closed = inside.lines().count() > 1 && inside.ends_with("---");
                return if closed { end } else { 0 };
            }
            _ => return 0,
        }
    }
    0
}
