//! Reports to where they are wanted.

use std::io::{self, IsTerminal, Write};

use check_detached_spawns::report::{
    Context, Report, concise, full, github, gitlab, json, markdown, rdjsonl, sarif, statistics, xml,
};
use check_detached_spawns::walk::reason;

use crate::cli::{Cli, Color, Format, Output};
use crate::say::print;

/// Writes one report to where it is wanted; `-qq` is silent on standard output alone.
pub(crate) fn deliver(
    cli: &Cli,
    output: &Output,
    report: &Report,
    context: &Context<'_>,
) -> Result<(), String> {
    let Some(path) = &output.file else {
        if cli.quiet > 1 {
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
        Format::Full => full::write(out, report, context, &look),
        Format::Concise => concise::write(out, report, context),
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
    let on = |name: &str| set(name) && std::env::var_os(name).is_some_and(|value| value != "0");
    let forced = on("FORCE_COLOR") || on("CLICOLOR_FORCE");
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
