//! The settings that hold, written as a configuration: what `--show-settings` prints.

use std::fmt::Write as _;

use super::{Config, KEYS};
use crate::check::Levels;
use crate::explain::level;
use crate::policy::{Allow, Helper};
use crate::rules::{ALL, Certainty};

impl Config {
    /// The settings of the path shown as `path`, from the file shown as `file`: a configuration that
    /// says the same, every mechanism with its level.
    pub fn show(&self, path: &str, file: Option<&str>) -> String {
        let mut text = format!("# settings of {path}\n");
        match file {
            Some(file) => line(&mut text, format_args!("# from {file}")),
            None => line(
                &mut text,
                format_args!("# no configuration file holds here"),
            ),
        }
        for key in KEYS {
            if let Some(value) = self.value(key.name) {
                line(&mut text, format_args!("{} = {value}", key.name));
            }
        }
        for allow in &self.policy.allows {
            show_allow(&mut text, allow);
        }
        text.push_str("\n[levels]\n");
        show_levels(&mut text, &self.policy.levels);
        text
    }

    /// The value of a key in TOML; none for those that are tables.
    fn value(&self, key: &str) -> Option<String> {
        let terms = &self.policy.terms;
        Some(match key {
            "exclude" => strings(&self.exclude),
            "min-reason-length" => terms.min_reason_length.to_string(),
            "reason-pattern" => {
                string(terms.reason_pattern.as_ref().map_or("", |own| own.as_str()))
            }
            "require-mechanism" => terms.require_mechanism.to_string(),
            "marker" => string(&terms.marker),
            "detaching-calls" => helpers(&self.policy.detaching),
            "owning-calls" => helpers(&self.policy.owning),
            _ => return None,
        })
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

fn show_levels(text: &mut String, levels: &Levels) {
    for rule in ALL {
        let own = level(levels.of(rule, Certainty::Sure));
        line(text, format_args!("{} = \"{own}\"", rule.id));
    }
}

fn show_allow(text: &mut String, allow: &Allow) {
    line(text, format_args!("\n[[allow]] # {}", allow.place));
    line(text, format_args!("path = {}", strings(&allow.written)));
    line(
        text,
        format_args!("mechanism = {}", strings(&allow.mechanisms)),
    );
    line(text, format_args!("reason = {}", string(&allow.reason)));
    if let Some(until) = allow.until {
        line(text, format_args!("until = \"{until}\""));
    }
}

fn helpers(helpers: &[Helper]) -> String {
    let one = |helper: &Helper| {
        let path = string(&helper.path.join("."));
        if helper.at_definition {
            format!("{{ path = {path}, flag = \"definition\" }}")
        } else {
            path
        }
    };
    let all: Vec<String> = helpers.iter().map(one).collect();
    format!("[{}]", all.join(", "))
}

fn strings(texts: &[String]) -> String {
    let all: Vec<String> = texts.iter().map(|text| string(text)).collect();
    format!("[{}]", all.join(", "))
}

/// A basic string of TOML 1.0: only what must be is escaped.
fn string(text: &str) -> String {
    let mut written = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => written.extend(['\\', char]),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            char if char.is_control() => {
                let _ = write!(written, "\\u{:04X}", u32::from(char));
            }
            char => written.push(char),
        }
    }
    written.push('"');
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_strings_of_toml() {
        for text in ["", "a\"b\\c", "é\n\t\u{1}\u{7f}"] {
            let written = format!("x = {}", string(text));
            let read = toml_edit::Document::parse(written).unwrap();
            assert_eq!(read.as_table()["x"].as_str(), Some(text));
        }
    }
}
