//! Rule `opener`: what hands a file or an address to the desktop.

use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::{Call, Command, Facts, HOLE};
use crate::source::Language;

pub(super) const RULE: Rule = Rule {
    id: "opener",
    level: Level::Warn,
    summary: "a file or address handed to the desktop: `webbrowser.open`, `open::that`, `xdg-open`",
    help: "print the address instead, or start a named program that you own with `spawn_owned` or `owned run -- CMD`",
    doc: r#"## What it finds

Calls that let the desktop choose the program: `webbrowser.open`, `click.launch`, the Rust crates
`open`, `opener` and `webbrowser`, and the commands `xdg-open`, `gio open`, `open` and their kin.
They may detach. The classes of `webbrowser` that start their browser in the background (`Chrome`) do;
`GenericBrowser` waits in the same group and is no finding; `open::that_detached` is `daemonize`.

## Why it matters

It depends on the machine. Where no browser runs, the child stays in the group (measured with a
stand-in); with `xdg-open` as the default, `webbrowser.open` starts it in a new session, as do the
background forms (measured), and a real desktop hands the address to a service that already runs.

## Bad

```python
import webbrowser

webbrowser.open("http://localhost:8000")  #~ opener
```

```rust
fn show() -> std::io::Result<()> {
    open::that("http://localhost:8000") //~ opener
}
```

## Good

```python
import webbrowser

webbrowser.GenericBrowser("browser").open("http://localhost:8000")
open("http://localhost:8000")
```

```rust
fn show() -> std::io::Result<std::fs::File> {
    println!("http://localhost:8000");
    std::fs::File::open("notes")
}
```

## When it may stay

In a program for people at a desk: what is opened is theirs to close.
"#,
    words: Words {
        both: &[
            &["webbrowser", "open|get|-m"],
        ],
        python: &[
            &[".launch", "click|typer"],
        ],
        rust: &[
            &["open::|open as", ".that|.with|that_in_background|with_in_background"],
            &["opener", ".open|.reveal|open_browser"],
        ],
        programs: &[
            "xdg-open", "gnome-open", "kde-open", "kde-open5", "exo-open", "gvfs-open",
            "sensible-browser", "x-www-browser", "www-browser", "wslview", "open", "gio",
        ],
    },
    check,
};

/// Of Python; those of `webbrowser` are the crate's too.
const PYTHON: &[&str] = &["click.launch", "click.termui.launch", "typer.launch"];
const RUST: &[&str] = &[
    "open.that",
    "open.that_in_background",
    "open.with",
    "open.with_in_background",
    "opener.open",
    "opener.open_browser",
    "opener.reveal",
];
const CALLS: &[&str] = &[
    "webbrowser.open",
    "webbrowser.open_browser",
    "webbrowser.open_browser_with_options",
    "webbrowser.open_new",
    "webbrowser.open_new_tab",
];

/// The classes of `webbrowser` that start their browser in a session of its own.
const DETACHED: &[&str] = &[
    "BackgroundBrowser()",
    "Chrome()",
    "Chromium()",
    "Edge()",
    "Elinks()",
    "Epiphany()",
    "Mozilla()",
    "Opera()",
    "UnixBrowser()",
];

fn check(facts: &Facts) -> Vec<Hit> {
    let calls = facts.calls.iter().filter_map(|call| {
        let way = opened(call, facts.language)?;
        let by_desktop = if way == Way::Desktop {
            Certainty::May
        } else {
            Certainty::Sure
        };
        let hit = Hit::new(call.act, call.evidence, way);
        Some(hit.with(by_desktop).with(leaving::certainty(call)))
    });
    let commands = facts
        .started()
        .filter(|command| opens(command))
        .filter_map(|command| {
            let program = command.words.first()?;
            Some(Hit::new(command.act, program.span, Way::Desktop).with(Certainty::May))
        });
    calls.chain(commands).collect()
}

/// In which way a call opens something.
fn opened(call: &Call, language: Language) -> Option<Way> {
    let by_browser = |path: &String| {
        let browser = path.strip_prefix("webbrowser.")?;
        let (class, name) = browser.split_once('.')?;
        match name {
            "open" | "open_new" | "open_new_tab" if DETACHED.contains(&class) => {
                Some(Way::NewSession)
            }
            "open" | "open_new" | "open_new_tab" if class == "get()" => Some(Way::Desktop),
            _ => None,
        }
    };
    let own = match language {
        Language::Python => PYTHON,
        Language::Rust => RUST,
    };
    let known = (call.is_one(own) || call.is_one(CALLS)).then_some(Way::Desktop);
    known.or_else(|| call.paths.iter().find_map(by_browser))
}

/// Whether a command opens something with the desktop's choice of program.
fn opens(command: &Command) -> bool {
    let word = |at: usize| command.words.get(at).map_or("", |word| word.text.as_str());
    let first = word(1);
    match command.program.as_str() {
        "xdg-open" | "gnome-open" | "kde-open" | "kde-open5" | "exo-open" | "gvfs-open"
        | "sensible-browser" | "x-www-browser" | "www-browser" | "wslview" => {
            !first.is_empty() && first != "--version"
        }
        "open" => !first.is_empty(),
        "gio" => matches!(first, "open" | "launch"),
        program => {
            let python = program.starts_with("python") || program.contains(HOLE);
            python && first == "-m" && word(2) == "webbrowser"
        }
    }
}
