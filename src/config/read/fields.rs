//! Keys and values of a table, each with its place.

use std::borrow::Cow;

use toml_edit::{Item, TableLike};

use super::Fault;
use crate::config::keys::Key;
use crate::justify::nearest;
use crate::report::Date;

/// A key and its value.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) item: &'a Item,
    /// Where the value stands, in bytes.
    pub(super) at: usize,
    /// Where the key stands.
    pub(super) key_at: usize,
}

impl<'a> Field<'a> {
    fn new(table: &'a dyn TableLike, name: &'a str, item: &'a Item) -> Self {
        let key = table.key(name).and_then(toml_edit::Key::span);
        let value = item.span().map(|span| span.start);
        let key_at = key.map(|span| span.start).or(value).unwrap_or_default();
        Self {
            name,
            item,
            at: value.unwrap_or(key_at),
            key_at,
        }
    }

    pub(super) fn get(table: &'a dyn TableLike, name: &str) -> Option<Self> {
        all(table).find(|field| field.name == name)
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            at: self.at,
            message: message.into(),
        }
    }

    fn is_no(&self, what: &str) -> Fault {
        let kind = self.item.type_name();
        self.fault(format!(
            "`{}` is {what}, not {}",
            self.name,
            with_article(kind)
        ))
    }
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

/// Every field of a table.
pub(super) fn all(table: &dyn TableLike) -> impl Iterator<Item = Field<'_>> {
    table
        .iter()
        .map(move |(name, item)| Field::new(table, name, item))
}

/// Every field of a table that may have only these keys.
pub(super) fn fields<'a>(
    table: &'a dyn TableLike,
    keys: &'static [Key],
) -> Result<Vec<Field<'a>>, Fault> {
    let found: Vec<Field<'a>> = all(table).collect();
    let known = |field: &&Field<'_>| keys.iter().any(|key| key.name == field.name);
    match found.iter().find(|field| !known(field)) {
        Some(field) => {
            let near = nearest(field.name, keys.iter().map(|key| key.name));
            Err(Fault {
                at: field.key_at,
                message: format!(
                    "there is no key `{}`; the nearest one is `{near}`",
                    field.name
                ),
            })
        }
        None => Ok(found),
    }
}

pub(super) fn table<'a>(field: &Field<'a>) -> Result<&'a dyn TableLike, Fault> {
    field
        .item
        .as_table_like()
        .ok_or_else(|| field.is_no("a table"))
}

pub(super) fn text<'a>(field: &Field<'a>) -> Result<&'a str, Fault> {
    field.item.as_str().ok_or_else(|| field.is_no("a string"))
}

pub(super) fn number(field: &Field<'_>) -> Result<i64, Fault> {
    field
        .item
        .as_integer()
        .ok_or_else(|| field.is_no("an integer"))
}

pub(super) fn flag(field: &Field<'_>) -> Result<bool, Fault> {
    field
        .item
        .as_bool()
        .ok_or_else(|| field.is_no("true or false"))
}

/// A day, as a string or as a date of TOML.
pub(super) fn day(
    field: &Field<'_>,
    parse: impl Fn(&str) -> Result<Date, String>,
) -> Result<Date, Fault> {
    let written = match (field.item.as_str(), field.item.as_datetime()) {
        (Some(text), _) => Cow::Borrowed(text),
        (None, Some(date)) => Cow::Owned(date.to_string()),
        (None, None) => return Err(field.is_no("a day of the form YYYY-MM-DD")),
    };
    parse(&written).map_err(|message| field.fault(message))
}

/// A string or a list of strings, each with its place.
pub(super) fn list<'a>(field: &Field<'a>) -> Result<Vec<(&'a str, usize)>, Fault> {
    if let Some(one) = field.item.as_str() {
        return Ok(vec![(one, field.at)]);
    }
    let what = "a string or a list of strings";
    let array = field.item.as_array().ok_or_else(|| field.is_no(what))?;
    let one = |value: &'a toml_edit::Value| {
        let at = value.span().map_or(field.at, |span| span.start);
        let text = value.as_str().map(|text| (text, at));
        text.ok_or_else(|| Fault {
            at,
            message: format!(
                "`{}` is {what}, and this entry is {}",
                field.name,
                with_article(value.type_name())
            ),
        })
    };
    array.iter().map(one).collect()
}

/// The entries of a list, whatever they are; an array of tables is one.
pub(super) fn entries(field: &Field<'_>) -> Result<Vec<(Item, usize)>, Fault> {
    if let Some(array) = field.item.as_array() {
        let item = |value: &toml_edit::Value| {
            let at = value.span().map_or(field.at, |span| span.start);
            (Item::Value(value.clone()), at)
        };
        return Ok(array.iter().map(item).collect());
    }
    let tables = field.item.as_array_of_tables();
    let tables = tables.ok_or_else(|| field.is_no("a list"))?;
    let item = |table: &toml_edit::Table| {
        let at = table.span().map_or(field.at, |span| span.start);
        (Item::Table(table.clone()), at)
    };
    Ok(tables.iter().map(item).collect())
}

/// The tables of a list of them, written as `[[…]]` or inline.
pub(super) fn tables<'a>(field: &Field<'a>) -> Result<Vec<(&'a dyn TableLike, usize)>, Fault> {
    if let Some(tables) = field.item.as_array_of_tables() {
        let one = |table: &'a toml_edit::Table| {
            let at = table.span().map_or(field.at, |span| span.start);
            (table as &dyn TableLike, at)
        };
        return Ok(tables.iter().map(one).collect());
    }
    let what = "a list of tables, each written as [[allow]]";
    let array = field.item.as_array().ok_or_else(|| field.is_no(what))?;
    let one = |value: &'a toml_edit::Value| {
        let at = value.span().map_or(field.at, |span| span.start);
        let table = value.as_inline_table();
        table
            .map(|table| (table as &dyn TableLike, at))
            .ok_or_else(|| field.is_no(what))
    };
    array.iter().map(one).collect()
}
