//! Ways to write a file that change nothing of what it does: what is found must stay the same.
//!
//! Each change is made in the text of a whole fixture, where it applies; the findings are compared
//! with those of the fixture as it stands, in their order.
use std::collections::BTreeMap;

use crate::run::{self, Fixture};
use check_detached_spawns::source::Language;

/// A change: its name, and the new text with the number of places changed; zero if it does not apply.
type Change = (&'static str, fn(&Original<'_>) -> (String, usize));

const CHANGES: &[Change] = &[
    ("lines end as on Windows", windows),
    ("a byte order mark", marked),
    ("remarks between the lines", remarked),
    ("all of it in an if", in_condition),
    ("all of it in a try", in_try),
    ("all of it in a function", in_function),
    ("all of it in a module", in_module),
    ("modules under other names", aliased),
    ("the call as an argument", wrapped),
    ("the call in brackets", bracketed),
    ("the option in a dictionary", spread),
    ("the option on a line of its own", broken_up),
];

/// How many places must be changed in all, so that the test cannot quietly do nothing.
const FLOOR: usize = 1500;

/// A fixture, and what is found in it as it stands: texts by line.
struct Original<'f> {
    fixture: &'f Fixture,
    found: BTreeMap<u32, Vec<String>>,
}

impl Original<'_> {
    /// The only finding on a line.
    fn only(&self, line: u32) -> Option<&str> {
        match self.found.get(&line).map(Vec::as_slice) {
            Some([one]) => Some(one),
            _ => None,
        }
    }

    fn is(&self, language: Language) -> bool {
        self.fixture.language == language
    }

    /// Makes a change line by line: the new line, or nothing where it does not apply.
    fn by_line(&self, change: impl Fn(u32, &str) -> Option<String>) -> (String, usize) {
        let mut changed = 0;
        let lines = (1..)
            .zip(self.fixture.text.split('\n'))
            .map(|(number, line)| {
                let new = change(number, line);
                changed += usize::from(new.is_some());
                new.unwrap_or_else(|| line.to_owned())
            });
        let lines: Vec<String> = lines.collect();
        (lines.join("\n"), changed)
    }
}

#[test]
fn what_is_found_does_not_depend_on_how_it_is_written() {
    let mut tried = 0;
    let mut faults = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fixture in run::fixtures() {
        if fixture.fault.is_some() || fixture.text.contains(['\r', '\u{feff}']) {
            continue;
        }
        let Some((before, found)) = judged(&fixture) else {
            continue;
        };
        let original = Original {
            fixture: &fixture,
            found,
        };
        for (name, change) in CHANGES {
            let (text, places) = change(&original);
            if places == 0 {
                continue;
            }
            tried += places;
            *counts.entry(name).or_default() += places;
            let varied = Fixture {
                text,
                ..fixture.clone()
            };
            let after = judged(&varied).map(|(after, _)| after);
            if after.as_ref() != Some(&before) {
                let after = after.unwrap_or_else(|| vec!["a problem".to_owned()]);
                faults.push(difference(&fixture.path, name, &before, &after));
            }
        }
    }
    println!("variants: {tried} places: {counts:?}");
    assert!(
        faults.is_empty(),
        "{} differences\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(tried >= FLOOR, "only {tried} places were changed");
}

/// What is found, in order and by line.
type Judged = (Vec<String>, BTreeMap<u32, Vec<String>>);

/// What is found; nothing for what is not wholly understood.
fn judged(fixture: &Fixture) -> Option<Judged> {
    let report = run::judge(fixture).ok()?;
    if !report.problems.is_empty() {
        return None;
    }
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for finding in &report.findings {
        found
            .entry(run::line(&report, finding))
            .or_default()
            .push(run::text(finding));
    }
    Some((report.findings.iter().map(run::text).collect(), found))
}

/// The first place where the two differ.
fn difference(path: &str, name: &str, before: &[String], after: &[String]) -> String {
    let same = before
        .iter()
        .zip(after)
        .take_while(|(left, right)| left == right)
        .count();
    let word = |found: &[String]| {
        found
            .get(same)
            .cloned()
            .unwrap_or_else(|| "nothing".to_owned())
    };
    let (left, right) = (word(before), word(after));
    let (all, now) = (before.len(), after.len());
    format!(
        "{path}: {name}: finding {} of {all} was {left}, is {right} of {now}",
        same + 1
    )
}

fn windows(original: &Original<'_>) -> (String, usize) {
    (
        original.fixture.text.replace('\n', "\r\n"),
        original.found.len(),
    )
}

fn marked(original: &Original<'_>) -> (String, usize) {
    (
        format!("\u{feff}{}", original.fixture.text),
        original.found.len(),
    )
}

/// A comment may stand after every line that ends in one, inside brackets too.
fn remarked(original: &Original<'_>) -> (String, usize) {
    let (sign, marker) = match original.fixture.language {
        Language::Python => ("#", "  #~ "),
        Language::Rust => ("//", " //~ "),
    };
    original.by_line(|_, line| {
        line.contains(marker)
            .then(|| format!("{line}\n{sign} a remark"))
    })
}

fn in_condition(original: &Original<'_>) -> (String, usize) {
    indented(original, "if True:", "")
}

fn in_try(original: &Original<'_>) -> (String, usize) {
    indented(original, "try:", "finally:\n    print()\n")
}

fn in_function(original: &Original<'_>) -> (String, usize) {
    // No star import may stand in a function, and what stands there is no `global`.
    let text = &original.fixture.text;
    if text.contains("import *") || text.contains("    global ") {
        return (String::new(), 0);
    }
    indented(original, "def outer_():", "outer_()\n")
}

/// Everything one step deeper. What stands inside a string is moved too, which no shell minds.
fn indented(original: &Original<'_>, head: &str, tail: &str) -> (String, usize) {
    if !original.is(Language::Python) || original.fixture.text.contains("__future__") {
        return (String::new(), 0);
    }
    let deeper = |line: &str| {
        if line.is_empty() {
            String::new()
        } else {
            format!("    {line}")
        }
    };
    let body: Vec<String> = original.fixture.text.split('\n').map(deeper).collect();
    (
        format!("{head}\n{}\n{tail}", body.join("\n")),
        original.found.len(),
    )
}

fn in_module(original: &Original<'_>) -> (String, usize) {
    // What documents a file would document the module from inside its braces.
    let text = original.fixture.text.replace("//!", "///");
    let bound = ["#![", "crate::", "super::", "#!/", "mod "];
    let is_expression = text.lines().any(|line| line == "{");
    let bound = is_expression || bound.iter().any(|word| text.contains(word));
    if !original.is(Language::Rust) || bound {
        return (String::new(), 0);
    }
    (format!("mod outer_ {{\n{text}\n}}\n"), original.found.len())
}

/// `import os` becomes `import os as os_`, and every `os.` of the code `os_.`.
fn aliased(original: &Original<'_>) -> (String, usize) {
    let text = &original.fixture.text;
    let inside_text = text.contains("\"import ") || text.contains("'import ");
    if !original.is(Language::Python) || inside_text {
        return (String::new(), 0);
    }
    let (mut changed, mut text) = (0, text.clone());
    for line in original.fixture.text.lines() {
        let Some(module) = line.strip_prefix("import ") else {
            continue;
        };
        let plain = module.chars().all(|c| c.is_alphanumeric() || c == '_');
        let imported_twice = text.matches(&format!("import {module}")).count() > 1;
        if plain && !imported_twice {
            let lines = text.split('\n').map(|line| renamed(line, module));
            text = lines.collect::<Vec<_>>().join("\n");
            changed += 1;
        }
    }
    (text, changed)
}

/// A line in which the name of a module is another one, outside strings that begin with it.
fn renamed(line: &str, module: &str) -> String {
    if line == format!("import {module}") {
        return format!("import {module} as {module}_");
    }
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(module) {
        let (before, after) = (&rest[..at], &rest[at + module.len()..]);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "_.\"'".contains(c));
        let ends = after.starts_with(['.', ',', ')']);
        out.push_str(before);
        out.push_str(module);
        if begins && ends {
            out.push('_');
        }
        rest = after;
    }
    out + rest
}

fn wrapped(original: &Original<'_>) -> (String, usize) {
    on_calls(original, |call| format!("print({call})"))
}

fn bracketed(original: &Original<'_>) -> (String, usize) {
    on_calls(original, |call| format!("({call})"))
}

/// Changes the statements that are one call on one line, with exactly one finding.
fn on_calls(original: &Original<'_>, change: impl Fn(&str) -> String) -> (String, usize) {
    if !original.is(Language::Python) {
        return (String::new(), 0);
    }
    original.by_line(|number, line| {
        original.only(number)?;
        let (code, remark) = line.split_once("  #")?;
        let start = code.len() - code.trim_start().len();
        let (head, call) = match code[start..].strip_prefix("return ") {
            Some(call) => (&code[..start + "return ".len()], call),
            None => code.split_at(start),
        };
        is_call(call).then(|| format!("{head}{}  #{remark}", change(call)))
    })
}

/// Whether this is an expression that begins with a name and ends with the bracket that closes it.
fn is_call(code: &str) -> bool {
    let keywords = [
        "if ", "for ", "with ", "while ", "async ", "def ", "class ", "yield ", "raise ", "del ",
    ];
    let begins = code.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let plain = !code.contains(" = ") && !code.contains("|=") && !code.contains(":=");
    begins && plain && !keywords.iter().any(|word| code.starts_with(word)) && is_whole(code)
}

/// Whether brackets are balanced at the end, and nowhere before on the way.
fn is_whole(code: &str) -> bool {
    let mut depth = 0_i32;
    let mut quote = None;
    for sign in code.chars() {
        match quote {
            Some(open) if sign == open => quote = None,
            Some(_) => {}
            None => match sign {
                '"' | '\'' => quote = Some(sign),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            },
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && quote.is_none() && code.ends_with(')')
}

/// Options that are the whole of a finding, as keyword and as entry.
const OPTIONS: &[(&str, &str, &str)] = &[
    (
        "new-session",
        "start_new_session=True",
        "**{\"start_new_session\": True}",
    ),
    (
        "preexec-detach",
        "preexec_fn=os.setsid",
        "**{\"preexec_fn\": os.setsid}",
    ),
    ("new-group", "process_group=0", "**{\"process_group\": 0}"),
];

fn spread(original: &Original<'_>) -> (String, usize) {
    on_options(original, |_, entry| entry.to_owned())
}

fn broken_up(original: &Original<'_>) -> (String, usize) {
    on_options(original, |option, _| {
        format!("\n    # a remark\n    {option}")
    })
}

/// Changes the keyword in calls of subprocess on one line.
fn on_options(original: &Original<'_>, change: impl Fn(&str, &str) -> String) -> (String, usize) {
    if !original.is(Language::Python) {
        return (String::new(), 0);
    }
    original.by_line(|number, line| {
        let found = original.only(number)?;
        let (code, _) = line.split_once("  #~")?;
        let (_, option, entry) = OPTIONS.iter().find(|(id, ..)| *id == found)?;
        let (before, after) = code.split_once(option)?;
        let ends = after.starts_with([',', ')']);
        let plain = before.contains("subprocess.") && before.ends_with([' ', '(']);
        // After two stars no single one may follow.
        let in_call = plain && !before.contains("partial") && !after.contains('*');
        let rest = &line[before.len() + option.len()..];
        (in_call && ends).then(|| format!("{before}{}{rest}", change(option, entry)))
    })
}
