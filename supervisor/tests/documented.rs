//! Every public item shows an example, and says what its errors mean.
//!
//! A scan of the text, line by line: `pub` alone means public here, as the lint `unreachable_pub` sees to
//! that. It knows neither what a macro makes nor a result that hides behind an alias, and sees that there
//! is an example, never whether it is a good one. That it compiles is the doc tests' to say.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules that are public to the crate's own command alone, with `#[doc(hidden)]`.
const HIDDEN: &[&str] = &["foreground.rs", "supervise.rs", "bin"];

#[test]
fn every_public_item_has_an_example_and_its_errors() {
    let (mut items, mut faults) = (0, Vec::new());
    for path in sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))) {
        let text = fs::read_to_string(&path).expect("a source file");
        for (number, fault) in scan(&text, &mut items) {
            faults.push(format!("{}:{number}: {fault}", path.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert!(items > 150, "only {items} public items were seen");
}

#[test]
fn what_is_missing_is_seen() {
    let faults = |text: &str| -> Vec<&'static str> {
        let faults = scan(text, &mut 0).into_iter();
        faults.map(|(_, fault)| fault).collect()
    };
    let example = "/// ```no_run\n/// f();\n/// ```\n";
    assert_eq!(faults("/// Says f.\npub fn f();"), ["no example"]);
    assert_eq!(
        faults("/// ```text\n/// f\n/// ```\npub enum E {"),
        ["no example"]
    );
    assert_eq!(
        faults(&format!("{example}\npub struct Another;")),
        ["no example"]
    );
    let fallible = "pub async fn f(\n    a: u8,\n) -> Result<(), Error>\nwhere";
    assert_eq!(faults(&format!("{example}{fallible}")), ["no `# Errors`"]);
    let errors = "///\n/// # Errors\n///\n/// Never.\n#[expect(\n    a,\n    reason = \"b\"\n)]\n";
    assert_eq!(faults(&format!("{example}{errors}{fallible}")), [""; 0]);
    assert_eq!(faults("pub(crate) fn f() -> Result<(), Error> {"), [""; 0]);
}

/// The files of a folder and those below it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if HIDDEN.iter().any(|hidden| path.ends_with(hidden)) {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What is missing in a file, with the number of the line; adds to `items` how many it has.
fn scan(text: &str, items: &mut usize) -> Vec<(usize, &'static str)> {
    let (mut doc, mut faults) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some(said) = line.strip_prefix("///") {
            doc.push(said.trim());
        }
        if is_public(line) {
            *items += 1;
            if !has_example(&doc) {
                faults.push((at + 1, "no example"));
            }
            if returns_result(&lines[at..]) && !doc.contains(&"# Errors") {
                faults.push((at + 1, "no `# Errors`"));
            }
        }
        // An attribute may stand between a doc and its item, on several lines.
        if line.is_empty() || line.ends_with(['{', '}', ';']) && !line.starts_with("///") {
            doc.clear();
        }
    }
    faults
}

fn is_public(line: &str) -> bool {
    const ITEMS: &[&str] = &["fn", "struct", "enum", "union", "trait", "type"];
    const BEFORE: &[&str] = &["async", "const", "unsafe"];
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("pub")
        && words
            .find(|word| !BEFORE.contains(word))
            .is_some_and(|word| ITEMS.contains(&word))
}

/// Whether a fence opens that holds Rust.
fn has_example(doc: &[&str]) -> bool {
    let mut fences = doc.iter().filter_map(|line| line.strip_prefix("```"));
    // The other half closes.
    let opening = std::iter::from_fn(|| {
        let opened = fences.next();
        fences.next();
        opened
    });
    let rust = ["", "rust", "no_run", "should_panic", "compile_fail"];
    opening.into_iter().any(|words| rust.contains(&words))
}

/// Whether the function that begins with these lines gives a result.
fn returns_result(lines: &[&str]) -> bool {
    let end = lines
        .iter()
        .position(|line| line.ends_with(['{', ';']) || *line == "where");
    let head = lines[..=end.unwrap_or(0)].join(" ");
    head.contains("fn ")
        && head
            .rsplit_once("->")
            .is_some_and(|(_, given)| given.contains("Result<"))
}
