//! The reports that are asked for: how they are written, and where to.

use std::path::PathBuf;

use clap::ValueEnum;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Full,
    Concise,
    Json,
    Jsonl,
    Sarif,
    Github,
    Gitlab,
    Junit,
    Checkstyle,
    Rdjsonl,
    Markdown,
}

/// A report that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// How it is written.
    pub(crate) format: Format,
    /// Where to; standard output without it.
    pub(crate) file: Option<PathBuf>,
}

/// `FORMAT` or `FORMAT=FILE`.
pub(super) fn output(text: &str) -> Result<Output, String> {
    let (name, file) = match text.split_once('=') {
        Some((_, "")) => return Err("no file after the `=`".to_owned()),
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let format = Format::from_str(name, false).map_err(|_| {
        let values = Format::value_variants().iter();
        let names = values.filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|own| own.get_name().to_owned()).collect();
        format!("no format `{name}`; there are {}", names.join(", "))
    })?;
    Ok(Output { format, file })
}
