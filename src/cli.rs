//! The command line: what can be given, and what it means. No work is done here.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use check_detached_spawns::check::Levels;
use check_detached_spawns::justify::parse_date;
use check_detached_spawns::report::Date;
use check_detached_spawns::rules::{self, Level};
use check_detached_spawns::source::Language;
use check_detached_spawns::{explain, run};
use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};

/// Finds spawns in Python and Rust that leave their session or process group, and fails unless each
/// has a written reason.
///
/// A reason is a comment above the statement: `# detached-spawn: the updater must outlive us`.
///
/// Exit status: 0 clean or warnings only, 1 findings or unread files, 2 usage or our own fault.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "See --explain RULE for what a finding means and what to do instead."
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

    /// Let --exclude hold for the named files too
    #[arg(long, help_heading = "Input")]
    pub(crate) force_exclude: bool,

    /// Read what ignore files leave out, build output and virtual environments too
    #[arg(long, help_heading = "Input")]
    pub(crate) no_ignore: bool,

    /// Read no configuration file
    #[arg(long, help_heading = "Input")]
    pub(crate) no_config: bool,

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

    /// Print no report; the exit status says it
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Explain a mechanism, a finding or a problem
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(explain::ids()), hide_possible_values = true, help_heading = "Output")]
    pub(crate) explain: Option<String>,

    /// List all mechanisms, findings and problems
    #[arg(long, help_heading = "Output")]
    pub(crate) list_rules: bool,

    /// Number of threads [default: one for each processor]
    #[arg(short, long, value_name = "N", help_heading = "Output")]
    jobs: Option<usize>,

    /// Parse every file, even those in which no rule can match
    #[arg(long, hide = true)]
    no_prefilter: bool,

    /// What the three options for levels came to, in the order in which they were given.
    #[arg(skip)]
    levels: Levels,
}

/// A language on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Lang {
    Python,
    Rust,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Full,
    Concise,
    Json,
    Jsonl,
    Sarif,
    Github,
    Gitlab,
    Junit,
    Checkstyle,
    Rdjsonl,
    Markdown,
}

/// A report that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// How it is written.
    pub(crate) format: Format,
    /// Where to; standard output without it.
    pub(crate) file: Option<PathBuf>,
}

/// `FORMAT` or `FORMAT=FILE`.
fn output(text: &str) -> Result<Output, String> {
    let (name, file) = match text.split_once('=') {
        Some((_, "")) => return Err("no file after the `=`".to_owned()),
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let format = Format::from_str(name, false).map_err(|_| {
        let values = Format::value_variants().iter();
        let names = values.filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|own| own.get_name().to_owned()).collect();
        format!("no format `{name}`; there are {}", names.join(", "))
    })?;
    Ok(Output { format, file })
}

/// When colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set; always if `CLICOLOR_FORCE` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Cli {
    /// Reads the command line; the error knows whether it is help or a fault.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(args)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.levels = levels(&matches);
        Ok(cli)
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

    /// What the run depends on, on the day `today` unless another one was given.
    pub(crate) fn options(&self, today: Date) -> run::Options {
        run::Options {
            levels: self.levels.clone(),
            today: self.today.unwrap_or(today),
            jobs: self.jobs.and_then(NonZeroUsize::new),
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
        set.extend(
            places
                .zip(values)
                .map(|(place, id)| (place, id.clone(), level)),
        );
    }
    set.sort_by_key(|(place, ..)| *place);
    Levels {
        set: set.into_iter().map(|(_, id, level)| (id, level)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Cli {
        let args = std::iter::once("x")
            .chain(args.iter().copied())
            .map(OsString::from);
        Cli::read(args).unwrap()
    }

    #[test]
    fn the_command_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_format_may_have_a_file() {
        let cli = read(&["--output-format", "full", "--output-format=sarif=a=b.sarif"]);
        let expected = [
            Output {
                format: Format::Full,
                file: None,
            },
            Output {
                format: Format::Sarif,
                file: Some(PathBuf::from("a=b.sarif")),
            },
        ];
        assert_eq!(cli.output_format, expected);
        assert!(output("sarfi").unwrap_err().contains("sarif"));
        assert!(output("json=").is_err());
    }

    #[test]
    fn levels_keep_the_order_of_the_line() {
        let cli = read(&[
            "-A",
            "all",
            "-D",
            "new-session,new-group",
            "-W",
            "new-group",
            "-Dopener",
        ]);
        let set: Vec<(&str, Level)> = cli
            .levels
            .set
            .iter()
            .map(|(id, level)| (id.as_str(), *level))
            .collect();
        let expected = [
            ("all", Level::Allow),
            ("new-session", Level::Deny),
            ("new-group", Level::Deny),
            ("new-group", Level::Warn),
            ("opener", Level::Deny),
        ];
        assert_eq!(set, expected);
    }

    #[test]
    fn an_unknown_mechanism_is_told_the_nearest() {
        let args = ["x", "-D", "new-sesion"].map(OsString::from);
        let error = Cli::read(args).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("new-session"), "{error}");
    }
}
