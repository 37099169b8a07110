//! The command line: what can be given, and what it means. No work is done here.

mod environment;
mod format;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use check_detached_spawns::check::Levels;
use check_detached_spawns::config::Choice;
use check_detached_spawns::justify::parse_date;
use check_detached_spawns::report::Date;
use check_detached_spawns::rules::{self, Level};
use check_detached_spawns::source::Language;
use check_detached_spawns::walk::size;
use check_detached_spawns::{explain, run};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{
    ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
};
use clap_complete::Shell;
use format::output;
pub(crate) use format::{Format, Output};

/// Finds spawns in Python and Rust that leave their session or process group, and fails unless each
/// has a written reason.
///
/// A reason is a comment above the statement: `# detached-spawn: the updater must outlive us`.
///
/// Exit status: 0 clean or warnings only, 1 findings or unread files, 2 usage, configuration or our own fault.
#[derive(Debug, Parser)]
#[command(
    version,
    disable_version_flag = true,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Each option can be given by the environment too, where the command line does not give it: \
                  CDS_FILES_FROM=list is --files-from list, CDS_NO_CONFIG=1 is --no-config.\n\n\
                  See --explain RULE for what a finding means and what to do instead."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Cli {
    /// Files and folders to read; `-` is standard input
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Also read the paths listed in FILE, one a line; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) files_from: Option<PathBuf>,

    /// The paths in --files-from end in NUL, not in line breaks
    #[arg(short = '0', long, requires = "files_from", help_heading = "Input")]
    pub(crate) null: bool,

    /// Read standard input as the text of the file NAME
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) stdin_filename: Option<PathBuf>,

    /// Read only these languages
    #[arg(
        long,
        value_enum,
        value_name = "LANGUAGE",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    lang: Vec<Lang>,

    /// Leave out what matches GLOB, written as in ignore files and relative to the working directory
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(crate) exclude: Vec<String>,

    /// Let --exclude and the configuration's `exclude` hold for the named files too
    #[arg(long, help_heading = "Input")]
    pub(crate) force_exclude: bool,

    /// Read what ignore files leave out, build output and virtual environments too
    #[arg(long, help_heading = "Input")]
    pub(crate) no_ignore: bool,

    /// Read the cells of notebooks too; one that is named is read anyway
    #[arg(long, help_heading = "Input")]
    pub(crate) notebooks: bool,

    /// Print the files that would be read, in place of a report, and why others would not be
    #[arg(long, help_heading = "Input")]
    pub(crate) show_files: bool,

    /// Do not read files over SIZE: bytes, or a number with KiB, MiB or GiB behind it
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "256MiB", help_heading = "Input")]
    pub(crate) max_file_size: u64,

    /// Fail with status 2 where no file is read
    #[arg(long, help_heading = "Input")]
    pub(crate) require_files: bool,

    #[command(flatten)]
    pub(crate) configuration: Configuration,

    /// Show the settings that hold for PATH, as a configuration file
    #[arg(long, help_heading = "Configuration")]
    pub(crate) show_settings: bool,

    /// Accept what the baseline FILE knows, and tell what of it is stale
    #[arg(long, value_name = "FILE", help_heading = "Adoption")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all that is unjustified now to the baseline
    #[arg(long, requires = "baseline", help_heading = "Adoption")]
    pub(crate) write_baseline: bool,

    /// Accept what was unjustified at the git commit REF already, or where the history parted from it
    #[arg(long, value_name = "REF", help_heading = "Adoption")]
    pub(crate) diff_base: Option<String>,

    /// Judge what is staged in git, and accept what was unjustified in the last commit already
    #[arg(long, conflicts_with_all = ["diff_base", "files_from", "stdin_filename"], help_heading = "Adoption")]
    pub(crate) staged: bool,

    /// Put a marker without a reason to each spawn that fails for want of one
    #[arg(long, conflicts_with_all = ["staged", "stdin_filename"], help_heading = "Adoption")]
    pub(crate) add_markers: bool,

    /// Take out justifications that speak of nothing, and second copies
    #[arg(long, conflicts_with_all = ["staged", "stdin_filename"], help_heading = "Adoption")]
    pub(crate) fix: bool,

    /// Print what --add-markers or --fix would change, in place of a report; change nothing
    #[arg(long, help_heading = "Adoption")]
    pub(crate) diff: bool,

    /// Judge as if no reason had been given, in the code or in the configuration
    #[arg(long, conflicts_with_all = ["baseline", "diff_base", "staged", "add_markers", "fix", "list_justified"], help_heading = "Adoption")]
    pub(crate) ignore_justifications: bool,

    /// Report what is accounted for, and why, in place of findings
    #[arg(long, conflicts_with = "statistics", help_heading = "Output")]
    pub(crate) list_justified: bool,

    /// Print how much there is of what, in place of the report on standard output
    #[arg(long, help_heading = "Output")]
    pub(crate) statistics: bool,

    /// Print the completion script of a shell
    #[arg(long, value_enum, value_name = "SHELL", help_heading = "Output")]
    pub(crate) completions: Option<Shell>,

    /// Print the man page
    #[arg(long, help_heading = "Output")]
    pub(crate) man: bool,

    /// Fail on these mechanisms; `all` is all of them, the last option that names one counts
    #[arg(short = 'D', long, value_name = "MECHANISM", value_delimiter = ',', value_parser = mechanisms(), hide_possible_values = true, help_heading = "Levels")]
    deny: Vec<String>,

    /// Report these mechanisms, but do not fail on them
    #[arg(short = 'W', long, value_name = "MECHANISM", value_delimiter = ',', value_parser = mechanisms(), hide_possible_values = true, help_heading = "Levels")]
    warn: Vec<String>,

    /// Do not report these mechanisms
    #[arg(short = 'A', long, value_name = "MECHANISM", value_delimiter = ',', value_parser = mechanisms(), hide_possible_values = true, help_heading = "Levels")]
    allow: Vec<String>,

    /// The day on which justifications must hold [default: today, UTC]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, help_heading = "Levels")]
    pub(crate) today: Option<Date>,

    /// How the report is written, and where if not to standard output; repeat it for several: full,
    /// concise, json, jsonl, sarif, github, gitlab, junit, checkstyle, rdjsonl, markdown
    #[arg(
        long,
        value_parser = output,
        value_name = "FORMAT[=FILE]",
        default_value = "full",
        help_heading = "Output"
    )]
    pub(crate) output_format: Vec<Output>,

    /// How many annotations `github` sends; the runner drops what is over ten of a kind
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    pub(crate) max_annotations: usize,

    /// When to use colour
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub(crate) color: Color,

    /// Print findings and problems alone, without remarks and counts; twice: nothing, the exit status says it
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub(crate) quiet: u8,

    /// Say of each file why it is read or not
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Output")]
    pub(crate) verbose: bool,

    /// End with status 0 although there are findings; what was not read fails all the same
    #[arg(long, help_heading = "Output")]
    pub(crate) exit_zero: bool,

    /// Explain a mechanism, a finding or a problem
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(explain::ids()), hide_possible_values = true, help_heading = "Output")]
    pub(crate) explain: Option<String>,

    /// List all mechanisms, findings and problems
    #[arg(long, help_heading = "Output")]
    pub(crate) list_rules: bool,

    /// Number of threads [default: one for each processor]
    #[arg(short, long, value_name = "N", help_heading = "Output")]
    jobs: Option<usize>,

    /// Print the version; with --output-format json also the system that it was built for, and the commit, if the build
    /// was told
    #[arg(short = 'V', long, help_heading = "Output")]
    pub(crate) version: bool,

    /// Parse every file, even those in which no rule can match
    #[arg(long, hide = true)]
    no_prefilter: bool,

    /// What else it can be than a run; only the first word can say so, `./lsp` is a path.
    #[command(subcommand)]
    pub(crate) mode: Option<Mode>,

    /// What the three options for levels came to, in the order in which they were given.
    #[arg(skip)]
    pub(crate) levels: Levels,
}

/// Which configuration is read.
#[derive(Args, Debug)]
pub(crate) struct Configuration {
    /// Read this configuration file, and no other
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    config: Option<PathBuf>,

    /// Read no configuration file
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    no_config: bool,
}

impl Configuration {
    /// As the options say.
    pub(crate) fn choice(&self) -> Choice {
        match &self.config {
            Some(file) => Choice::File(file.clone()),
            None if self.no_config => Choice::Nothing,
            None => Choice::Nearest,
        }
    }
}

/// What is no run.
#[derive(Debug, Subcommand)]
pub(crate) enum Mode {
    /// Serve an editor: the language server protocol on standard input and output
    Lsp(Lsp),
}

/// The options of `lsp`.
#[derive(Args, Debug)]
pub(crate) struct Lsp {
    #[command(flatten)]
    pub(crate) configuration: Configuration,

    /// What it does anyway; some editors say so
    #[arg(long, hide = true)]
    stdio: bool,
}

/// More threads than this help nobody, and each has a large stack.
const MOST_JOBS: usize = 256;

/// A language on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Lang {
    Python,
    Rust,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set; always if `FORCE_COLOR` or `CLICOLOR_FORCE` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Cli {
    /// Reads the command line; the error knows whether it is help or a fault.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let command = environment::with_variables(Self::command());
        let matches = command.try_get_matches_from(args)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.levels = levels(&matches);
        Ok(cli)
    }

    /// The variables of the environment that stand for options, sorted.
    pub(crate) fn variables() -> Vec<String> {
        environment::given(&Self::command())
    }

    /// Writes the completion script of `shell`.
    pub(crate) fn complete(shell: Shell, out: &mut dyn std::io::Write) {
        clap_complete::generate(shell, &mut Self::command(), env!("CARGO_PKG_NAME"), out);
    }

    /// The man page.
    pub(crate) fn manual() -> Vec<u8> {
        let mut page = Vec::new();
        // There is room for it in memory.
        let _ = clap_mangen::Man::new(Self::command()).render(&mut page);
        // There is this one page, and a word of the command line is no page of its own.
        let page = String::from_utf8_lossy(&page).replace("\\-lsp(1)", " lsp");
        page.into_bytes()
    }

    /// Languages to read: those asked for, else all.
    pub(crate) fn languages(&self) -> Vec<Language> {
        if self.lang.is_empty() {
            return vec![Language::Python, Language::Rust];
        }
        let language = |lang: &Lang| match lang {
            Lang::Python => Language::Python,
            Lang::Rust => Language::Rust,
        };
        self.lang.iter().map(language).collect()
    }

    /// The paths that are named, or the working directory.
    pub(crate) fn named(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() {
            return vec![PathBuf::from(".")];
        }
        self.paths.clone()
    }

    /// The number of threads; as many as the machine has, if none.
    pub(crate) fn jobs(&self) -> Option<NonZeroUsize> {
        let jobs = self.jobs.map(|jobs| jobs.min(MOST_JOBS));
        jobs.and_then(NonZeroUsize::new)
    }

    /// What the run depends on, on the day `today` unless another one was given.
    pub(crate) fn options(&self, today: Date) -> run::Options {
        run::Options {
            today: self.today.unwrap_or(today),
            jobs: self.jobs(),
            prefilter: !self.no_prefilter,
        }
    }
}

fn mechanisms() -> PossibleValuesParser {
    PossibleValuesParser::new(rules::ALL.iter().map(|rule| rule.id).chain(["all"]))
}

fn levels(matches: &ArgMatches) -> Levels {
    let mut set = Vec::new();
    for (option, level) in [
        ("deny", Level::Deny),
        ("warn", Level::Warn),
        ("allow", Level::Allow),
    ] {
        let values = matches.get_many::<String>(option).into_iter().flatten();
        let places = matches.indices_of(option).into_iter().flatten();
        // What the environment says stands before the command line, and there is no order in it: `all` comes first.
        let given = matches.value_source(option) == Some(ValueSource::CommandLine);
        set.extend(places.zip(values).map(|(place, id)| {
            let place = (given, !given && id != "all", place);
            (place, id.clone(), level)
        }));
    }
    set.sort_by_key(|(place, ..)| *place);
    Levels {
        set: set.into_iter().map(|(_, id, level)| (id, level)).collect(),
    }
}

#[cfg(test)]
mod tests;
