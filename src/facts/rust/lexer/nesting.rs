//! Brackets in pairs, and how deeply a text nests.

use super::{Class, Lexed, Token};

impl Lexed {
    /// Gives each opening bracket its closing one. A closing bracket ends the nearest open one of
    /// its kind; what was opened in between is unclosed, and ends there too.
    pub(super) fn pair(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.tokens.len() {
            let Some(&Token {
                class,
                sign,
                start,
                end,
                ..
            }) = self.tokens.get(index)
            else {
                return;
            };
            if class == Class::Open {
                open.push(index);
            } else if class == Class::Close {
                let wanted = match sign {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                let fits = |at: &usize| {
                    self.tokens
                        .get(*at)
                        .is_some_and(|token| token.sign == wanted)
                };
                // A bound on the look back keeps a hostile text from being quadratic.
                let found = open.iter().rev().take(64).position(fits);
                let Some(found) = found else {
                    self.fail(start, end, "unmatched closing bracket");
                    continue;
                };
                for unclosed in 0..=found {
                    let Some(at) = open.pop() else { break };
                    if unclosed < found {
                        self.unclosed(at);
                    }
                    if let Some(token) = self.tokens.get_mut(at) {
                        token.partner = index;
                    }
                }
            }
        }
        let all = self.tokens.len();
        for at in open.into_iter().rev() {
            self.unclosed(at);
            if let Some(token) = self.tokens.get_mut(at) {
                token.partner = all;
            }
        }
    }

    fn unclosed(&mut self, at: usize) {
        if let Some(token) = self.tokens.get(at).copied() {
            let why = format!("unclosed \"{}\"", char::from(token.sign));
            self.fail(token.start, token.end, &why);
        }
    }

    /// Bounds the recursion of a parser: open brackets, `<` that may be open, and prefixes in a row;
    /// and the length of what is joined at one level, summed over all open levels.
    pub(super) fn measure(&mut self) {
        let mut levels: Vec<usize> = vec![0];
        let (mut sum, mut angles, mut prefixes) = (0_usize, 0_usize, 0_usize);
        for index in 0..self.tokens.len() {
            let Some(token) = self.tokens.get(index).copied() else {
                return;
            };
            match token.class {
                Class::Open => {
                    levels.push(0);
                    prefixes = 0;
                }
                Class::Close => {
                    if levels.len() > 1 {
                        sum -= levels.pop().unwrap_or_default();
                    }
                    prefixes = 0;
                    if token.sign == b'}' && self.starts_anew(index + 1) {
                        sum -= levels.last_mut().map(std::mem::take).unwrap_or_default();
                        angles = 0;
                    } else {
                        sum += bump(&mut levels);
                    }
                }
                Class::Sign if matches!(token.sign, b',' | b';') => {
                    sum -= levels.last_mut().map(std::mem::take).unwrap_or_default();
                    prefixes = 0;
                    if token.sign == b';' {
                        angles = 0;
                    }
                }
                Class::Sign => {
                    sum += bump(&mut levels);
                    match token.sign {
                        b'<' => angles += 1,
                        b'>' if !self.arrow(index) => angles = angles.saturating_sub(1),
                        _ => {}
                    }
                    prefixes += 1;
                }
                Class::Word if self.word(index).is_some_and(recurses) => {
                    sum += bump(&mut levels);
                    prefixes += 1;
                }
                Class::Word | Class::Literal | Class::Lifetime => prefixes = 0,
            }
            let nesting = levels.len() - 1 + angles + prefixes;
            if nesting > self.nesting || sum > self.chain {
                self.deepest = token.span();
            }
            self.nesting = self.nesting.max(nesting);
            self.chain = self.chain.max(sum);
        }
    }

    /// Whether the `>` at `index` is the end of `->` or `=>`.
    fn arrow(&self, index: usize) -> bool {
        index
            .checked_sub(1)
            .is_some_and(|before| self.signs(before, "->") || self.signs(before, "=>"))
    }

    /// Whether the token after a `}` cannot go on with what the `}` ended.
    fn starts_anew(&self, index: usize) -> bool {
        self.tokens
            .get(index)
            .is_none_or(|token| match token.class {
                Class::Word => !matches!(self.slice(index), "else" | "as"),
                Class::Literal | Class::Lifetime | Class::Close => true,
                Class::Open => false,
                Class::Sign => token.sign == b'#',
            })
    }
}

fn bump(levels: &mut [usize]) -> usize {
    levels.last_mut().map_or(0, |level| {
        *level += 1;
        1
    })
}

/// Keywords after which a parser recurses without a bracket.
fn recurses(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "break"
            | "yield"
            | "if"
            | "match"
            | "while"
            | "for"
            | "in"
            | "let"
            | "move"
            | "async"
            | "static"
            | "const"
            | "mut"
            | "ref"
            | "box"
            | "dyn"
            | "impl"
            | "unsafe"
            | "else"
            | "as"
            | "become"
    )
}
