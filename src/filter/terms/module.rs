//! Modules whose names may be reached without them, or by another name.

use memchr::memmem;

use super::reach::may_import;
use super::word::In;
use crate::source::{Language, is_word};

/// The names of the system's module in Python.
pub(super) const SYSTEM: &[&str] = &["os", "posix"];

/// Whether a module is spoken of but where it is imported, or something is taken from it.
pub(super) fn is_renamed(name: &[u8], of: &In<'_>) -> bool {
    memmem::find_iter(of.bytes, name).any(|at| {
        let before = of.bytes.get(..at).unwrap_or_default();
        let behind = of.bytes.get(at + name.len()..).unwrap_or_default();
        let inside = |byte: Option<&u8>| byte.copied().is_some_and(is_word);
        if inside(before.last()) || inside(behind.first()) {
            return false;
        }
        let next = behind.trim_ascii_start();
        if next.starts_with(b".") {
            return false;
        }
        // `import os`, `import sys, os`, `from os import`; with `as` it has another name from then on.
        let before = before.trim_ascii_end();
        let imported = before.ends_with(b"import")
            || before.ends_with(b"from")
            || before.ends_with(b",") && may_import(before, of);
        // Behind a comment or a break of the line that may come.
        let signs: [&[u8]; 3] = [b"as", b"\\", b"#"];
        !imported || signs.iter().any(|sign| next.starts_with(sign))
    })
}

/// Modules of Python whose names a rule wants to be reached, and that are known to be imported whole.
const STARRED: &[&str] = &[
    "os",
    "posix",
    "pty",
    "click",
    "typer",
    "debugpy",
    "executor",
    "ctypes",
    "cmd",
    "gevent.os",
];

/// Whether the names of such a module are reached without it: `from os import *`, `use open::*`.
pub(super) fn is_starred(bytes: &[u8], language: Language) -> bool {
    let python = || {
        memmem::find_iter(bytes, b"import *").any(|at| {
            let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
            STARRED
                .iter()
                .any(|name| before.ends_with(format!("from {name}").as_bytes()))
        })
    };
    let rust = |path: &&[u8]| memmem::find(bytes, path).is_some();
    match language {
        Language::Python => python(),
        Language::Rust => STARRED_IN_RUST.iter().any(rust),
    }
}

/// The same for Rust.
const STARRED_IN_RUST: &[&[u8]] = &[
    b"open::*",
    b"opener::*",
    b"libc::*",
    b"unistd::*",
    b"fork::*",
    // Among others: `use libc::{self, *}`.
    b"*}",
    b"{*",
];
