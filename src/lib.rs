//! # check-detached-spawns
//!
//! Finds every spawn in Python and Rust whose process leaves its spawner's session or process group
//! (or is handed to another service), and demands a written reason for each.
//!
//! ## The flow
//!
//! ```text
//!  paths ──walk──▶ bytes ──filter──▶ decode ──▶ Source ──facts::{python,rust}──▶ Tree
//!   (I/O)                 (no word,                        parsers end here       │
//!                          no match)                                  facts::gather (+ shell)
//!                                                                                 ▼
//!  stdout ◀─report::{full,concise,json}─ Report ◀─justify─ Finding ◀─join─ Hit ◀─rules─ Facts
//!   (I/O)
//! ```
//!
//! ## The map
//!
//! | room | what it knows |
//! | --- | --- |
//! | [`source`] | text, spans in bytes, positions in lines and code points |
//! | [`decode`] | bytes to text |
//! | [`notebook`] | the cells of a notebook to one text, and where each line of it lies |
//! | [`walk`] | which files; the one room that reads folders and files |
//! | [`globs`] | patterns for paths |
//! | [`met`] | whether a run met what a configuration speaks of |
//! | [`config`] | configuration files: which one holds where, what it says, and what of it is stale |
//! | [`policy`] | what decides of a finding besides the code; configuration as data |
//! | [`filter`] | which files can hold a finding at all, by the rules' own words and a lexer's pass |
//! | [`facts::tree`] | the one small tree that every reader fills |
//! | [`facts::outline`] | which statement holds which place |
//! | [`facts::python`], [`facts::rust`] | parsers, and nothing else |
//! | [`facts::gather`] | names resolved, values folded, calls and settings listed |
//! | [`facts::index`] | which calls and settings stand where, for rules that ask about neighbours |
//! | [`facts::shell`] | shell text and argv: which programs are run |
//! | [`rules`] | one mechanism, one file: from facts to hits |
//! | [`check`] | one file through all of it; hits joined to findings |
//! | [`justify`] | comments to justifications, and which finding each speaks of |
//! | [`run`] | all files through it, in parallel |
//! | [`report`] | what a run found, and its writers |
//! | [`adopt`] | what was there before is told from what is new: baselines, the inventory |
//! | [`git`] | a base to compare with, renamed files, what is staged |
//! | [`edit`] | markers put in and taken out of a text |
//! | [`replace`] | files written whole or not at all |
//! | [`explain`] | the pages of `--explain` |
//! | [`lsp`] | an editor's texts: judged as files are, told by the language server protocol |
//!
//! ## Invariants, each held by a test
//!
//! 1. Only `walk`, `config`, `git`, `replace`, `run`, `lsp` (two streams that it is given) and `main` do
//!    I/O. Everything between is pure and total: it cannot fail.
//! 2. Syntax ends in `facts`. A rule knows calls, settings and commands, never a syntax tree; a new
//!    language adds no rule code.
//! 3. Nothing is silent: what could not be read, decoded or parsed is a problem, and a problem fails
//!    the run.
//! 4. A justification changes a verdict; it never removes a finding. Every writer can show it, all
//!    count it.
//! 5. Same input, same bytes out: sorted, no hash order, whatever `-j` is. Today is an input.
//! 6. The byte filter is sound: it may only skip a file in which no rule could match.
//! 7. Nothing that a file holds can stop the run: parsing is bounded in depth and time, runs on large
//!    stacks, and a panic is a problem of that file.
#![forbid(unsafe_code)]

pub mod adopt;
pub mod check;
pub mod config;
mod date;
pub mod decode;
pub mod edit;
pub mod explain;
pub mod facts;
pub mod filter;
pub mod git;
pub mod globs;
pub mod justify;
pub mod lsp;
pub mod met;
pub mod notebook;
pub mod policy;
pub mod replace;
pub mod report;
pub mod rules;
pub mod run;
pub mod source;
pub mod walk;
