//! What is shown in place of a report.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};

use check_detached_spawns::config::Configs;
use check_detached_spawns::explain;
use check_detached_spawns::report::summary::plain;
use check_detached_spawns::walk::{Found, Input, Place, Walk};

use crate::cli::{Cli, Format};
use crate::say::{note, print, problems};
use crate::{CLEAN, FAILED, FOUND};

/// What is asked of the program itself, if anything is.
pub(crate) fn asked(cli: &Cli) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(id) = &cli.explain {
        text.extend(explain::page(id).unwrap_or_default().into_bytes());
    } else if cli.list_rules {
        text.extend(explain::table().into_bytes());
    } else if let Some(shell) = cli.completions {
        Cli::complete(shell, &mut text);
    } else if cli.man {
        text.extend(Cli::manual());
    } else if cli.version {
        let json = cli
            .output_format
            .iter()
            .any(|own| own.format == Format::Json);
        text.extend(version(json).into_bytes());
    } else {
        return None;
    }
    Some(text)
}

/// The version; as JSON with what it was built for, and from, where the build was told.
fn version(json: bool) -> String {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    if !json {
        return format!("{name} {version}\n");
    }
    let commit = option_env!("CDS_COMMIT").filter(|commit| !commit.is_empty());
    let told = serde_json::json!({
        "name": name,
        "version": version,
        "target": target(),
        "commit": commit,
    });
    format!("{told}\n")
}

/// The name that Rust has for the system that this was built for, of those that releases are made for.
fn target() -> String {
    let (vendor, system) = match OS {
        "macos" => ("apple", "darwin"),
        "windows" => ("pc", OS),
        _ => ("unknown", OS),
    };
    let library = [
        ("-gnu", cfg!(target_env = "gnu")),
        ("-musl", cfg!(target_env = "musl")),
        ("-msvc", cfg!(target_env = "msvc")),
    ];
    let library = library.iter().find(|(_, own)| *own);
    let library = library.map_or("", |(name, _)| name);
    format!("{ARCH}-{vendor}-{system}{library}")
}

/// Says why files at and below what is named are not read; if `all`, also how the others are, and which are in
/// no language.
pub(crate) fn skips(all: bool, walk: &Walk, named: &[PathBuf], inputs: &[Input]) {
    let read = inputs.iter().map(|input| input.path.as_path()).collect();
    if all {
        for input in inputs {
            note(&format!(
                "{}: read as {}",
                input.shown,
                input.language.name()
            ));
        }
    }
    for skip in walk.skips(named, &read) {
        if all || !skip.foreign {
            note(&format!("{}: not read: {}", skip.shown, skip.why));
        }
    }
}

/// Prints what would be read, and says what could not be.
pub(crate) fn files(found: &Found, inputs: &[Input]) -> Result<u8, String> {
    problems(&found.problems);
    print(|out| {
        inputs
            .iter()
            .try_for_each(|input| writeln!(out, "{}", plain(&input.shown)))
    })?;
    Ok(match (found.missing, found.problems.is_empty()) {
        (true, _) => FAILED,
        (false, false) => FOUND,
        (false, true) => CLEAN,
    })
}

/// Prints the settings that hold for the one path that is named.
pub(crate) fn settings(cli: &Cli, place: &Place, configs: &Configs) -> Result<u8, String> {
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
        &plain(&place.shown(path)),
        file.as_deref().map(plain).as_deref(),
    );
    print(|out| out.write_all(text.as_bytes())).map(|()| CLEAN)
}
