//! What a file must hold for a rule to be able to match in it, as data for the filter.

/// Groups of words: a rule can match only in a file that has all words of one group.
///
/// | word | is there where |
/// | --- | --- |
/// | `setsid` | these letters stand anywhere |
/// | `<pty>` | they stand with no letter, digit or `_` beside them |
/// | `.fork` | the same, and they are reached: behind `.` or `::`, where names are imported, or in quotes |
/// | `.system(_)` | the same, and they are not called with nothing: `platform.system()` |
/// | `os:system` | the same, and where a point stands before them, the system's module does before that |
/// | `@sh` | a module of this name is imported: behind `import` or `from`, or a comma in a list of imports |
/// | `'sh'` | they stand in quotes, of either kind, and nothing else does |
/// | `a\|b` | one of them is there |
/// | `etach…spaw` | the second stands less than a line behind the first |
/// | [`WIDE_14`] | some call has fourteen positions or more, or may have |
///
/// The first word of a group should be its rarest: the others are only looked for where it stands.
pub type Groups = &'static [&'static [&'static str]];

/// What ends a word that does not count where it is called with nothing.
pub const GIVEN: &str = "(_)";

/// What a name of the system's module begins with, which is `os` or `posix` unless it has got another name.
pub const OF_SYSTEM: &str = "os:";

/// What [`WIDE_8`] and its kin begin with; the number follows.
pub const WIDE: &str = "positions=";

/// Stands for a call with as many positions as `spawnProcess` of twisted needs to reach `usePTY`.
pub const WIDE_8: &str = "positions=8";

/// Stands for a call with as many positions as `Popen` needs to reach its flags.
pub const WIDE_14: &str = "positions=14";

/// What imports a module whose name is a literal.
pub const BY_NAME: &str = "__import__|import_module|importorskip";
const SH_BY_NAME: &[&str] = &[BY_NAME, "'sh'"];

/// What a rule needs. It names something; else no file could be left out.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// In either language.
    pub both: Groups,
    /// In Python.
    pub python: Groups,
    /// In Rust.
    pub rust: Groups,
    /// Programs: a rule about commands can match only where some text or argv may run one. `&` is
    /// anything in the background. `su -P|--pty` counts only where some text also has one of the
    /// words behind the blank: `-P` as an option or in a cluster of them, others anywhere.
    pub programs: &'static [&'static str],
}

impl Words {
    /// Nothing at all; a start for the others.
    pub const NONE: Self = Self {
        both: &[],
        python: &[],
        rust: &[],
        programs: &[],
    };

    /// Whether nothing is named.
    pub const fn is_empty(&self) -> bool {
        self.both.is_empty()
            && self.python.is_empty()
            && self.rust.is_empty()
            && self.programs.is_empty()
    }
}

/// How a language starts programs, by the words that say so.
#[derive(Clone, Copy, Debug)]
pub struct Spawners {
    /// Takes an argv, and a text only where one of the others is beside it.
    pub argv: Groups,
    /// May take a text that is read as a shell does, or split.
    pub text: Groups,
    /// Starts nothing, but makes the others read a text.
    pub shell: Groups,
    /// Names a program in the code itself: as a function, in a macro's tokens.
    pub names: Groups,
}

/// Those of Python. Popen's ninth position is `shell`.
pub const PYTHON: Spawners = Spawners {
    argv: &[
        &["subprocess"],
        &["Popen"],
        &["run_process"],
        &["open_process"],
        &["execv"],
        &["execl"],
        &["posix_spawn"],
        &["spawnv"],
        &["spawnl"],
    ],
    text: &[
        &["popen"],
        &["os:system(_)"],
        &["getoutput"],
        &["getstatusoutput"],
        &["PopenSpawn"],
        &["@invoke"],
        &[BY_NAME, "'invoke'"],
        &["@fabric"],
        &[BY_NAME, "'fabric'"],
        &["sarge"],
        &["@delegator"],
        &[BY_NAME, "'delegator'"],
        &["@executor", ".execute"],
        &[BY_NAME, "'executor'"],
        &["exec_shell"],
        &["honcho"],
        &["pexpect"],
        &["easyprocess"],
        &["<pty>", ".spawn"],
        &["ptyprocess"],
        &["launch_kernel"],
        &["mirakuru"],
        &[".Command", "@cmd"],
        &[BY_NAME, "'cmd'"],
        &["plumbum"],
        &["@sh"],
        SH_BY_NAME,
    ],
    shell: &[&["shell"], &["anyio"]],
    names: &[&["plumbum"], &["@sh"], SH_BY_NAME],
};

/// Those of Rust.
pub const RUST: Spawners = Spawners {
    argv: &[
        &["<Command>"],
        &["CommandBuilder"],
        &["CommandWrap"],
        &["<Exec>"],
        &["Popen"],
        &["<Program>"],
        &["subprocess_"],
        &["create_subprocess"],
    ],
    text: &[
        &["xshell"],
        &["<duct>"],
        &["rexpect"],
        &["expectrl"],
        &["cmd_lib"],
        &["run_cmd"],
        &["run_fun"],
        &["exec_shell"],
    ],
    shell: &[&["<shell>"]],
    names: &[&["cmd_lib"], &["run_cmd"], &["run_fun"]],
};
