//! Files written whole or not at all: a new file is made beside the old one and takes its name.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::decode::decode;
use crate::source::Source;
use crate::walk::reason;

/// Writes a file, new or in place of one.
///
/// # Errors
///
/// Says what could not be done.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    in_place(&path, bytes)
        .map_err(|error| format!("cannot write {}: {}", path.display(), reason(&error)))
}

/// Gives a source file a new text, if it is still what was judged. A link stays a link: the file
/// that it leads to is replaced.
///
/// # Errors
///
/// Says why it was left as it is.
pub fn source(path: &Path, judged: &Source, text: &str) -> Result<(), String> {
    let path =
        fs::canonicalize(path).map_err(|error| format!("cannot be opened: {}", reason(&error)))?;
    let bytes = fs::read(&path).map_err(|error| format!("cannot be read: {}", reason(&error)))?;
    if bytes != judged.text.as_bytes() {
        let recoded = decode(judged.language, &bytes).text == judged.text;
        return Err(if recoded {
            "is not in UTF-8".to_owned()
        } else {
            "was changed by someone else meanwhile".to_owned()
        });
    }
    in_place(&path, text.as_bytes())
        .map_err(|error| format!("cannot be written: {}", reason(&error)))
}

fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = beside(path)?;
    let written = file.write_all(bytes).and_then(|()| {
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    });
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // Nothing more can be done about a temporary file that stays.
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

/// A new file in the same folder.
fn beside(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    let mut number = 0_u32;
    loop {
        let name = format!(".check-detached-spawns.{}.{number}", std::process::id());
        let temporary = path.with_file_name(name);
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                number += 1;
            }
            made => return made.map(|file| (temporary, file)),
        }
    }
}
