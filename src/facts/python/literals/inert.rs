//! Literals that can be no value that goes anywhere: messages, keys, what is compared.

use super::Pass;

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
    /// Whether the literal that ends here is one of them, by what stands around it.
    pub(super) fn is_inert(&self) -> bool {
        if matches!(&self.last, b"==" | b"!=") {
            return true;
        }
        let Some(level) = self.levels.last() else {
            return false;
        };
        if level.opener == b'{' {
            return self.next() == Some(b':');
        }
        let Some(callee) = level.callee.filter(|_| !level.defines) else {
            return false;
        };
        if &self.last == b":=" {
            return false;
        }
        let name = self.slice(callee);
        let message = MESSAGES.contains(&name)
            || ["Error", "Exception", "Warning"]
                .iter()
                .any(|end| name.ends_with(end));
        let told = name != "dict"
            && level
                .keyword
                .is_some_and(|word| TOLD.contains(&self.slice(word)));
        let key = KEYED.contains(&name) && level.commas == 0;
        message || told || key
    }
}
