//! The command: reads its arguments, runs, writes the report, exits. Standard output, standard
//! error, the clock and the environment are touched here and nowhere else.

#![forbid(unsafe_code)]

mod amend;
mod bases;
mod before;
mod cli;
mod dead;
mod deliver;
mod inputs;
mod say;
mod serve;
mod show;
mod tracked;

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use amend::{Change, amend};
use check_detached_spawns::config::Configs;
use check_detached_spawns::report::{Context, Date, summary};
use check_detached_spawns::run::Outcome;
use check_detached_spawns::walk::{Excludes, Found, Place, Walk, reason};
use check_detached_spawns::{adopt, run};
use cli::{Cli, Mode, Output};
use deliver::deliver;
use say::{complain, note, print};

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
            let variables = Cli::variables();
            if error.use_stderr() && !variables.is_empty() {
                note(&format!(
                    "also given, by the environment: {}",
                    variables.join(", ")
                ));
            }
            status
        }
    });
    ExitCode::from(status.unwrap_or_else(|_| {
        complain("internal error; please report it");
        FAILED
    }))
}

fn command(cli: &Cli) -> Result<u8, String> {
    if let Some(Mode::Lsp(lsp)) = &cli.mode {
        return serve::serve(lsp);
    }
    if let Some(text) = show::asked(cli) {
        return print(|out| out.write_all(&text)).map(|()| CLEAN);
    }
    if cli.quiet > 0 {
        say::keep_quiet();
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
        return show::settings(cli, &place, &configs);
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
    let shows = cli.diff || cli.show_files;
    if shows && let Some(file) = cli.output_format.iter().find_map(|own| own.file.as_ref()) {
        let file = file.display();
        return Err(format!(
            "nothing would be written to {file}: --diff and --show-files stand in place of a report"
        ));
    }
    if cli.diff && cli.fix == cli.add_markers {
        return Err("--diff shows what --fix or --add-markers would change: give one".to_owned());
    }
    let (index, named, found, inputs) = if cli.staged {
        let mut found = Found::default();
        let (index, inputs) = before::Index::inputs(walk, &cli.named(), &mut found)?;
        // What else there is has no part in it.
        (Some(index), Vec::new(), found, inputs)
    } else {
        let (named, found, inputs) = inputs::inputs(cli, walk)?;
        (None, named, found, inputs)
    };
    if let Some(fault) = walk.configs.fault() {
        return Err(fault);
    }
    found.notes.iter().for_each(|text| note(text));
    if cli.verbose || cli.show_files {
        show::skips(cli.verbose, walk, &named, &inputs);
    }
    if cli.show_files {
        return show::files(&found, &inputs);
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
        counts: cli.quiet == 0,
    };
    for output in &cli.output_format {
        deliver(cli, output, &outcome.report, &context)?;
    }
    if cli.quiet > 1 && found.missing {
        say::problems(&found.problems);
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

fn today() -> Date {
    let seconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    Date::from_days(seconds.div_euclid(86_400))
}
