//! Every package that the program is built from may be used, by its licence: the lists stand in
//! `.cargo/deny.toml`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The strings in the list `key = [ … ]` of the configuration.
fn list(config: &str, key: &str) -> Vec<String> {
    let start = config
        .find(&format!("{key} = ["))
        .expect("the key is there");
    let body = config[start..]
        .split('[')
        .nth(1)
        .unwrap()
        .split(']')
        .next()
        .unwrap();
    body.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Whether an expression can be met. Each part that `AND` joins, in brackets or not, needs one
/// allowed alternative: the expressions in use have no `AND` inside an `OR`.
fn allows(allowed: &[String], expression: &str) -> bool {
    let expression = expression.replace(" / ", " OR ").replace('/', " OR ");
    let met = |part: &String| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.split(" OR ")
            .any(|one| allowed.iter().any(|known| known == one.trim()))
    };
    conjuncts(&expression).iter().all(met)
}

/// The parts that `AND` joins outside brackets.
fn conjuncts(expression: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for word in expression.split(' ') {
        depth += word.matches('(').count();
        if word == "AND" && depth == 0 {
            parts.push(String::new());
        } else {
            let part = parts.last_mut().unwrap();
            part.push_str(word);
            part.push(' ');
        }
        depth -= word.matches(')').count();
    }
    parts
}

#[test]
fn every_package_may_be_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = std::fs::read_to_string(root.join(".cargo/deny.toml")).unwrap();
    let allowed = list(&config, "allow");
    let metadata = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--locked",
            "--format-version",
            "1",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
        ])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        metadata.status.success(),
        "{}",
        String::from_utf8_lossy(&metadata.stderr)
    );
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(
            allows(&allowed, licence),
            "{name}: {licence} is not in .cargo/deny.toml"
        );
        assert!(
            !name.starts_with("malachite"),
            "{name} is banned in .cargo/deny.toml"
        );
    }
}

#[test]
fn expressions_are_read() {
    let allowed = ["MIT".to_owned(), "Zlib".to_owned()];
    for yes in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/GPL-2.0",
        "(MIT OR GPL-3.0) AND Zlib",
        "MIT AND Zlib",
    ] {
        assert!(allows(&allowed, yes), "{yes}");
    }
    for no in [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Zlib) AND GPL-3.0",
        "none",
    ] {
        assert!(!allows(&allowed, no), "{no}");
    }
}
