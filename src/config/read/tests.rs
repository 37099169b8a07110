//! A case for each key and for each of its faults.

use super::*;
use crate::config::keys::Key;

fn whole(text: &str) -> Result<Settings, String> {
    read(text, &[Section::Whole], "c.toml")
        .map(Option::unwrap_or_default)
        .map_err(|fault| fault.tell("c.toml", text))
}

#[test]
fn every_key_is_read() {
    let settings = whole(
        r#"
        exclude = ["vendored/", "*.gen.py"]
        min-reason-length = 20
        reason-pattern = "OPS-\\d+"
        require-mechanism = true
        marker = "must-outlive"
        detaching-calls = ["team.proc.launch", { path = "team::far", flag = "definition" }]
        owning-calls = ["team.own"]
        allow = [{ path = "a.py", mechanism = "all", reason = "OPS-1: the daemon of the team" }]
        [levels]
        new-session = "warn"
        all = "allow"
        "#,
    )
    .unwrap();
    let policy = &settings.policy;
    assert_eq!(settings.exclude, ["vendored/", "*.gen.py"]);
    assert_eq!(policy.terms.min_reason_length, 20);
    assert!(
        policy
            .terms
            .reason_pattern
            .as_ref()
            .unwrap()
            .is_match("OPS-7")
    );
    assert!(policy.terms.require_mechanism);
    assert_eq!(policy.terms.marker, "must-outlive");
    assert_eq!(policy.detaching[0].path, ["team", "proc", "launch"]);
    assert_eq!(
        policy
            .detaching
            .iter()
            .map(|own| own.at_definition)
            .collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(policy.owning[0].name(), "own");
    assert_eq!(policy.allows[0].place, "c.toml:9");
    let expected = [
        ("all".to_owned(), Level::Allow),
        ("new-session".to_owned(), Level::Warn),
    ];
    assert_eq!(policy.levels.set, expected);
}

#[test]
fn allow_may_be_written_as_tables() {
    let settings = whole(
        "[[allow]]\npath = ['a/', 'b.py']\nmechanism = ['new-session', 'new-group']\nreason = 'the daemon of the team'\nuntil = 2027-06-30\n\n[[allow]]\npath = 'c.py'\nmechanism = 'opener'\nreason = 'the daemon of the team'\nuntil = '2027-06-30'\n",
    )
    .unwrap();
    let allows = &settings.policy.allows;
    assert_eq!(allows[0].mechanisms, ["new-session", "new-group"]);
    assert_eq!(allows[0].until, allows[1].until);
    assert!(allows[0].paths.covers(Path::new("a/x/y.py"), false));
    assert!(!allows[0].paths.covers(Path::new("c.py"), false));
}

/// Each fault is told with line and column, and says what to do.
#[test]
fn faults_have_a_place() {
    faulty(&[
        (
            "exlude = []".to_owned(),
            "1:1: there is no key `exlude`; the nearest one is `exclude`",
        ),
        ("x = ".to_owned(), "1:"),
        (
            "exclude = 3".to_owned(),
            "1:11: `exclude` is a string or a list of strings, not an integer",
        ),
        ("exclude = ['a', 3]".to_owned(), "1:17: "),
        (
            "exclude = ['a', 'b{']".to_owned(),
            "1:17: cannot read the glob",
        ),
        (
            "exclude = ['']".to_owned(),
            "1:12: an entry of `exclude` is empty",
        ),
        (
            "levels = 'deny'".to_owned(),
            "1:10: `levels` is a table, not a string",
        ),
        (
            "[levels]\nnew-sesion = 'deny'".to_owned(),
            "2:1: there is no mechanism `new-sesion`; the nearest one is `new-session`",
        ),
        (
            "[levels]\nall = 'error'".to_owned(),
            "2:7: there is no level `error`",
        ),
        (
            "min-reason-length = 3".to_owned(),
            "1:21: `min-reason-length` is a number from 10 to 1000",
        ),
        (
            "min-reason-length = -1".to_owned(),
            "1:21: `min-reason-length` is a number",
        ),
        (
            "min-reason-length = '9'".to_owned(),
            "1:21: `min-reason-length` is an integer, not a string",
        ),
        (
            "reason-pattern = 'a('".to_owned(),
            "1:18: `reason-pattern` is no regular expression",
        ),
        (
            "require-mechanism = 1".to_owned(),
            "1:21: `require-mechanism` is true or false, not an integer",
        ),
        (
            "marker = 'detached'".to_owned(),
            "1:10: the marker `detached` must be words",
        ),
        (
            "marker = 'pyre-ignore'".to_owned(),
            "1:10: the marker `pyre-ignore` would be read by the tool",
        ),
        ("marker = 'Must-Live'".to_owned(), "1:10: the marker"),
        (
            "detaching-calls = 'a.b'".to_owned(),
            "1:19: `detaching-calls` is a list, not a string",
        ),
        (
            "detaching-calls = ['launch']".to_owned(),
            "1:20: `launch` is no dotted path",
        ),
        (
            "detaching-calls = [{ flag = 'callers' }]".to_owned(),
            "1:20: this entry of `detaching-calls` has no `path`",
        ),
        (
            "detaching-calls = [{ path = 'a.b', flag = 'both' }]".to_owned(),
            "`flag` is `callers` or `definition`, not `both`",
        ),
        (
            "detaching-calls = [{ pth = 'a.b' }]".to_owned(),
            "there is no key `pth`; the nearest one is `path`",
        ),
        (
            "owning-calls = [{ path = 'a.b' }]".to_owned(),
            "an entry of `owning-calls` is the dotted path of a function",
        ),
        ("allow = 3".to_owned(), "1:9: `allow` is a list of tables"),
    ]);
}

#[test]
fn faults_of_allowed_places_have_a_place() {
    const ALLOW: &str =
        "[[allow]]\npath = 'a.py'\nmechanism = 'all'\nreason = 'the daemon of the team'\n";
    let with = |line: &str| format!("{ALLOW}{line}\n");
    faulty(&[
        (
            "[[allow]]\npath = 'a'\nmechanism = 'all'".to_owned(),
            "1:1: this entry of `allow` has no `reason`",
        ),
        (
            "[[allow]]\npath = 'a'\nreason = 'todo'".to_owned(),
            "has no `mechanism`",
        ),
        (
            "[[allow]]\npath = 'a'\nmechanism = 'all'\nreason = 'todo'".to_owned(),
            "4:10: the reason `todo` is a placeholder",
        ),
        (
            with("until = '2027-02-30'"),
            "5:9: `2027-02-30` is a day that no calendar has",
        ),
        (with("until = 3"), "5:9: `until` is a day of the form"),
        (
            with("untl = 3"),
            "5:1: there is no key `untl`; the nearest one is `until`",
        ),
    ]);
}

/// Each text is refused with these words.
fn faulty(cases: &[(String, &str)]) {
    for (text, said) in cases {
        let fault = whole(text).unwrap_err();
        assert!(
            fault.starts_with("c.toml:") && fault.contains(said),
            "{text:?}: {fault}"
        );
    }
}

#[test]
fn only_known_sections_are_read() {
    let of = |text: &str, name: &str| read(text, Section::of(Path::new(name)), name);
    let ours = "[tool.check-detached-spawns]\nmin-reason-length = 30\n";
    let settings = of(ours, "pyproject.toml").unwrap().unwrap();
    assert_eq!(settings.policy.terms.min_reason_length, 30);
    assert!(of("[tool.black]\n", "pyproject.toml").unwrap().is_none());
    for table in ["package", "workspace"] {
        let text = ours.replace("tool", &format!("{table}.metadata"));
        assert!(of(&text, "Cargo.toml").unwrap().is_some(), "{table}");
    }
    let both =
        "[package.metadata.check-detached-spawns]\n[workspace.metadata.check-detached-spawns]\n";
    assert_eq!(
        of(both, "Cargo.toml").unwrap_err().at,
        both.rfind('[').unwrap()
    );
}

/// The keys, the schema for editors and the reader know the same.
#[test]
fn the_schema_has_the_same_keys() {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../schema.json")).unwrap();
    let same = |object: &serde_json::Value, keys: &[Key]| {
        let own = object["properties"].as_object().unwrap();
        let mut own: Vec<&str> = own.keys().map(String::as_str).collect();
        let mut known: Vec<&str> = keys.iter().map(|key| key.name).collect();
        own.sort_unstable();
        known.sort_unstable();
        assert_eq!(own, known);
        assert_eq!(object["additionalProperties"], false);
        for key in keys {
            let said = object["properties"][key.name]["description"].as_str();
            let summary = key.summary.replace('`', "");
            assert!(
                said.is_some_and(|said| said.replace('`', "") == summary),
                "{}: {said:?}",
                key.name
            );
            let required = object["required"].as_array();
            let required = required.is_some_and(|all| all.iter().any(|one| one == key.name));
            assert_eq!(required, key.default.is_empty(), "{}", key.name);
        }
    };
    same(&schema, KEYS);
    same(&schema["$defs"]["allow"], ALLOW_KEYS);
    same(&schema["$defs"]["helper"], HELPER_KEYS);
    let known = schema["$defs"]["mechanism"]["enum"].as_array().unwrap();
    let ids: Vec<&str> = ALL.iter().map(|rule| rule.id).chain(["all"]).collect();
    assert_eq!(*known, ids);
}
