//! The live fixtures in Rust as one program, for each takes its time to link: `live MECHANISM FORM`.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures: they start what is killed, and fail where they stand"
)]

#[path = "../../../fixtures/live/lib-detach/bad.rs"]
mod lib_detach_bad;
#[path = "../../../fixtures/live/lib-detach/good.rs"]
mod lib_detach_good;
#[path = "../../../fixtures/live/lib-detach/plain.rs"]
mod lib_detach_plain;
#[path = "../../../fixtures/live/new-group/bad.rs"]
mod new_group_bad;
#[path = "../../../fixtures/live/new-group/good.rs"]
mod new_group_good;
#[path = "../../../fixtures/live/new-group/plain.rs"]
mod new_group_plain;
#[path = "../../../fixtures/live/preexec-detach/bad.rs"]
mod preexec_detach_bad;
#[path = "../../../fixtures/live/preexec-detach/good.rs"]
mod preexec_detach_good;
#[path = "../../../fixtures/live/preexec-detach/plain.rs"]
mod preexec_detach_plain;
#[path = "../../../fixtures/live/shell-setsid/bad.rs"]
mod shell_setsid_bad;
#[path = "../../../fixtures/live/shell-setsid/good.rs"]
mod shell_setsid_good;
#[path = "../../../fixtures/live/shell-setsid/plain.rs"]
mod shell_setsid_plain;

fn main() {
    spawn_owned::init();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let run: fn() = match words.join(" ").as_str() {
        "lib-detach bad" => lib_detach_bad::main,
        "lib-detach good" => lib_detach_good::main,
        "lib-detach plain" => lib_detach_plain::main,
        "new-group bad" => new_group_bad::main,
        "new-group good" => new_group_good::main,
        "new-group plain" => new_group_plain::main,
        "preexec-detach bad" => preexec_detach_bad::main,
        "preexec-detach good" => preexec_detach_good::main,
        "preexec-detach plain" => preexec_detach_plain::main,
        "shell-setsid bad" => shell_setsid_bad::main,
        "shell-setsid good" => shell_setsid_good::main,
        "shell-setsid plain" => shell_setsid_plain::main,
        other => panic!("no fixture {other}: it must be named here"),
    };
    run();
}
