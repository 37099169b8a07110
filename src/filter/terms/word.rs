//! One word, and what must stand beside it.

use std::cell::OnceCell;

use memchr::memmem;

use super::module::{SYSTEM, is_renamed, is_starred};
use super::reach::{asking, is_reached, may_import};
use crate::rules::{BY_NAME, GIVEN, OF_SYSTEM};
use crate::source::{Language, is_word};

/// What must stand beside a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    /// Anything.
    Any,
    /// No letter, digit or `_`.
    Whole,
    /// The same, and something that reaches it before.
    Reached,
    /// The same, and what reaches it may be the system's module, under whatever name.
    OfSystem,
    /// No letter, digit or `_`, in a list of imports.
    Listed,
}

/// Which bytes a word is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Bytes {
    /// A file as it is: comments may stand between a name and what reaches it.
    Raw,
    /// Code and texts, without comments.
    Code,
}

/// A word of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) letters: String,
    border: Border,
    /// Whether it does not count where it is called with nothing.
    given: bool,
    /// What must stand close behind it; often nothing.
    near: String,
}

impl Word {
    /// All that one in the rules' own notation stands for.
    pub(super) fn all(written: &str) -> Vec<Self> {
        let quoted = written
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''));
        match (written.strip_prefix('@'), quoted) {
            (Some(module), _) => {
                let imported = ["import ", "from "].map(|before| (before, Border::Whole));
                let listed = [", ", ","].map(|before| (before, Border::Listed));
                let all = imported.into_iter().chain(listed);
                all.map(|(before, border)| Self {
                    border,
                    ..Self::plain(&format!("{before}{module}"))
                })
                .collect()
            }
            (None, Some(text)) => vec![Self::plain(&format!("\"{text}\"")), Self::plain(written)],
            (None, None) => vec![Self::new(written)],
        }
    }

    fn new(written: &str) -> Self {
        let (written, near) = written.split_once('…').unwrap_or((written, ""));
        let (written, given) = match written.strip_suffix(GIVEN) {
            Some(written) => (written, true),
            None => (written, false),
        };
        let whole = written
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        let reached = written.strip_prefix('.').filter(|rest| !rest.is_empty());
        // A path of Rust is none: `os::fork`.
        let of_system = written.strip_prefix(OF_SYSTEM);
        let of_system = of_system.filter(|rest| !rest.starts_with(':'));
        let (letters, border) = match (whole, reached, of_system) {
            (Some(letters), ..) => (letters, Border::Whole),
            (None, Some(letters), _) => (letters, Border::Reached),
            (None, None, Some(letters)) => (letters, Border::OfSystem),
            (None, None, None) => (written, Border::Any),
        };
        Self {
            letters: letters.to_owned(),
            border,
            given,
            near: near.to_owned(),
        }
    }

    /// One that is these letters, whatever signs they are.
    pub(super) fn plain(letters: &str) -> Self {
        Self {
            letters: letters.to_owned(),
            border: Border::Any,
            given: false,
            near: String::new(),
        }
    }

    /// Whether it stands at `at`, where its letters are.
    pub(super) fn is_at(&self, of: &In<'_>, at: usize) -> bool {
        let bytes = of.bytes;
        let before = bytes.get(..at).unwrap_or_default();
        let after = bytes.get(at + self.letters.len()..).unwrap_or_default();
        let letters = self.letters.as_bytes();
        let apart = |inside: Option<&u8>, outside: Option<&u8>| {
            !inside.copied().is_some_and(is_word) || !outside.copied().is_some_and(is_word)
        };
        let whole =
            || apart(letters.first(), before.last()) && apart(letters.last(), after.first());
        let close = after.get(..NEAR).unwrap_or(after);
        if !self.near.is_empty() && memmem::find(close, self.near.as_bytes()).is_none() {
            return false;
        }
        if self.given && after.starts_with(b"()") {
            return false;
        }
        match self.border {
            Border::Any => true,
            Border::Whole => whole(),
            Border::Reached => whole() && (is_reached(before, of) || of.starred()),
            Border::OfSystem => {
                // Where a point stands close before it, it is seen of what it is.
                let owner = before.strip_suffix(b".").map(<[u8]>::trim_ascii_end);
                let own = owner.is_none_or(|owner| {
                    SYSTEM.iter().any(|name| owner.ends_with(name.as_bytes())) || of.renamed()
                });
                whole() && (own && is_reached(before, of) || of.starred())
            }
            Border::Listed => whole() && may_import(before, of),
        }
    }

    /// Whether it stands at `at`.
    pub(super) fn stands_at(&self, of: &In<'_>, at: usize) -> bool {
        let there = of.bytes.get(at..).unwrap_or_default();
        there.starts_with(self.letters.as_bytes()) && self.is_at(of, at)
    }

    /// Whether it stands anywhere.
    pub(super) fn is_in(&self, of: &In<'_>) -> bool {
        memmem::find_iter(of.bytes, self.letters.as_bytes()).any(|at| self.is_at(of, at))
    }
}

/// What words are looked for in.
pub(super) struct In<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) kind: Bytes,
    pub(super) language: Language,
    starred: OnceCell<bool>,
    asked: OnceCell<bool>,
    renamed: OnceCell<bool>,
}

impl<'b> In<'b> {
    pub(super) const fn new(bytes: &'b [u8], kind: Bytes, language: Language) -> Self {
        Self {
            bytes,
            kind,
            language,
            starred: OnceCell::new(),
            asked: OnceCell::new(),
            renamed: OnceCell::new(),
        }
    }

    /// Whether names may be reached without the module that they are of.
    fn starred(&self) -> bool {
        let starred = || is_starred(self.bytes, self.language);
        *self.starred.get_or_init(starred)
    }

    /// Whether these letters stand anywhere.
    fn names(&self, letters: &str) -> bool {
        memmem::find(self.bytes, letters.as_bytes()).is_some()
    }

    /// Whether names may be asked for by literals.
    pub(super) fn asked(&self) -> bool {
        let asked = || self.language == Language::Rust || asking().any(|name| self.names(name));
        *self.asked.get_or_init(asked)
    }

    /// Whether the system's module may have another name: it is spoken of where nothing is taken from it, is one
    /// of `sys.modules`, or is imported by a text.
    fn renamed(&self) -> bool {
        let renamed = || {
            let mut by_text = BY_NAME.split('|').chain(["modules"]);
            by_text.any(|name| self.names(name))
                || SYSTEM.iter().any(|name| is_renamed(name.as_bytes(), self))
        };
        *self.renamed.get_or_init(renamed)
    }
}

/// How many bytes behind a word are close to it.
const NEAR: usize = 32;
