//! Literals that can be no value that goes anywhere: messages, keys, what is compared.

use super::{Pass, Role};
use crate::source::is_word;

/// What is called with a message.
const MESSAGES: &[&str] = &[
    "print",
    "warn",
    "warning",
    "debug",
    "info",
    "error",
    "exception",
    "critical",
    "log",
    "skip",
    "fail",
    "add_argument",
    "option",
    "warn_explicit",
    "note",
    "verbose",
    "echo",
    "secho",
];
/// What is called with a key before all others.
const KEYED: &[&str] = &[
    "get",
    "pop",
    "setdefault",
    "hasattr",
    "setattr",
    "getattr",
    "delattr",
    "startswith",
    "endswith",
    "get_option",
    "set_option",
    "getoption",
    "addoption",
    "register",
    "isinstance",
];
/// What is called with a key behind that whose key it is.
const SETS: &[&str] = &["hasattr", "setattr", "delattr"];
/// Arguments that are told to people.
const TOLD: &[&str] = &[
    "help",
    "description",
    "epilog",
    "usage",
    "doc",
    "metavar",
    "dest",
    "reason",
];

impl Pass<'_> {
    /// What the literal that ends here can be, by what stands around it.
    pub(super) fn role(&self) -> Role {
        if self.is_inert() {
            Role::Inert
        } else if self.is_member() {
            Role::Member
        } else {
            Role::Value
        }
    }

    /// Whether it alone indexes something, or is the name that `getattr` is given.
    fn is_member(&self) -> bool {
        let Some(level) = self.levels.last() else {
            return false;
        };
        let indexes = level.indexes && self.last[1] == b'[' && self.next() == Some(b']');
        let callee = level.callee.map(|callee| self.slice(callee));
        indexes || callee == Some("getattr") && level.commas == 1 && level.keyword.is_none()
    }

    /// Whether a comparison follows: `"at" in names`.
    fn is_compared(&self) -> bool {
        let rest = self.rest();
        let word = rest.iter().position(|byte| !is_word(*byte));
        let word = rest.get(..word.unwrap_or(rest.len()));
        rest.starts_with(b"==") || rest.starts_with(b"!=") || matches!(word, Some(b"in" | b"not"))
    }

    fn is_inert(&self) -> bool {
        if matches!(&self.last, b"==" | b"!=") || self.is_compared() {
            return true;
        }
        let Some(level) = self.levels.last() else {
            return false;
        };
        if level.opener == b'{' {
            return self.next() == Some(b':') && matches!(self.last[1], b'{' | b',');
        }
        let Some(callee) = level.callee.filter(|_| !level.defines && !level.names) else {
            return false;
        };
        let name = self.slice(callee);
        let message = MESSAGES.contains(&name)
            || ["Error", "Exception", "Warning"]
                .iter()
                .any(|end| name.ends_with(end));
        let told = name != "dict"
            && level
                .keyword
                .is_some_and(|word| TOLD.contains(&self.slice(word)));
        let key = KEYED.contains(&name) && level.commas == 0
            || SETS.contains(&name) && level.commas == 1 && level.keyword.is_none();
        message || told || key
    }
}
