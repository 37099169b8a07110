//! Whether a text may run one of the programs that rules know. Wider than the shell reader, and
//! cheap: a name counts wherever a command may begin.

use std::collections::{BTreeMap, BTreeSet};

use super::texts::Text;
use crate::facts::shell;

/// Programs whose names are words of every day: they count only where a command may begin.
const COMMON: &[&str] = &[
    "at", "batch", "cmd", "cron", "daemon", "docker", "expect", "forever", "open", "parallel",
    "screen", "script", "sem", "service", "set", "ssh", "start", "status", "su", "timeout", "trap",
    "bash", "sh", "ash", "dash", "node", "ruby", "perl", "php", "celery", "gunicorn", "nginx",
    "sudo",
];

/// Names that mean something to a rule only in a text.
const IN_TEXT: &[&str] = &["start", "status"];

/// Words of a shell after which a command may begin.
const KEYWORDS: &[&str] = &[
    "then", "do", "else", "elif", "if", "while", "until", "!", "time", "coproc",
];

/// The programs of all rules.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// Each with what must come to it: of each row one word; a row without words is met.
    names: BTreeMap<String, Vec<Vec<String>>>,
    /// Those that run a program which is named among their arguments.
    carriers: BTreeSet<&'static str>,
    /// Those that may read one of their arguments as a text.
    readers: BTreeSet<&'static str>,
    /// Whether anything in the background counts.
    background: bool,
}

impl Programs {
    /// Gathers what the rules name.
    pub(super) fn new<'a>(written: impl Iterator<Item = &'a &'static str>) -> Self {
        let mut programs = Self {
            carriers: shell::carriers().collect(),
            readers: shell::readers().collect(),
            ..Self::default()
        };
        for written in written {
            let (name, words) = written.split_once(' ').unwrap_or((written, ""));
            if name == "&" {
                programs.background = true;
                continue;
            }
            let words = words.split('|').filter(|word| !word.is_empty());
            let row = words.map(str::to_owned).collect();
            programs.names.entry(name.to_owned()).or_default().push(row);
        }
        programs
    }

    /// Whether one of the texts may run one of them: as a text for a `shell`, or as a word of an argv,
    /// among which may be a program that reads another as a text.
    pub(super) fn in_one_of(&self, texts: &[Text], shell: bool) -> bool {
        let reads = |text: &Text| {
            let name = name(&text.text);
            self.readers.contains(name.as_str())
        };
        if shell || texts.iter().any(reads) {
            return texts.iter().any(|text| {
                self.background && in_background(&text.text) || self.is_run_by(text, texts)
            });
        }
        let mut words = texts.iter().filter(|text| !text.text.contains([' ', '\n']));
        words.any(|text| {
            let names = [
                name(&text.text),
                name(text.text.rsplit('\\').next().unwrap_or_default()),
            ];
            let in_text = |name: &String| IN_TEXT.contains(&name.as_str());
            names
                .iter()
                .any(|name| !in_text(name) && self.counts(name, texts))
        })
    }

    /// Whether a name of the code is one of them, as packages call programs: `sh.apt_get`.
    pub(super) fn is_named_in(&self, code: &str) -> bool {
        let words = code.split(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
        words
            .into_iter()
            .any(|word| self.counts(&word.replace('_', "-"), &[]))
    }

    fn is_run_by(&self, text: &Text, all: &[Text]) -> bool {
        // What a shell puts together from its variables, or from escapes, only its reader knows.
        let put_together = text.text.contains('$') && text.text.contains(['=', '\'']);
        if put_together
            && shell::programs(&text.text)
                .iter()
                .any(|name| self.counts(name, all))
        {
            return true;
        }
        let mut place = if text.goes_on {
            Place::Any
        } else {
            Place::Begin
        };
        // Behind a value that is put in it goes on as before it.
        let mut around = place;
        let mut word = String::new();
        for ch in text.text.chars().chain(std::iter::once('\n')) {
            let ends = ch.is_whitespace() || ";&|()[],{}`=<>".contains(ch);
            if !ends {
                if !matches!(ch, '\'' | '"') {
                    word.push(ch);
                }
                continue;
            }
            let before = place;
            if !word.is_empty() && self.takes(&word, &mut place, all) {
                return true;
            }
            word.clear();
            match ch {
                '\n' | ';' | '&' | '|' | '(' | ')' | '[' | ',' | '`' => place = Place::Begin,
                '{' => around = before,
                '}' => place = around,
                // A redirection: the command comes behind it, or came before.
                '<' | '>' => place = Place::Any,
                // An assignment before a command.
                '=' if before != Place::Inside => place = Place::Any,
                _ => {}
            }
        }
        false
    }

    /// Takes a word of a text; true if it is a program that counts.
    fn takes(&self, word: &str, place: &mut Place, all: &[Text]) -> bool {
        let bare: String = word.chars().filter(|ch| *ch != '\\').collect();
        let names = [
            name(&bare),
            name(word.rsplit('\\').next().unwrap_or_default()),
        ];
        for name in &names {
            let here = *place != Place::Inside || !COMMON.contains(&name.as_str());
            if here && self.counts(name, all) {
                return true;
            }
        }
        if *place == Place::Begin && !KEYWORDS.contains(&bare.as_str()) {
            let carries = names
                .iter()
                .any(|name| self.carriers.contains(name.as_str()));
            *place = if carries { Place::Any } else { Place::Inside };
        }
        false
    }

    fn counts(&self, name: &str, all: &[Text]) -> bool {
        let rows = self.names.get(name).into_iter().flatten();
        rows.into_iter().any(|row| {
            row.is_empty()
                || row
                    .iter()
                    .any(|word| all.iter().any(|text| has(&text.text, word)))
        })
    }
}

/// What may stand where a text is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A command.
    Begin,
    /// An argument, which may be a command.
    Any,
    /// An argument.
    Inside,
}

/// The name of a program: without its folder and `.exe`, in lower case.
fn name(path: &str) -> String {
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

/// Whether a text has a word that must come to a program: `-P` is an option, or in a cluster of them.
fn has(text: &str, word: &str) -> bool {
    let letter = word.strip_prefix('-').filter(|letters| letters.len() == 1);
    let Some(letter) = letter else {
        return text.contains(word);
    };
    let cluster = |own: &str| {
        let own = own.trim_matches(['\'', '"', '`', '(', ')', ',', ';']);
        let letters = own
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(letter))
    };
    text.split([' ', '\t', '\n']).any(cluster)
}

/// Whether a text has a `&` that is neither `&&` nor part of a redirection.
fn in_background(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'&', bytes).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let after = bytes.get(at + 1).copied();
        !matches!(before, Some(b'&' | b'>' | b'<' | b'|')) && !matches!(after, Some(b'&' | b'>'))
    })
}
