//! What the crate promises, tested with real processes and real kills.
//!
//! One program, for each takes its time to link. `TIER=dash` runs one tier alone, `LOUD=1` shows what
//! owners say, `CHECK_ALL=1` runs the long counts.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test may fail where it stands, and starts what it kills"
)]

mod asynchronous;
#[path = "support/below.rs"]
mod below;
mod calls;
mod children;
mod counts;
mod deaths;
mod documented;
mod escapes;
#[path = "support/failing.rs"]
mod failing;
mod failures;
mod families;
mod first;
mod foreground;
mod ledger;
mod lifeline;
mod live;
mod memory;
mod model;
mod moments;
mod numbers;
#[path = "support/processes.rs"]
mod processes;
mod python;
mod sabotage;
#[path = "support/suite.rs"]
mod suite;
mod supervise;
mod supervisors;
#[path = "support/tables.rs"]
mod tables;
mod targets;
mod tasks;
mod terminal;
#[path = "support/trace.rs"]
mod trace;
#[path = "support/witness.rs"]
mod witness;
