//! The doors through which users come in, each tried with the real tool behind it: act for the action,
//! pre-commit and prek for the hooks, validators and parsers for what is written for other programs.
//! Numbers in brackets, as `C 41`, are the complaints about other linters that a test answers, listed
//! in `tests/complaints.md`.

mod act;
mod formats;
mod hooks;
mod release;
mod server;
mod texts;
