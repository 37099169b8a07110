//! What a notebook reads otherwise than Python.
//! [The magics](https://ipython.readthedocs.io/en/stable/interactive/magics.html)

use super::Notebook;
use crate::source::Span;

/// Magics whose cell, or whose rest of the line, is Python all the same.
const PYTHON: [&str; 8] = [
    "time", "timeit", "prun", "capture", "debug", "python", "python3", "pypy",
];
/// Magics that a shell reads.
const SHELL: [&str; 6] = ["bash", "sh", "zsh", "sx", "system", "!"];

/// Adds the code of a cell whose text was added from the byte `from` on, and what of it a shell runs.
pub(super) fn blank(cell: &str, from: usize, notebook: &mut Notebook) {
    let first = cell.lines().find(|line| !line.trim().is_empty());
    let magic = first.and_then(|line| line.trim_start().strip_prefix("%%"));
    let Some(magic) = magic else {
        return lines(cell, from, notebook);
    };
    let (name, rest) = parted(magic);
    let body = cell.find("%%").unwrap_or_default();
    let body = cell[body..]
        .find('\n')
        .map_or(cell.len(), |at| body + at + 1);
    let (head, body) = cell.split_at(body);
    for line in head.split_inclusive('\n') {
        masked(line, 0, &mut notebook.code);
    }
    let reader = if name == "script" { script(rest) } else { name };
    if PYTHON.contains(&reader) {
        return lines(body, from + head.len(), notebook);
    }
    let shell = SHELL.iter().find(|shell| reader == **shell);
    if let Some(shell) = shell {
        let start = from + head.len();
        notebook
            .shell
            .push((known(shell), Span::new(start, start + body.len())));
    }
    for line in body.split_inclusive('\n') {
        // A comment there is one here: a reason may stand in it.
        if shell.is_some() && line.trim_start().starts_with('#') {
            notebook.code.push_str(line);
        } else {
            masked(line, 0, &mut notebook.code);
        }
    }
}

/// The program to which `%%script` gives its cell: behind options, some of which take a word, and `env`.
fn script(rest: &str) -> &str {
    let mut words = rest.split_whitespace();
    while let Some(word) = words.next() {
        match word.rsplit('/').next().unwrap_or(word) {
            _ if ["--out", "--err", "--proc"].contains(&word) => drop(words.next()),
            "env" => {}
            _ if word.starts_with('-') || word.contains('=') => {}
            name => return name,
        }
    }
    ""
}

/// The shell that reads the text of a magic.
fn known(magic: &'static str) -> &'static str {
    match magic {
        "bash" | "zsh" => magic,
        _ => "sh",
    }
}

/// Adds the lines of Python, and what stands between them.
fn lines(text: &str, from: usize, notebook: &mut Notebook) {
    let mut open = Open::default();
    let mut at = from;
    let mut all = text.split_inclusive('\n').peekable();
    while let Some(line) = all.next() {
        let start = at;
        at += line.len();
        let found = open.is_closed().then(|| found(line)).flatten();
        let Some((column, magic)) = found else {
            if let Some(rest) = open.is_closed().then(|| raised(line)).flatten() {
                // The cells behind it may be run all the same: it is a value here, as long.
                notebook.code.push_str(if rest.trim().is_empty() {
                    "False"
                } else {
                    "0 or "
                });
                notebook.code.push_str(rest);
            } else {
                notebook.code.push_str(line);
            }
            open.read(line);
            continue;
        };
        let (before, other) = line.split_at(column);
        notebook.code.push_str(before);
        if let Magic::Statement(length) | Magic::Value(length) = magic {
            // `_` is a statement of its own, and what follows another; a value is what follows.
            let statement = matches!(magic, Magic::Statement(_));
            notebook.code.push_str(if statement { "_;" } else { "  " });
            notebook.code.extend(std::iter::repeat_n(' ', length - 2));
            open.read(&other[length..]);
            notebook.code.push_str(&other[length..]);
            continue;
        }
        masked(other, 0, &mut notebook.code);
        // It goes on where its line ends with a backslash.
        let mut last = line;
        while last.trim_end().ends_with('\\')
            && let Some(next) = all.next()
        {
            masked(next, column, &mut notebook.code);
            at += next.len();
            last = next;
        }
        if let Magic::Shell(skipped) = magic {
            let shell = Span::new(start + column + skipped, at);
            notebook.shell.push(("sh", shell));
        }
    }
}

/// What a line holds that is no Python.
enum Magic {
    /// So many bytes before a statement.
    Statement(usize),
    /// So many bytes before a value that gets a name.
    Value(usize),
    /// A command for a shell, behind so many bytes.
    Shell(usize),
    /// Something else.
    Other,
}

/// Where in a line begins what is no Python, if it is at the beginning of a statement.
fn found(line: &str) -> Option<(usize, Magic)> {
    let start = line.len() - line.trim_start().len();
    let text = line.trim();
    if let Some(magic) = magic(&line[start..]) {
        return Some((start, magic));
    }
    // `files = !ls`, `took = %timeit f()`
    if let Some((names, value)) = line.split_once('=')
        && names
            .chars()
            .all(|char| char.is_alphanumeric() || "_.,[]:'\" *\t".contains(char))
        && names.matches(['\'', '"']).count() % 2 == 0
        && value.trim_start().starts_with(['!', '%'])
    {
        let at = line.len() - value.trim_start().len();
        return Some(match magic(&line[at..]) {
            Some(Magic::Statement(length)) => (at, Magic::Value(length)),
            other => (at, other.unwrap_or(Magic::Other)),
        });
    }
    let asks = text.starts_with('?') || text.ends_with('?');
    (asks && !text.contains(['#', '"', '\''])).then_some((start, Magic::Other))
}

/// What a line raises that ends a cell at its outermost level, if that is an expression.
fn raised(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("raise")?;
    let ends = rest.starts_with([' ', '\t', '(', '\n']);
    (ends && !rest.contains(" from ")).then_some(rest)
}

/// What begins with a `%` or a `!`.
fn magic(text: &str) -> Option<Magic> {
    if let Some(rest) = text.strip_prefix('!') {
        return Some(Magic::Shell(1 + usize::from(rest.starts_with('!'))));
    }
    let (name, rest) = parted(text.strip_prefix('%')?);
    let skipped = 1 + name.len();
    let statement = ["time", "timeit", "prun"].contains(&name);
    Some(match name {
        _ if statement && let Some(options) = options(rest) => {
            let skipped = skipped + options;
            let own = text.get(skipped..).unwrap_or_default();
            let own = own.trim_start();
            // `%time !ls`
            match own.starts_with(['!', '%']).then(|| magic(own)).flatten() {
                Some(Magic::Shell(more)) => Magic::Shell(text.len() - own.len() + more),
                Some(_) => Magic::Other,
                None => Magic::Statement(skipped),
            }
        }
        "sx" | "system" => Magic::Shell(skipped),
        _ => Magic::Other,
    })
}

/// How many bytes the options before a statement have; nothing where there is no statement.
fn options(rest: &str) -> Option<usize> {
    let mut text = rest;
    loop {
        let word = text.split_whitespace().next()?;
        if !word.starts_with('-') {
            return Some(rest.len() - text.len());
        }
        text = &text.trim_start()[word.len()..];
        // A value may stand in the same word.
        if word.len() == 2 && word.ends_with(['n', 'r', 'p', 'l', 's', 'T', 'D']) {
            let value = text.split_whitespace().next()?;
            // `-r` of `%prun` takes none.
            if !word.ends_with('r') || value.bytes().all(|byte| byte.is_ascii_digit()) {
                text = &text.trim_start()[value.len()..];
            }
        }
    }
}

/// The name of a magic, and what follows it.
fn parted(magic: &str) -> (&str, &str) {
    let end = magic.find(|char: char| !(char.is_alphanumeric() || char == '_'));
    match (end, magic.strip_prefix('!')) {
        (_, Some(rest)) => ("!", rest),
        (end, None) => magic.split_at(end.unwrap_or(magic.len())),
    }
}

/// Adds as many bytes as a line has, as a statement that says nothing behind so many spaces.
fn masked(line: &str, indent: usize, code: &mut String) {
    let body = line.trim_end_matches('\n');
    let indent = indent.min(body.len());
    code.extend(std::iter::repeat_n(' ', indent));
    match body.len() - indent {
        0 => {}
        1 => code.push('0'),
        length => {
            code.push('\'');
            code.extend(std::iter::repeat_n(' ', length - 2));
            code.push('\'');
        }
    }
    code.push_str(&line[body.len()..]);
}

/// What is open at the end of a line: nothing, where the next begins a statement.
#[derive(Default)]
struct Open {
    brackets: usize,
    /// The quotes that end a string: three, or one where its line is cut.
    quotes: Option<&'static str>,
    goes_on: bool,
}

impl Open {
    fn is_closed(&self) -> bool {
        self.brackets == 0 && self.quotes.is_none() && !self.goes_on
    }

    fn read(&mut self, line: &str) {
        self.read_tokens(line);
        let body = line.trim_end_matches(['\r', '\n']);
        let cut = body.len() - body.trim_end_matches('\\').len();
        // A string in single quotes ends with its line, if that is not cut.
        if self.quotes.is_some_and(|quotes| quotes.len() == 1) && cut.is_multiple_of(2) {
            self.quotes = None;
        }
    }

    fn read_tokens(&mut self, line: &str) {
        let mut rest = line;
        self.goes_on = false;
        while let Some(char) = rest.chars().next() {
            if let Some(quotes) = self.quotes {
                rest = match char {
                    '\\' => behind(rest, 2),
                    _ if rest.starts_with(quotes) => {
                        self.quotes = None;
                        behind(rest, quotes.len())
                    }
                    _ => behind(rest, 1),
                };
                continue;
            }
            rest = match char {
                '#' => return,
                '"' | '\'' => self.string(rest),
                '(' | '[' | '{' => {
                    self.brackets += 1;
                    behind(rest, 1)
                }
                ')' | ']' | '}' => {
                    self.brackets = self.brackets.saturating_sub(1);
                    behind(rest, 1)
                }
                '\\' => {
                    self.goes_on = rest.trim_end() == "\\";
                    behind(rest, 1)
                }
                _ => behind(rest, 1),
            };
        }
    }

    /// What stands behind a string that begins here, or behind the quotes that open a long one.
    fn string<'a>(&mut self, text: &'a str) -> &'a str {
        for quotes in ["\"\"\"", "'''"] {
            if text.starts_with(quotes) {
                self.quotes = Some(quotes);
                return behind(text, 3);
            }
        }
        let quote = if text.starts_with('"') { "\"" } else { "'" };
        let mut rest = behind(text, 1);
        while let Some(char) = rest.chars().next() {
            match char {
                '\n' => return rest,
                '\\' => rest = behind(rest, 2),
                _ => rest = behind(rest, 1),
            }
            if quote.starts_with(char) {
                return rest;
            }
        }
        // The line ended first.
        self.quotes = Some(quote);
        rest
    }
}

/// The text behind so many characters.
fn behind(text: &str, count: usize) -> &str {
    let at = text.char_indices().nth(count);
    at.map_or("", |(at, _)| text.get(at..).unwrap_or_default())
}
