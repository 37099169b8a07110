//! The rules: one mechanism, one file, one word in the list at the end of this file's macro.

use crate::facts::Facts;
use crate::source::Span;

/// What an unjustified finding of a mechanism does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Not shown, not counted.
    Allow,
    /// Shown, does not fail the run.
    Warn,
    /// Fails the run.
    Deny,
}

/// How sure it is that the spawn detaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It depends on a value that only the run knows, or dies here though it detaches.
    May,
    /// It does.
    Sure,
}

/// One mechanism of detaching. Its file's name is its id with `_` for `-`.
#[derive(Debug)]
pub struct Rule {
    /// Kebab-case, never reused: `new-session`.
    pub id: &'static str,
    /// Default level of sure findings; those that may detach are at most [`Level::Warn`].
    pub level: Level,
    /// One line, lower case, no full stop: the README's table.
    pub summary: &'static str,
    /// What to do instead, in one or two sentences; ends every finding.
    pub help: &'static str,
    /// Markdown with the headings What it finds, Why it matters, Bad, Good, When it may stay; its
    /// fences are tests.
    pub doc: &'static str,
    /// What a file has in which it can match. Sound, not tight.
    pub words: Words,
    /// Finds it.
    pub check: fn(&Facts) -> Vec<Hit>,
}

/// One piece of evidence found by a rule. Hits with the same act become one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The act of spawning, to tell one finding from another.
    pub act: Span,
    /// The token that says so.
    pub evidence: Span,
    /// The program whose word that is, where it is not its name.
    pub program: Option<String>,
    /// Whether it does or may.
    pub certainty: Certainty,
    /// In which way it gets away.
    pub way: Way,
    /// Other places that matter: uses of a hook.
    pub notes: Vec<(Span, String)>,
    /// A reason that the spawn carries itself, as an argument, and where it stands: an empty one
    /// where the argument is no text that can be read.
    pub reason: Option<(String, Span)>,
}

impl Hit {
    /// Evidence that is sure, with no notes.
    pub const fn new(act: Span, evidence: Span, way: Way) -> Self {
        Self {
            act,
            evidence,
            program: None,
            certainty: Certainty::Sure,
            way,
            notes: Vec::new(),
            reason: None,
        }
    }

    /// The same, as sure as `certainty` says.
    #[must_use]
    pub fn with(mut self, certainty: Certainty) -> Self {
        self.certainty = self.certainty.min(certainty);
        self
    }
}

/// In which way a process gets away from those who clean up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It leads a session of its own.
    NewSession,
    /// It leads or joins another process group.
    NewGroup,
    /// A session of its own, and reparented.
    Daemonised,
    /// Another service starts it.
    OtherService,
    /// A session of its own on a terminal that its spawner holds.
    Terminal,
    /// It stays in the group and does not die of a hangup.
    HangupProof,
    /// It stays in the group and is no longer its spawner's child.
    Reparented,
    /// It is run by the desktop, or by a browser's own process.
    Desktop,
    /// Windows: outside the console, the group or the job.
    Windows,
    /// The configuration says so of a helper.
    Declared,
}

mod doubles;
mod hooks;
mod leaving;
mod names;
mod shell;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use doubles::is_replaced;
pub use words::{
    BY_NAME, GIVEN, Groups, OF_SYSTEM, PYTHON, RUST, Spawners, WIDE, WIDE_8, WIDE_14, Words,
};

/// Declares the rules' modules and lists them, in the order of the documentation.
macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        /// Every rule, in the order of the documentation.
        pub const ALL: &[&Rule] = &[$(&$module::RULE),+];
    };
}

rules! {
    new_session, new_group, preexec_detach, self_detach, raw_detach, daemonize, lib_detach,
    shell_setsid, shell_new_group, shell_daemon, shell_service, win_detach,
    pty_spawn, hup_ignore, shell_nohup, fork_orphan, opener, shell_timeout, shell_remote,
    shell_background,
}
