//! Which language a file is in, by its name, else by its first line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::source::Language;

/// The language that the file's suffix says.
pub fn of_suffix(path: &Path) -> Option<Language> {
    let suffix = path.extension()?.to_str()?;
    match suffix.to_ascii_lowercase().as_str() {
        "py" | "pyw" => Some(Language::Python),
        "rs" => Some(Language::Rust),
        _ => None,
    }
}

/// The language that a `#!` line says: Python, if it names an interpreter of it, or a runner of
/// scripts with their own requirements (`uv run`, `pipx run`).
pub fn of_shebang(start: &[u8]) -> Option<Language> {
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    let words = || {
        line.split_whitespace()
            .map(|word| word.rsplit('/').next().unwrap_or(word))
    };
    let python = words().any(|word| word.contains("python") || word.starts_with("pypy"));
    let runner =
        words().any(|word| word == "uv" || word == "pipx") && words().any(|word| word == "run");
    (python || runner).then_some(Language::Python)
}

/// The language of a file that begins with `start`.
pub fn of_text(path: &Path, start: &[u8]) -> Option<Language> {
    if path.extension().is_some() {
        return of_suffix(path);
    }
    of_shebang(start)
}

/// The language that the first line of a regular file says.
pub(super) fn of_first_line(path: &Path) -> io::Result<Option<Language>> {
    let mut start = Vec::new();
    File::open(path)?.take(256).read_to_end(&mut start)?;
    Ok(of_shebang(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shebangs_name_python() {
        let python = [
            "#!/usr/bin/env python3\n",
            "#!/usr/bin/python",
            "#! /usr/bin/env -S python3 -u\r\n",
            "#!/usr/local/bin/pypy3\n",
            "#!/usr/bin/env -S uv run --script\n",
            "#!/opt/x/python3.12 -I\n",
        ];
        for line in python {
            assert_eq!(
                of_shebang(line.as_bytes()),
                Some(Language::Python),
                "{line}"
            );
        }
        for line in [
            "#!/bin/sh\npython3\n",
            "#!/opt/python/bin/bash\n",
            "python\n",
            "",
            "#!",
            "#!/usr/bin/env uv\n",
        ] {
            assert_eq!(of_shebang(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn suffixes_name_languages() {
        let of = |name: &str| of_suffix(Path::new(name));
        assert_eq!(of("a.py"), Some(Language::Python));
        assert_eq!(of("a.PYW"), Some(Language::Python));
        assert_eq!(of("a.b.rs"), Some(Language::Rust));
        for name in ["a.pyi", "a.ipynb", "a", "py", ".py", "a.py.txt"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
