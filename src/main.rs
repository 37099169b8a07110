//! The command: reads its arguments, runs, writes the report, exits. Standard output, standard
//! error, the clock and the environment are touched here and nowhere else.

#![forbid(unsafe_code)]

mod amend;
mod bases;
mod before;
mod cli;
mod dead;
mod inputs;
mod serve;

use std::io::{self, IsTerminal, Write};
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use amend::{Change, amend};
use check_detached_spawns::config::Configs;
use check_detached_spawns::report::{
    Context, Date, Report, concise, full, github, gitlab, json, markdown, rdjsonl, sarif,
    statistics, summary, xml,
};
use check_detached_spawns::run::Outcome;
use check_detached_spawns::walk::{Excludes, Found, Input, Place, Walk, reason};
use check_detached_spawns::{adopt, explain, run};
use cli::{Cli, Color, Format, Mode, Output};

const CLEAN: u8 = 0;
const FOUND: u8 = 1;
const FAILED: u8 = 2;

fn main() -> ExitCode {
    // A panic is reported by the file in which it happened, not by a trace in the middle of a report.
    std::panic::set_hook(Box::new(|_| {}));
    let status = catch_unwind(|| match Cli::read(std::env::args_os()) {
        Ok(cli) => command(&cli).unwrap_or_else(|message| {
            complain(&message);
            FAILED
        }),
        Err(error) => {
            let status = u8::try_from(error.exit_code()).unwrap_or(FAILED);
            // Where help cannot be written there is nobody to tell.
            let _ = error.print();
            status
        }
    });
    ExitCode::from(status.unwrap_or_else(|_| {
        complain("internal error; please report it");
        FAILED
    }))
}

fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "error: {}", summary::plain(message));
}

fn command(cli: &Cli) -> Result<u8, String> {
    if let Some(Mode::Lsp(lsp)) = &cli.mode {
        return serve::serve(lsp);
    }
    if let Some(id) = &cli.explain {
        let page = explain::page(id).unwrap_or_default();
        return print(|out| out.write_all(page.as_bytes())).map(|()| CLEAN);
    }
    if cli.list_rules {
        return print(|out| out.write_all(explain::table().as_bytes())).map(|()| CLEAN);
    }
    if let Some(shell) = cli.completions {
        let mut script = Vec::new();
        Cli::complete(shell, &mut script);
        return print(|out| out.write_all(&script)).map(|()| CLEAN);
    }
    if cli.man {
        return print(|out| Cli::manual(out)).map(|()| CLEAN);
    }
    let to_stdout = |output: &&Output| output.file.is_none();
    if cli.output_format.iter().filter(to_stdout).count() > 1 {
        return Err(
            "two reports for standard output: give one a file, --output-format FORMAT=FILE"
                .to_owned(),
        );
    }
    for (at, output) in cli.output_format.iter().enumerate() {
        let before = cli.output_format.iter().take(at);
        if let Some(file) = &output.file
            && before.clone().any(|own| own.file.as_ref() == Some(file))
        {
            let file = file.display();
            return Err(format!(
                "two reports for {file}: the second would replace the first"
            ));
        }
    }
    let cwd = std::env::current_dir()
        .map_err(|error| format!("cannot tell the working directory: {}", reason(&error)))?;
    let place = Place::new(&cwd);
    let configs = Arc::new(Configs::new(
        &cli.configuration.choice(),
        &place,
        &cli.levels,
    )?);
    if cli.show_settings {
        return show_settings(cli, &place, &configs);
    }
    let walk = Walk {
        place,
        excludes: Excludes::new(&cli.exclude)?,
        configs,
        force_exclude: cli.force_exclude,
        no_ignore: cli.no_ignore,
        notebooks: cli.notebooks,
        max_file_size: cli.max_file_size,
        languages: cli.languages(),
        jobs: cli.jobs(),
    };
    judge(cli, &walk)
}

/// Finds, judges, compares, changes, reports.
fn judge(cli: &Cli, walk: &Walk) -> Result<u8, String> {
    if cli.diff && cli.fix == cli.add_markers {
        return Err("--diff shows what --fix or --add-markers would change: give one".to_owned());
    }
    let (index, found, inputs) = if cli.staged {
        let mut found = Found::default();
        let (index, inputs) = before::Index::inputs(walk, &cli.named(), &mut found)?;
        (Some(index), found, inputs)
    } else {
        let (found, inputs) = inputs::inputs(cli, walk)?;
        (None, found, inputs)
    };
    if let Some(fault) = walk.configs.fault() {
        return Err(fault);
    }
    for note in &found.notes {
        before::note(note);
    }
    if cli.show_files {
        return show_files(&found, &inputs);
    }
    let options = cli.options(today());
    let judged = || -> Result<Outcome, String> {
        let mut outcome = run::run(&inputs, found.problems.clone(), &options);
        let report = &mut outcome.report;
        if cli.ignore_justifications {
            adopt::ignore_reasons(report);
        }
        if let Some(index) = &index {
            index.compare(walk, report, &options)?;
        }
        if let Some(reference) = &cli.diff_base {
            before::compare_with(reference, walk, report, &options)?;
        }
        if let Some(file) = &cli.baseline {
            before::baseline(file, cli.write_baseline, walk, &inputs, report)?;
        }
        Ok(outcome)
    };
    let mut outcome = judged()?;
    dead::tell(cli, walk, &found, &inputs);
    for (wanted, change) in [
        (cli.fix, Change::Fix),
        (cli.add_markers, Change::AddMarkers),
    ] {
        if wanted && cli.diff {
            let diff = amend::diff(change, &outcome.report, walk, &options)?;
            return print(|out| out.write_all(diff.as_bytes())).map(|()| {
                if diff.is_empty() || cli.exit_zero {
                    CLEAN
                } else {
                    FOUND
                }
            });
        }
        if wanted && amend(change, &outcome.report, walk, &options)? {
            outcome = judged()?;
        }
    }
    if cli.list_justified {
        adopt::inventory(&mut outcome.report);
    }
    let counts = summary::Counts::of(&outcome.report);
    let fails = counts.fails() && !(cli.exit_zero && counts.problems == 0);
    let context = Context {
        prefix: &walk.place.prefix(),
        max_annotations: cli.max_annotations,
    };
    for output in &cli.output_format {
        deliver(cli, output, &outcome.report, &context)?;
    }
    let wanting = cli.require_files && outcome.report.seen == 0;
    if wanting {
        complain("no file was read, and --require-files asks for one");
    }
    Ok(if outcome.failed || found.missing || wanting {
        FAILED
    } else if fails {
        FOUND
    } else {
        CLEAN
    })
}

/// Prints what would be read, and says what could not be.
fn show_files(found: &Found, inputs: &[Input]) -> Result<u8, String> {
    for problem in &found.problems {
        complain(&format!("{}: {}", problem.path, problem.message));
    }
    print(|out| {
        inputs
            .iter()
            .try_for_each(|input| writeln!(out, "{}", summary::plain(&input.shown)))
    })?;
    Ok(match (found.missing, found.problems.is_empty()) {
        (true, _) => FAILED,
        (false, false) => FOUND,
        (false, true) => CLEAN,
    })
}

/// Prints the settings that hold for the one path that is named.
fn show_settings(cli: &Cli, place: &Place, configs: &Configs) -> Result<u8, String> {
    let path = match cli.paths.as_slice() {
        [] => Path::new("."),
        [path] => path,
        _ => return Err("--show-settings shows those of one path: name one".to_owned()),
    };
    // A folder's own file is the one that holds for what is in it.
    let within = if path.is_dir() {
        path.join("-")
    } else {
        path.to_owned()
    };
    let rules = configs.of(&within);
    if let Some(fault) = configs.fault() {
        return Err(fault);
    }
    let file = rules.config.file.as_deref().map(|file| place.shown(file));
    let text = rules.config.show(
        &summary::plain(&place.shown(path)),
        file.as_deref().map(summary::plain).as_deref(),
    );
    print(|out| out.write_all(text.as_bytes())).map(|()| CLEAN)
}

fn today() -> Date {
    let seconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    Date::from_days(seconds.div_euclid(86_400))
}

/// Writes one report to where it is wanted; `--quiet` is silent on standard output alone.
fn deliver(
    cli: &Cli,
    output: &Output,
    report: &Report,
    context: &Context<'_>,
) -> Result<(), String> {
    let Some(path) = &output.file else {
        if cli.quiet {
            return Ok(());
        }
        if cli.statistics {
            return print(|out| statistics::write(out, report));
        }
        let look = look(cli.color, io::stdout().is_terminal());
        return print(|out| write(out, output.format, look, report, context));
    };
    let failed = |error: io::Error| {
        let why = reason(&error);
        format!("cannot write the report to {}: {why}", path.display())
    };
    let file = std::fs::File::create(path).map_err(failed)?;
    let mut out = io::BufWriter::new(file);
    let look = look(cli.color, false);
    write(&mut out, output.format, look, report, context)
        .and_then(|()| out.flush())
        .map_err(failed)
}

fn write(
    out: &mut dyn Write,
    format: Format,
    look: full::Look,
    report: &Report,
    context: &Context<'_>,
) -> io::Result<()> {
    match format {
        Format::Full => full::write(out, report, &look),
        Format::Concise => concise::write(out, report),
        Format::Json => json::write(out, report, context),
        Format::Jsonl => json::write_lines(out, report, context),
        Format::Sarif => sarif::write(out, report, context),
        Format::Github => github::write(out, report, context),
        Format::Gitlab => gitlab::write(out, report, context),
        Format::Junit => xml::junit(out, report, context),
        Format::Checkstyle => xml::checkstyle(out, report, context),
        Format::Rdjsonl => rdjsonl::write(out, report, context),
        Format::Markdown => markdown::write(out, report, context),
    }
}

/// How `full` may look: what the terminal can show, and what the caller wants.
fn look(color: Color, terminal: bool) -> full::Look {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced =
        std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0");
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    let utf8 =
        locale.is_some_and(|value| value.to_string_lossy().to_ascii_lowercase().contains("utf"));
    full::Look {
        color: match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !set("NO_COLOR") && (forced || terminal && !dumb),
        },
        unicode: terminal && utf8 && !dumb,
        terminal,
    }
}

/// Writes to standard output. A reader that has gone away has seen enough: that is no fault.
fn print(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match text(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write the report: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}
