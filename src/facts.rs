//! What one file says, as plain data. Syntax ends here: rules read facts, never a tree.
//!
//! Names are **canonical dotted paths**, the same for both languages. Imports and aliases are
//! resolved, `::` is written `.`:
//!
//! | source | path |
//! | --- | --- |
//! | `import os as o; o.setsid()` | `os.setsid` |
//! | `use libc::setsid as s; s()` | `libc.setsid` |
//! | `Command::new("x")` (imported from std) | `std.process.Command.new` |
//! | `Command::new("x").arg(1).process_group(0)` | `std.process.Command().process_group` |
//! | `fn f(c: &mut Command) { c.process_group(0) }` | `std.process.Command().process_group` |
//! | `CommandExt::process_group(&mut c, 0)` | `std.os.unix.process.CommandExt.process_group` |
//! | `libc = ctypes.CDLL(None); libc.setsid()` | `ctypes.CDLL().setsid` |
//! | `local["sleep"]["1"].nohup()` | `plumbum.local[].nohup` |
//! | `duct::cmd!("x")` | `duct.cmd!` |
//! | `def f(): …; f()`, a method of this file | `<here>.f`, `<here>.Class.method` |
//! | a bare name that nothing binds | `setsid` |
//! | a method of something unknown | `?.process_group` |
//!
//! `T()` is "a value made by, or of the type, T": a call of a Python class, any associated function
//! of a Rust type, a parameter annotated with it. Methods that follow one another collapse: a chain
//! keeps its root. With star imports a bare name has one path for each.

pub mod gather;
pub mod index;
pub mod outline;
pub mod python;
pub mod rust;
pub mod shell;
pub mod tree;
mod value;

use std::rc::Rc;

use crate::source::{Language, Span};
pub use value::Truth;

/// Stands for a value that is only known at run time inside a [`Text`] or [`Word`].
pub const HOLE: char = '\u{fffc}';

/// Stands in [`Holder::Dict::reaches`] for a comparison.
pub const COMPARED: &str = "<compared>";
/// Stands there for what an HTTP client sends.
pub const REQUEST: &str = "<request>";
/// Stands there for the parameters of a test.
pub const PARAMETERS: &str = "<parameters>";
/// Stands there for a function's value.
pub const RETURNED: &str = "<returned>";

/// Everything that one file says about processes.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Whose words these are.
    pub language: Language,
    /// Every call, macro and struct literal that can run, in the order of evaluation.
    pub calls: Vec<Call>,
    /// Every option that is given a value: a keyword, a dictionary entry, a default.
    pub settings: Vec<Setting>,
    /// Every command in shell text or argv, wrappers and inner shells unfolded.
    pub commands: Vec<Command>,
    /// Functions, closures and the module itself, which is the first.
    pub scopes: Vec<Scope>,
    /// Functions that a test replaces by doubles.
    pub replaced: Vec<Replaced>,
    /// Where they stand; made when all is listed.
    pub index: index::Index,
}

/// Items of a list, entries of a dictionary, and values of a name or an attribute beyond this many are not
/// read.
pub(crate) const MAX_ITEMS: usize = 512;

/// A function that a test replaces by a double which does not call it.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Its dotted path, as the test says it: `os.setsid`, `tool.runner.os`.
    pub path: String,
    /// Where it is replaced.
    pub reach: Span,
}

/// Index of a scope in [`Facts::scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

/// A body of code.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name; empty for closures, `<module>` for the file.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// The scope around it; none for the module.
    pub parent: Option<ScopeId>,
    /// A lambda or closure, written where it is used.
    pub inline: bool,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Canonical paths of what is called; several only with star imports or alternatives.
    pub paths: Vec<String>,
    /// The last name of its path: `setsid`, also for `from os import setsid as leave; leave()`.
    /// As written where there are several paths.
    pub name: String,
    /// What it is given, positions before keywords as written.
    pub args: Vec<Arg>,
    /// What a method is called on.
    pub receiver: Option<Value>,
    /// Where a method's receiver was made: the calls' spans, through the variables that hold it.
    pub made_by: Vec<Span>,
    /// The function of this file that is called.
    pub target: Option<ScopeId>,
    /// Which kind of call it is.
    pub form: tree::Form,
    /// The token that says so: from the callee's first name to the closing bracket if that is one
    /// line, else the callee alone; for a method from its own name on.
    pub evidence: Span,
    /// The call alone, from its callee's start to its closing bracket.
    pub span: Span,
    /// The act of spawning that it is part of: the whole method chain around it.
    pub act: Span,
    /// The body in which it stands.
    pub scope: ScopeId,
    /// Whether it is inside code that is made for another program (`quote!`).
    pub quoted: bool,
}

/// An argument, evaluated.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Its keyword or field.
    pub name: Option<String>,
    /// How it is spread.
    pub spread: tree::Spread,
    /// What it may be.
    pub value: Value,
    /// Keyword and value.
    pub span: Span,
}

/// An option that is given a value, by name. Positional arguments of known functions are named.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The option: `start_new_session`.
    pub name: String,
    /// What it may be.
    pub value: Value,
    /// Keyword and value, key and value, parameter and default.
    pub span: Span,
    /// Who has it.
    pub holder: Holder,
    /// The act of spawning that it is part of: the call's chain; for dictionaries and defaults,
    /// the dictionary, the statement that sets the key, the parameter.
    pub act: Span,
    /// The body in which it stands.
    pub scope: ScopeId,
}

/// Who holds a setting.
#[derive(Clone, Debug)]
pub enum Holder {
    /// A keyword or position of `Facts::calls[i]`.
    Call(usize),
    /// A keyword of `Facts::calls[i]`, whose value is a parameter: what a caller of the function around
    /// it gives for that.
    Through(usize),
    /// A dictionary: a literal, `dict(…)`, `d[k] = v`, `d.setdefault(k, v)`, `d.update(…)`.
    Dict {
        /// All keys seen in the same dictionary.
        keys: Vec<String>,
        /// Canonical paths of the calls into which it was seen to flow, as `**kwargs` or otherwise;
        /// and [`COMPARED`], [`REQUEST`], [`PARAMETERS`], [`RETURNED`] for what is no such call.
        reaches: Vec<String>,
    },
    /// The default of a parameter of the scope.
    Default(ScopeId),
}

/// What an expression may be when the program runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Anything.
    Unknown,
    /// `None`, `()`, Rust's `None`.
    Nothing,
    /// A truth value. Comparisons of the platform with a name are folded as on a POSIX system.
    Bool(bool),
    /// An integer, constants folded.
    Int(i128),
    /// A string.
    Text(Text),
    /// A list or tuple; shared, as each name that stands for it has it.
    List(Rc<Vec<Item>>),
    /// A dictionary; its entries are settings too. Only constant keys.
    Dict(Rc<Vec<(String, Value)>>),
    /// A name that is not called: `os.setsid`, `libc.SIG_IGN`. Canonical paths.
    Path(Vec<String>),
    /// What a call (or chain) of this path gave: `std.process.Command()`, `os.getpgrp()`.
    Made(String),
    /// A function or closure of this file.
    Code(ScopeId),
    /// A function with arguments already given: `functools.partial(os.setpgid, 0, 0)`.
    Partial(Box<Value>, Vec<Arg>),
    /// Bits or-ed together.
    Bits(Vec<Value>),
    /// One of these, of which none is such a choice itself.
    OneOf(Vec<Value>),
}

/// An element of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it may be.
    pub value: Value,
    /// Where it is written.
    pub span: Span,
    /// `*x`: any number of elements.
    pub spread: bool,
}

impl PartialEq for Arg {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

/// A string and where its parts are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// What it says; each value that is put in at run time is one [`HOLE`].
    pub text: String,
    /// Parts in order: offset in `text` where it starts, and its bytes in the source.
    pub parts: Vec<(usize, Span)>,
}

impl Text {
    /// Where the bytes `start..end` of the text are written: exact where no escape stands in the
    /// part, else the whole part.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let place = |at: usize| {
            let index = self
                .parts
                .partition_point(|(from, _)| *from <= at)
                .saturating_sub(1);
            let (from, span) = *self.parts.get(index)?;
            let until = self
                .parts
                .get(index + 1)
                .map_or(self.text.len(), |(next, _)| *next);
            let exact = span.len() == until - from;
            Some((span, exact.then(|| span.start as usize + at - from)))
        };
        let (Some(first), Some(last)) = (place(start), place(end.saturating_sub(1).max(start)))
        else {
            return Span::default();
        };
        let from = first.1.unwrap_or(first.0.start as usize);
        let to = last.1.map_or(last.0.end as usize, |at| at + 1);
        Span::new(from, to.max(from))
    }
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Unquoted; [`HOLE`] for each part known only at run time. A spread list is two.
    pub text: String,
    /// Where it is written.
    pub span: Span,
    /// Its parts, as in [`Text::parts`], where it is written in several; empty where `span` says it.
    pub parts: Vec<(usize, Span)>,
}

/// A simple command in command position, in shell text or as argv. A wrapper and what it wraps are
/// two commands: `nohup setsid x` gives `nohup setsid x`, `setsid x` and `x`.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program's last path component, unquoted: `setsid` for `/usr/bin/"set"sid`.
    pub program: String,
    /// The program as written, then its arguments; redirections and assignments are left out.
    pub words: Vec<Word>,
    /// The `&` after its pipeline or list, if shell text runs it in the background; with `&!` and
    /// `&|` (zsh) the two characters.
    pub background: Option<Span>,
    /// The shell whose text it is part of.
    pub shell: Shell,
    /// Program text given to a Python interpreter, read.
    pub python: Option<Box<Facts>>,
    /// Program text given to another interpreter (`perl -e`, `node -e`, `ruby -e`, `expect -c`).
    pub code: Option<Word>,
    /// The act of spawning that it is part of.
    pub act: Span,
    /// The body in which it stands.
    pub scope: ScopeId,
    /// Whether it was seen to be started; else its words are only given to a function that says by
    /// its name that it runs something, or joined to a line.
    pub started: bool,
}

/// Which shell reads a text, as far as it is known; the flags it was given matter (`bash -m`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shell {
    /// `sh`, `bash`, `zsh`, … ; empty for an argv that no shell reads.
    pub name: String,
}

impl Facts {
    /// Facts of a file that says nothing.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            calls: Vec::new(),
            settings: Vec::new(),
            commands: Vec::new(),
            scopes: Vec::new(),
            replaced: Vec::new(),
            index: index::Index::default(),
        }
    }

    /// The commands that were seen to be started.
    pub fn started(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.started)
    }
}

impl Call {
    /// Whether one of its paths is `path`.
    pub fn is(&self, path: &str) -> bool {
        self.paths.iter().any(|own| own == path)
    }

    /// Whether one of its paths is in `paths`.
    pub fn is_one(&self, paths: &[&str]) -> bool {
        self.paths.iter().any(|own| paths.contains(&own.as_str()))
    }

    /// The argument named `name`.
    pub fn named(&self, name: &str) -> Option<&Arg> {
        self.args
            .iter()
            .find(|arg| arg.name.as_deref() == Some(name))
    }

    /// The argument at position `index` (keywords and spreads do not count), or named `name`.
    pub fn arg(&self, index: usize, name: &str) -> Option<&Arg> {
        self.named(name).or_else(|| self.positional().nth(index))
    }

    /// Arguments without keyword, up to the first spread.
    pub fn positional(&self) -> impl Iterator<Item = &Arg> {
        let plain = self
            .args
            .iter()
            .take_while(|arg| arg.spread != tree::Spread::List);
        plain.filter(|arg| arg.name.is_none() && arg.spread == tree::Spread::No)
    }
}
