//! The command: reads its arguments, runs, writes the report, exits. Standard output, standard
//! error, the clock and the environment are touched here and nowhere else.

#![forbid(unsafe_code)]

mod amend;
mod before;
mod cli;
mod dead;
mod serve;

use std::io::{self, IsTerminal, Read, Write};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
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
use check_detached_spawns::walk::{
    Content, Excludes, Found, Input, Place, Walk, of_shebang, of_suffix, path_of,
};
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
    let cwd = std::env::current_dir()
        .map_err(|error| format!("cannot tell the working directory: {error}"))?;
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
        languages: cli.languages(),
    };
    judge(cli, &walk)
}

/// Finds, judges, compares, changes, reports.
fn judge(cli: &Cli, walk: &Walk) -> Result<u8, String> {
    let (index, found, inputs) = if cli.staged {
        let (index, inputs) = before::Index::inputs(walk, &cli.named())?;
        (Some(index), Found::default(), inputs)
    } else {
        let (found, inputs) = inputs(cli, walk)?;
        (None, found, inputs)
    };
    if let Some(fault) = walk.configs.fault() {
        return Err(fault);
    }
    for note in &found.notes {
        before::note(note);
    }
    let options = cli.options(today());
    let judged = || -> Result<Outcome, String> {
        let mut outcome = run::run(&inputs, found.problems.clone(), &options);
        let report = &mut outcome.report;
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
        if wanted && amend(change, &outcome.report, walk, &options)? {
            outcome = judged()?;
        }
    }
    if cli.list_justified {
        adopt::inventory(&mut outcome.report);
    }
    let fails = summary::Counts::of(&outcome.report).fails();
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

/// Everything to read, sorted, and what was met on the way.
fn inputs(cli: &Cli, walk: &Walk) -> Result<(Found, Vec<Input>), String> {
    let (dashes, mut named): (Vec<PathBuf>, Vec<PathBuf>) = cli
        .paths
        .iter()
        .cloned()
        .partition(|path| path.as_os_str() == "-");
    let stdin = !dashes.is_empty() || cli.stdin_filename.is_some();
    if let Some(list) = &cli.files_from {
        if stdin && list.as_os_str() == "-" {
            return Err("standard input is either a list of paths or a file, not both".to_owned());
        }
        named.extend(listed(list, cli.null)?);
    } else if named.is_empty() && !stdin {
        named.push(PathBuf::from("."));
    }
    let mut found = walk.find(named.iter().map(PathBuf::as_path));
    let mut inputs = found.take_files();
    if let (true, Some(folder)) = (inputs.is_empty(), named.iter().find(|path| path.is_dir())) {
        let folder = walk.place.shown(folder);
        found.notes.push(format!("no file was read in {folder}: none is Python or Rust by its name or first line, or all are left out"));
    }
    if stdin && (cli.fix || cli.add_markers) {
        return Err("standard input is no file that could be changed".to_owned());
    }
    if stdin {
        inputs.extend(standard_input(cli, walk, &mut found)?);
        inputs.sort_by(|a, b| a.shown.cmp(&b.shown));
    }
    Ok((found, inputs))
}

/// The paths in a list; empty entries are dropped.
fn listed(list: &Path, null: bool) -> Result<Vec<PathBuf>, String> {
    let mut bytes = Vec::new();
    let read = if list.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(list).map(|read| bytes = read)
    };
    read.map_err(|error| format!("cannot read {}: {error}", list.display()))?;
    let entries = bytes.split(|byte| *byte == if null { 0 } else { b'\n' });
    let trimmed = entries.map(|entry| {
        if null {
            entry
        } else {
            entry.strip_suffix(b"\r").unwrap_or(entry)
        }
    });
    trimmed
        .filter(|entry| !entry.is_empty())
        .map(path_of)
        .collect()
}

/// Standard input as a file; none if it is left out, or in no language that is read.
fn standard_input(cli: &Cli, walk: &Walk, found: &mut Found) -> Result<Option<Input>, String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let name = cli.stdin_filename.as_deref();
    if name.is_some_and(|name| cli.force_exclude && walk.leaves_out(name, false)) {
        return Ok(None);
    }
    let only = match walk.languages.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let by_name = name.and_then(of_suffix);
    let shown = name.map_or_else(|| "<stdin>".to_owned(), |name| walk.place.shown(name));
    let sniffed = || of_shebang(&bytes).or(only);
    let suffixed = name.is_some_and(|name| name.extension().is_some());
    let Some(language) = by_name.or_else(|| if suffixed { None } else { sniffed() }) else {
        if name.is_none() {
            return Err(
                "cannot tell the language of standard input: give --stdin-filename or --lang"
                    .to_owned(),
            );
        }
        found.notes.push(format!(
            "{shown} is neither Python nor Rust by its name or first line: not read"
        ));
        return Ok(None);
    };
    let path = name.map_or_else(|| PathBuf::from("-"), Path::to_owned);
    let rules = walk.configs.of(&path);
    let input = Input {
        path,
        shown,
        language,
        content: Content::Bytes(bytes),
        rules,
    };
    Ok(walk.languages.contains(&language).then_some(input))
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
    let failed = |error| format!("cannot write the report to {}: {error}", path.display());
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
            Err(format!("cannot write the report: {error}"))
        }
        _ => Ok(()),
    }
}
