//! Output: in a log, by offset, as it comes, and in bounded memory; input.

use super::Home;
use crate::witness::{count, until};

#[test]
fn a_log_is_read_and_followed() {
    let home = Home::new("log");
    let text = "echo one; echo two >&2; printf three; read x; echo; echo got:$x";
    let id = home.start_with(&["--stdin"], text);
    until("it has spoken", || {
        home.say(&["logs", &id]).0.ends_with("three")
    });
    let mut follow = home.command(&["logs", "-f", &id]);
    let follow = follow
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("owned");
    assert_eq!(home.say(&["send", &id, "words"]).1, 0);
    let output = follow.wait_with_output().expect("owned");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "one\ntwo\nthree\ngot:words\n"
    );
    for (arguments, text) in [
        (&["--offset", "4"][..], "two\nthree\ngot:words\n"),
        (&["-n", "2"], "three\ngot:words\n"),
        (&["-n", "1"], "got:words\n"),
        (&["-n", "99"], "one\ntwo\nthree\ngot:words\n"),
        (&["-n", "0"], ""),
        (&["--offset", "9999"], ""),
    ] {
        let arguments: Vec<&str> = ["logs", &id].iter().chain(arguments).copied().collect();
        assert_eq!(home.say(&arguments).0, text, "{arguments:?}");
    }
    let (json, _) = home.say(&["logs", "--json", &id]);
    let part: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&part["offset"], &part["text"]),
        (&0.into(), &"one\ntwo\nthree\ngot:words\n".into())
    );
    home.nothing_is_left();
}

#[test]
fn input_has_an_end() {
    let home = Home::new("input");
    let id = home.start_with(&["--stdin"], "cat; echo end");
    assert_eq!(home.say(&["send", &id, "a line"]).1, 0);
    assert_eq!(home.say(&["send", "--raw", "--end", &id, "no line"]).1, 0);
    assert_eq!(home.say(&["wait", &id]).1, 0);
    assert_eq!(home.say(&["logs", &id]).0, "a line\nno lineend\n");
    assert_eq!(home.say(&["send", &id, "more"]).1, 125);
    let id = home.start("exec sleep 1000");
    let refused = home.run(&["send", &id, "words"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--stdin"));
    assert_eq!(home.say(&["stop", &id]).1, 0);
    home.nothing_is_left();
}

/// Output of any length keeps the keeper's memory flat, and the log within its limit.
#[test]
fn much_output_in_little_memory() {
    let home = Home::new("much");
    let megabytes: u64 = count(48, 1024);
    let text = format!("read x; head -c {megabytes}M /dev/zero; echo done; read x");
    let id = home.start_with(&["--stdin", "--log-limit", "1000000"], &text);
    let keeper = home.pid(&id, "keeper");
    let peak = || -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{keeper}/status")).expect("a keeper");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .expect("a peak");
        line.trim()
            .trim_end_matches(" kB")
            .parse()
            .expect("a number")
    };
    let before = peak();
    home.say(&["send", &id, "go"]);
    let said = || home.show(&id)["output"].as_u64().unwrap_or(0);
    let whole = megabytes * 1024 * 1024 + 5;
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60 + megabytes);
    while said() < whole {
        assert!(std::time::Instant::now() < end, "{} of {whole}", said());
        crate::witness::pause();
    }
    let after = peak();
    println!("{megabytes} MB of output: {before} kB, then {after} kB");
    assert!(after < before + 2048, "{before} kB, then {after} kB");
    let folder = home.store().folder(&id);
    let files = std::fs::read_dir(folder)
        .expect("a folder")
        .filter_map(Result::ok);
    let logs = files.filter(|file| file.file_name().to_string_lossy().starts_with("output."));
    let kept: u64 = logs
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum();
    assert!(
        (500_000..1_200_000).contains(&kept),
        "{kept} bytes are kept"
    );
    assert!(home.say(&["logs", "-n", "1", &id]).0.ends_with("done\n"));
    home.say(&["stop", &id]);
    home.nothing_is_left();
}
