//! What is tested from outside. One program, for each takes its time to link.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail where it stands, and says figures"
)]

#[cfg(unix)]
mod action;
mod adopt;
mod cli;
#[path = "support/command.rs"]
mod command;
mod complaints;
mod config;
mod cost;
mod dead;
#[cfg(unix)]
mod doors;
mod edit;
#[path = "support/editor.rs"]
mod editor;
mod fixtures;
mod justifications;
mod licences;
mod lsp;
#[path = "support/markers.rs"]
mod markers;
mod notebooks;
mod readme;
mod robust;
#[path = "support/run.rs"]
mod run;
mod sound;
mod told;
mod variants;
mod walk;
