//! What is read: the paths that are named or listed, and standard input.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use check_detached_spawns::walk::{Content, Found, Input, Walk, of_shebang, path_of, reason};

use crate::cli::Cli;
use crate::tracked::tracked;

/// Everything to read, sorted, and what was met on the way; what is named of it comes first.
pub(crate) fn inputs(cli: &Cli, walk: &Walk) -> Result<(Vec<PathBuf>, Found, Vec<Input>), String> {
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
    let mut found = find(walk, &named);
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
    Ok((named, found, inputs))
}

/// What lies at and below the named paths. git is asked while folders are read.
fn find(walk: &Walk, named: &[PathBuf]) -> Found {
    let (mut found, told) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| tracked(walk, named));
        let found = walk.find(named.iter().map(PathBuf::as_path));
        (found, asked.join())
    });
    let (tracked, notes) = told.unwrap_or_default();
    found.notes.extend(notes);
    for own in tracked {
        walk.tracked(own.named, &own.files, &mut found);
    }
    found
}

/// The paths in a list; empty entries are dropped.
fn listed(list: &Path, null: bool) -> Result<Vec<PathBuf>, String> {
    let mut bytes = Vec::new();
    let read = if list.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(list).map(|read| bytes = read)
    };
    read.map_err(|error| format!("cannot read {}: {}", list.display(), reason(&error)))?;
    // Some editors and shells begin a text with a mark.
    let lines = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| !null);
    let entries = lines
        .unwrap_or(&bytes)
        .split(|byte| *byte == if null { 0 } else { b'\n' });
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
        .take(walk.max_file_size + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {}", reason(&error)))?;
    let name = cli.stdin_filename.as_deref();
    if name.is_some_and(|name| cli.force_exclude && walk.leaves_out(name, false)) {
        return Ok(None);
    }
    let only = match walk.languages.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let by_name = name.and_then(|name| walk.of_name(name, true));
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
    if !walk.languages.contains(&language) {
        return Ok(None);
    }
    if bytes.len() as u64 > walk.max_file_size {
        found.problems.push(walk.too_large(shown, None));
        return Ok(None);
    }
    let path = name.map_or_else(|| PathBuf::from("-"), Path::to_owned);
    let rules = walk.configs.of(&path);
    Ok(Some(Input {
        path,
        shown,
        language,
        content: Content::Bytes(bytes),
        rules,
    }))
}
