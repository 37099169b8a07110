//! Whether a text may run one of the programs that rules know. Wider than the shell reader, and
//! cheap: a name counts wherever a command may begin.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::texts::{Text, is_program_text};
use crate::facts::shell;

/// Programs whose names are words of every day: they count only where a command may begin.
const COMMON: &[&str] = &[
    "at", "batch", "cmd", "cron", "daemon", "docker", "expect", "forever", "open", "parallel",
    "screen", "script", "sem", "service", "set", "ssh", "start", "status", "su", "timeout", "trap",
    "bash", "sh", "ash", "dash", "node", "ruby", "perl", "php", "celery", "gunicorn", "nginx",
    "sudo",
];

/// Names that mean something to a rule only in a text: what a shell does itself, so that no path names it.
const IN_TEXT: &[&str] = &["start", "status"];

/// What stands for anything in the background among the programs of a rule.
pub(super) const BACKGROUND: &str = "&";

/// Words of a shell after which a command may begin.
const KEYWORDS: &[&str] = &[
    "then", "do", "else", "elif", "if", "while", "until", "!", "coproc", "begin", "and", "or",
    "not",
];

/// What writes or looks up a command that another word runs: `echo 'at now' | sh`, `$(which at) now`.
const TELLERS: &[&str] = &["echo", "printf", "which", "type"];

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
            carriers: shell::carriers().chain(TELLERS.iter().copied()).collect(),
            readers: shell::readers().collect(),
            ..Self::default()
        };
        for written in written {
            let (name, words) = written.split_once(' ').unwrap_or((written, ""));
            if name == BACKGROUND {
                programs.background = true;
                continue;
            }
            let words = words.split('|').filter(|word| !word.is_empty());
            let row = words.map(str::to_owned).collect();
            programs.names.entry(name.to_owned()).or_default().push(row);
        }
        programs
    }

    /// The same, with or without what runs in the background.
    pub(super) fn telling_of_background(self, background: bool) -> Self {
        Self {
            background: self.background && background,
            ..self
        }
    }

    /// The same programs, asked about these texts.
    pub(super) fn of<'a>(&'a self, texts: &'a [Text]) -> Asked<'a> {
        Asked {
            programs: self,
            texts,
            met: RefCell::default(),
        }
    }
}

/// Programs, and the texts that may run one.
pub(super) struct Asked<'a> {
    programs: &'a Programs,
    texts: &'a [Text],
    /// Whether what must come to a program stands in some text: looked for once, not at each use.
    met: RefCell<BTreeMap<&'a str, bool>>,
}

impl<'a> Asked<'a> {
    /// Whether one of the texts may run one of them: as a text for a `shell`, or as a word of an argv,
    /// among which may be a program that reads another as a text.
    pub(super) fn are_run(&self, shell: bool, split: bool) -> bool {
        let reads = |text: &Text| self.programs.readers.contains(&*name(&text.text));
        let shell = shell || self.texts.iter().any(reads);
        self.texts.iter().any(|text| {
            if shell || is_program_text(&text.text) {
                let background = shell && self.programs.background;
                return background && in_background(&text.text) || self.is_run_by(text);
            }
            let in_text = |name: &str| IN_TEXT.contains(&name);
            let own = constant(&text.text);
            split && self.begins(&text.text)
                || names(&own).any(|name| !in_text(&name) && self.counts(&name))
        })
    }

    /// Whether a name of the code is one of them, as packages call programs: `sh.apt_get`.
    pub(super) fn are_named_in(&self, code: &str) -> bool {
        let words = code.split(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
        words
            .into_iter()
            .any(|word| self.counts(&word.replace('_', "-")))
    }

    /// Whether a text that is split into an argv begins with one of them, or with what carries one.
    fn begins(&self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else {
            return false;
        };
        let program = |word: &str| {
            let own = constant(word);
            let name = name(&own);
            let written = own.ends_with(&*name) && !IN_TEXT.contains(&&*name);
            (written && self.counts(&name), name.into_owned())
        };
        let (counts, name) = program(first);
        let carries = self.programs.carriers.contains(&*name) || first.starts_with(['-', '{', '%']);
        counts || carries && words.any(|word| program(word).0)
    }

    fn is_run_by(&self, text: &Text) -> bool {
        // What a shell puts together from variables, escapes or cut lines, only its reader knows.
        let put_together = text.text.contains(['$', '`']) || text.text.contains("\\\n");
        if put_together
            && shell::programs(&text.text)
                .iter()
                .any(|name| self.counts(name))
        {
            return true;
        }
        let is_program = is_program_text(&text.text);
        let mut place = if text.goes_on || is_program {
            Place::Any
        } else {
            Place::Begin
        };
        // Behind a value that is put in it goes on as before it.
        let mut around = place;
        let mut word = String::new();
        let mut chars = text.text.chars().chain(std::iter::once('\n')).peekable();
        while let Some(ch) = chars.next() {
            if ch == '\\' && chars.next_if_eq(&'\n').is_some() {
                continue;
            }
            let ends = ch.is_whitespace() || ";&|()[],{}`=<>".contains(ch);
            if !ends {
                if !matches!(ch, '\'' | '"') {
                    word.push(ch);
                }
                continue;
            }
            let before = place;
            if !word.is_empty() && self.takes(&word, &mut place) {
                return true;
            }
            word.clear();
            match ch {
                '\n' | ';' | '&' | '|' | '(' | ')' | '[' | ',' | '`' => place = Place::Begin,
                // A group of commands; else the place of a value.
                '{' if chars.peek().is_some_and(|next| next.is_whitespace()) => {
                    place = Place::Begin;
                    around = Place::Begin;
                }
                '{' => around = before,
                '}' => place = around,
                // A redirection: the command comes behind it, or came before.
                '<' | '>' => place = Place::Any,
                // An assignment before a command.
                '=' if is_program || before != Place::Inside => place = Place::Any,
                _ => {}
            }
        }
        false
    }

    /// Takes a word of a text; true if it is a program that counts.
    fn takes(&self, word: &str, place: &mut Place) -> bool {
        let bare = bare(word);
        // `env -Sat`, `$'at'`
        let behind = [bare.strip_prefix("-S"), bare.strip_prefix('$')];
        let behind = behind.into_iter().flatten().map(name);
        let names: Vec<Cow<'_, str>> = names(word).chain(behind).collect();
        let path = bare.contains('/');
        let here = |name: &str| {
            (*place != Place::Inside || !COMMON.contains(&name))
                && !(path && IN_TEXT.contains(&name))
        };
        if names.iter().any(|name| here(name) && self.counts(name)) {
            return true;
        }
        // A value that is put in may be a command that carries the next one, or nothing.
        let put_in = bare.starts_with('%');
        if *place == Place::Begin && !put_in && !KEYWORDS.contains(&&*bare) {
            // With an option nothing begins: the text goes on with one that is joined before it.
            let carries = bare.starts_with('-')
                || names
                    .iter()
                    .any(|name| self.programs.carriers.contains(&**name));
            *place = if carries { Place::Any } else { Place::Inside };
        }
        false
    }

    /// Whether this is a program that counts, with what must come to it.
    fn counts(&self, name: &str) -> bool {
        let rows = self.programs.names.get(name).into_iter().flatten();
        rows.into_iter()
            .any(|row| row.is_empty() || row.iter().any(|word| self.is_met(word)))
    }

    /// Whether one of the texts has a word that must come to a program.
    fn is_met(&self, word: &'a str) -> bool {
        let mut met = self.met.borrow_mut();
        let looked = || self.texts.iter().any(|text| has(&text.text, word));
        *met.entry(word).or_insert_with(looked)
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
fn name(path: &str) -> Cow<'_, str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let end = name.len().checked_sub(".exe".len());
    let parts = end.and_then(|at| name.split_at_checked(at));
    let program = parts.filter(|(_, end)| end.eq_ignore_ascii_case(".exe"));
    let name = program.map_or(name, |(program, _)| program);
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// A word without the signs that a shell takes off.
fn bare(word: &str) -> Cow<'_, str> {
    if word.contains('\\') {
        Cow::Owned(word.replace('\\', ""))
    } else {
        Cow::Borrowed(word)
    }
}

/// What a path may name: without the signs that a shell takes off, and behind a folder of Windows.
fn names(path: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let behind = path.rsplit_once('\\').map(|(_, behind)| name(behind));
    let own = match bare(path) {
        Cow::Borrowed(own) => name(own),
        Cow::Owned(own) => Cow::Owned(name(&own).into_owned()),
    };
    std::iter::once(own).chain(behind)
}

/// Whether a text has a word that must come to a program: `-P` is an option, or in a cluster of them.
fn has(text: &str, word: &str) -> bool {
    let letter = word.strip_prefix('-').filter(|letters| letters.len() == 1);
    let Some(letter) = letter else {
        return text.contains(word);
    };
    let cluster = |own: &str| {
        let letters = own
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(letter))
    };
    text.split(|ch: char| ch.is_whitespace() || "'\"`(){}[],;=".contains(ch))
        .any(cluster)
}

/// The text without the values that are put in: `f"{folder}/at"`, `"at%s" % end`.
fn constant(text: &str) -> Cow<'_, str> {
    if !text.contains(['{', '}']) && !text.contains("%s") {
        return Cow::Borrowed(text);
    }
    let mut constant = String::new();
    let mut depth = 0_usize;
    for ch in text.replace("%s", "").chars() {
        match ch {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => constant.push(ch),
            _ => {}
        }
    }
    Cow::Owned(constant)
}

/// Whether a text has a `&` that is neither `&&` nor part of a redirection.
fn in_background(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'&', bytes).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let after = bytes.get(at + 1).copied();
        let before = match before {
            // `||&` is no `|&`.
            Some(b'|') if bytes.get(..at).unwrap_or_default().ends_with(b"||") => None,
            before => before,
        };
        !matches!(before, Some(b'&' | b'>' | b'<' | b'|')) && !matches!(after, Some(b'&' | b'>'))
    })
}
