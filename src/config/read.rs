//! From TOML to a policy, with a place for each fault.

mod fields;

use std::path::Path;

use regex::Regex;
use toml_edit::{Document, Item, TableLike};

use self::fields::{Field, fields, flag, list, number, table, tables, text};
use super::TABLE;
use super::keys::{ALLOW_KEYS, HELPER_KEYS, KEYS};
use crate::globs::Globs;
use crate::justify::reason::{self, MINIMUM};
use crate::justify::{Terms, check_marker, nearest, parse_date};
use crate::met::Met;
use crate::policy::{Allow, Helper, Policy};
use crate::rules::{ALL, Level};

/// Which part of a file is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// All of it.
    Whole,
    /// `[tool.*]`, as in `pyproject.toml`.
    Tool,
    /// `[package.metadata.*]`, as in `Cargo.toml`.
    Package,
    /// `[workspace.metadata.*]`, as in `Cargo.toml`.
    Workspace,
}

impl Section {
    /// The parts of a file that may be ours, by its name.
    pub(super) fn of(file: &Path) -> &'static [Self] {
        match file.file_name().and_then(|name| name.to_str()) {
            Some("pyproject.toml") => &[Self::Tool],
            Some("Cargo.toml") => &[Self::Package, Self::Workspace],
            _ => &[Self::Whole],
        }
    }

    const fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &[],
            Self::Tool => &["tool", TABLE],
            Self::Package => &["package", "metadata", TABLE],
            Self::Workspace => &["workspace", "metadata", TABLE],
        }
    }
}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) exclude: Vec<String>,
    pub(super) excludes: Globs,
    pub(super) policy: Policy,
}

/// What is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    /// `file:line:column: message`, both from 1, the column in code points.
    pub(super) fn tell(&self, file: &str, text: &str) -> String {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        format!("{file}:{line}:{column}: {}", self.message)
    }
}

/// Reads `text`; nothing if none of `sections` is there. `name` is the file's, for messages.
pub(super) fn read(
    text: &str,
    sections: &[Section],
    name: &str,
) -> Result<Option<Settings>, Fault> {
    let document = Document::parse(text).map_err(|error| Fault {
        at: error.span().map_or(0, |span| span.start),
        message: error
            .message()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    })?;
    let mut found: Option<&dyn TableLike> = None;
    for section in sections {
        let Some((table, at)) = descend(document.as_table(), section.tables())? else {
            continue;
        };
        if found.is_some() {
            return Err(Fault {
                at,
                message: format!(
                    "the configuration is in [package.metadata.{TABLE}] and in [workspace.metadata.{TABLE}]: keep one of them"
                ),
            });
        }
        found = Some(table);
    }
    found
        .map(|table| settings(table, &|at| place(text, at, name)))
        .transpose()
}

fn place(text: &str, at: usize, name: &str) -> String {
    let before = text.get(..at).unwrap_or(text);
    format!("{name}:{}", before.matches('\n').count() + 1)
}

type Found<'a> = Option<(&'a dyn TableLike, usize)>;

fn descend<'a>(mut inner: &'a dyn TableLike, names: &[&str]) -> Result<Found<'a>, Fault> {
    let mut at = 0;
    for name in names {
        let Some(field) = Field::get(inner, name) else {
            return Ok(None);
        };
        inner = table(&field)?;
        at = field.at;
    }
    Ok(Some((inner, at)))
}

fn settings(table: &dyn TableLike, place: &dyn Fn(usize) -> String) -> Result<Settings, Fault> {
    let mut settings = Settings::default();
    let policy = &mut settings.policy;
    // What a reason must be is known before the reasons of `allow` are read.
    for field in fields(table, KEYS)? {
        match field.name {
            "min-reason-length" => policy.terms.min_reason_length = minimum(&field)?,
            "reason-pattern" => policy.terms.reason_pattern = pattern(&field)?,
            "require-mechanism" => policy.terms.require_mechanism = flag(&field)?,
            "marker" => policy.terms.marker = marker(&field)?,
            _ => {}
        }
    }
    for field in fields(table, KEYS)? {
        match field.name {
            "levels" => policy.levels.set = levels(&field)?,
            "exclude" => (settings.exclude, settings.excludes) = globs(&field)?,
            "allow" => policy.allows = allows(&field, &policy.terms, place)?,
            "detaching-calls" => policy.detaching = helpers(&field, true)?,
            "owning-calls" => policy.owning = helpers(&field, false)?,
            _ => {}
        }
    }
    Ok(settings)
}

fn minimum(field: &Field<'_>) -> Result<usize, Fault> {
    let number = number(field)?;
    let message = format!("`{}` is a number from {MINIMUM} to 1000", field.name);
    let number = usize::try_from(number).map_err(|_| field.fault(message.clone()))?;
    if (MINIMUM..=1000).contains(&number) {
        Ok(number)
    } else {
        Err(field.fault(message))
    }
}

fn pattern(field: &Field<'_>) -> Result<Option<Regex>, Fault> {
    let pattern = text(field)?;
    if pattern.is_empty() {
        return Ok(None);
    }
    Regex::new(pattern).map(Some).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim().to_owned();
        field.fault(format!("`{}` is no regular expression: {why}", field.name))
    })
}

fn marker(field: &Field<'_>) -> Result<String, Fault> {
    let word = text(field)?;
    check_marker(word).map_err(|message| field.fault(message))?;
    Ok(word.to_owned())
}

fn levels(field: &Field<'_>) -> Result<Vec<(String, Level)>, Fault> {
    let mut set = Vec::new();
    for own in fields::all(table(field)?) {
        mechanism(own.name, own.key_at)?;
        let level = match text(&own)? {
            "deny" => Level::Deny,
            "warn" => Level::Warn,
            "allow" => Level::Allow,
            other => {
                let near = nearest(other, ["deny", "warn", "allow"].into_iter());
                return Err(own.fault(format!(
                    "there is no level `{other}`, only deny, warn and allow; the nearest one is `{near}`"
                )));
            }
        };
        set.push((own.name.to_owned(), level));
    }
    // A table has no order: what is named beats `all`.
    set.sort_by_key(|(id, _)| id != "all");
    Ok(set)
}

fn mechanism(id: &str, at: usize) -> Result<(), Fault> {
    let known = || ALL.iter().map(|rule| rule.id).chain(["all"]);
    if known().any(|own| own == id) {
        return Ok(());
    }
    let near = nearest(id, known());
    Err(Fault {
        at,
        message: format!(
            "there is no mechanism `{id}`; the nearest one is `{near}`, --list-rules shows all of them"
        ),
    })
}

fn globs(field: &Field<'_>) -> Result<(Vec<String>, Globs), Fault> {
    let mut all = Vec::new();
    for (glob, at) in list(field)? {
        if glob.trim().is_empty() {
            let message = format!("an entry of `{}` is empty", field.name);
            return Err(Fault { at, message });
        }
        // Each alone, so that the fault has the place of the one that is wrong.
        let one = [glob.to_owned()];
        Globs::new(&one).map_err(|message| Fault { at, message })?;
        all.extend(one);
    }
    let globs = Globs::new(&all).map_err(|message| field.fault(message))?;
    Ok((all, globs))
}

fn allows(
    field: &Field<'_>,
    terms: &Terms,
    place: &dyn Fn(usize) -> String,
) -> Result<Vec<Allow>, Fault> {
    let entries = tables(field)?;
    entries
        .into_iter()
        .map(|(table, at)| allow(table, at, terms, place(at)))
        .collect()
}

fn allow(table: &dyn TableLike, at: usize, terms: &Terms, place: String) -> Result<Allow, Fault> {
    let own = fields(table, ALLOW_KEYS)?;
    let needed = |name: &str| {
        own.iter().find(|field| field.name == name).ok_or_else(|| Fault {
            at,
            message: format!("this entry of `allow` has no `{name}`: it must say which files, which mechanism and why"),
        })
    };
    let filled = |name: &str| {
        let field = needed(name)?;
        if list(field)?.is_empty() {
            return Err(field.fault(format!(
                "`{name}` is an empty list: this entry of `allow` would speak of nothing"
            )));
        }
        Ok(field)
    };
    let (written, paths) = globs(filled("path")?)?;
    let named = list(filled("mechanism")?)?;
    for (id, at) in &named {
        mechanism(id, *at)?;
    }
    let given = needed("reason")?;
    let reason = text(given)?;
    if let Some(fault) = reason::fault(reason, terms) {
        return Err(given.fault(format!("the reason {fault}")));
    }
    let until = match own.iter().find(|field| field.name == "until") {
        Some(field) => Some(fields::day(field, parse_date)?),
        None => None,
    };
    Ok(Allow {
        paths,
        written,
        mechanisms: named.into_iter().map(|(id, _)| id.to_owned()).collect(),
        reason: reason.to_owned(),
        until,
        place,
        met: Met::default(),
    })
}

fn helpers(field: &Field<'_>, tables: bool) -> Result<Vec<Helper>, Fault> {
    let entries = fields::entries(field)?;
    let one = |item: (&Item, usize)| {
        let (item, at) = item;
        match (item.as_str(), item.as_table_like()) {
            (Some(path), _) => Helper::new(path).map_err(|message| Fault { at, message }),
            (None, Some(table)) if tables => helper(table, at),
            _ => {
                let table = if tables {
                    ", or a table with a `path`"
                } else {
                    ""
                };
                let message = format!(
                    "an entry of `{}` is the dotted path of a function{table}",
                    field.name
                );
                Err(Fault { at, message })
            }
        }
    };
    entries.iter().map(|(item, at)| one((item, *at))).collect()
}

fn helper(table: &dyn TableLike, at: usize) -> Result<Helper, Fault> {
    let own = fields(table, HELPER_KEYS)?;
    let path = own.iter().find(|field| field.name == "path");
    let path = path.ok_or_else(|| Fault {
        at,
        message: "this entry of `detaching-calls` has no `path`".to_owned(),
    })?;
    let mut helper = Helper::new(text(path)?).map_err(|message| path.fault(message))?;
    if let Some(field) = own.iter().find(|field| field.name == "flag") {
        helper.at_definition = match text(field)? {
            "callers" => false,
            "definition" => true,
            other => {
                return Err(field.fault(format!(
                    "`flag` is `callers` or `definition`, not `{other}`"
                )));
            }
        };
    }
    Ok(helper)
}

#[cfg(test)]
mod tests;
