//! What rules and helpers name, made ready to be found.

use std::sync::OnceLock;

use super::terms::{Gathered, Says, Terms};
use crate::rules::{PYTHON, RUST, Words};
use crate::source::Language;

/// Words that a comment has which speaks to this tool, well formed or misspelt in one of its words.
const MARKERS: &[&[&str]] = &[
    &["etach…paw|etach…pwa"],
    &["etatch…paw|etahc…paw|eatch…paw"],
    &["ETACH…PAW"],
];

/// What rules and helpers name, and what finds it in a language: made when a file of it is met.
#[derive(Debug)]
pub(super) struct Named {
    rules: Vec<&'static Words>,
    helpers: Vec<String>,
    python: OnceLock<Option<Terms>>,
    rust: OnceLock<Option<Terms>>,
}

impl Named {
    pub(super) const fn new(rules: Vec<&'static Words>, helpers: Vec<String>) -> Self {
        Self {
            rules,
            helpers,
            python: OnceLock::new(),
            rust: OnceLock::new(),
        }
    }

    /// What finds it in a language; none if something in it is everywhere.
    pub(super) fn terms(&self, language: Language) -> Option<&Terms> {
        let terms = match language {
            Language::Python => &self.python,
            Language::Rust => &self.rust,
        };
        terms.get_or_init(|| self.gathered(language)).as_ref()
    }

    fn gathered(&self, language: Language) -> Option<Terms> {
        let mut gathered = Gathered::new(language);
        for marker in MARKERS {
            gathered.add(marker, Says::Wanted);
        }
        for name in &self.helpers {
            gathered.plain(name, Says::Wanted);
        }
        let own = match language {
            Language::Python => PYTHON,
            Language::Rust => RUST,
        };
        let mut groups = Vec::new();
        let starts = own.argv.iter().chain(own.text);
        groups.extend(starts.map(|group| (group, Says::Spawns)));
        let reads = own.text.iter().chain(own.shell);
        groups.extend(reads.map(|group| (group, Says::Shell)));
        groups.extend(own.names.iter().map(|group| (group, Says::Names)));
        for words in &self.rules {
            let own = match language {
                Language::Python => words.python,
                Language::Rust => words.rust,
            };
            let own = words.both.iter().chain(own);
            groups.extend(own.map(|group| (group, Says::Match)));
        }
        let sound = groups
            .iter()
            .all(|(group, says)| gathered.add(group, *says));
        sound.then(|| gathered.done()).flatten()
    }
}
