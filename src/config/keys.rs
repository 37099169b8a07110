//! The keys of a configuration. The README's table is made from them; the schema is compared.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What holds without it, in TOML; empty where it must be given.
    pub default: &'static str,
    /// One line, no full stop.
    pub summary: &'static str,
}

const fn key(name: &'static str, default: &'static str, summary: &'static str) -> Key {
    Key {
        name,
        default,
        summary,
    }
}

/// Keys of the configuration itself.
pub const KEYS: &[Key] = &[
    key(
        "levels",
        "{}",
        "`deny`, `warn` or `allow` for a mechanism, or for `all`",
    ),
    key(
        "exclude",
        "[]",
        "paths to leave out, as in ignore files, from the configuration's folder on",
    ),
    key(
        "allow",
        "[]",
        "files that may detach without a comment: one `[[allow]]` each, with the keys below",
    ),
    key(
        "min-reason-length",
        "10",
        "fewest characters of a reason; not below 10",
    ),
    key(
        "reason-pattern",
        "\"\"",
        "a regular expression that must match somewhere in each reason: a ticket's number",
    ),
    key(
        "require-mechanism",
        "false",
        "whether each justification names its mechanisms in brackets",
    ),
    key(
        "marker",
        "\"detached-spawn\"",
        "another word that opens justifications: lower case, with a hyphen, not another tool's",
    ),
    key(
        "detaching-calls",
        "[]",
        "helpers of yours that detach, by dotted path: their callers, and where they are given to another function, are findings; `{ path = \"…\", flag = \"definition\" }` makes the definition the one finding",
    ),
    key(
        "owning-calls",
        "[]",
        "helpers of yours that own what they start, by dotted path: what is written in a call of them is no finding",
    ),
];

/// Keys of an `[[allow]]`.
pub const ALLOW_KEYS: &[Key] = &[
    key(
        "path",
        "",
        "the files, as in ignore files, from the configuration's folder on: one pattern or a list",
    ),
    key("mechanism", "", "the mechanisms, or `all`: one or a list"),
    key(
        "reason",
        "",
        "why; what holds for a reason in a comment holds here",
    ),
    key(
        "until",
        "\"\"",
        "the last day (UTC) on which it holds, as YYYY-MM-DD",
    ),
];

/// Keys of an entry of `detaching-calls` that is a table.
pub const HELPER_KEYS: &[Key] = &[
    key("path", "", "the dotted path of the helper"),
    key(
        "flag",
        "\"callers\"",
        "which is the finding: its `callers`, or its `definition`",
    ),
];
