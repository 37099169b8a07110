//! What the command line comes to.

use super::*;

fn read(args: &[&str]) -> Cli {
    let args = std::iter::once("x")
        .chain(args.iter().copied())
        .map(OsString::from);
    Cli::read(args).unwrap()
}

#[test]
fn the_command_is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn a_format_may_have_a_file() {
    let cli = read(&["--output-format", "full", "--output-format=sarif=a=b.sarif"]);
    let expected = [
        Output {
            format: Format::Full,
            file: None,
        },
        Output {
            format: Format::Sarif,
            file: Some(PathBuf::from("a=b.sarif")),
        },
    ];
    assert_eq!(cli.output_format, expected);
    assert!(output("sarfi").unwrap_err().contains("sarif"));
    assert!(output("json=").is_err());
}

#[test]
fn levels_keep_the_order_of_the_line() {
    let cli = read(&[
        "-A",
        "all",
        "-D",
        "new-session,new-group",
        "-W",
        "new-group",
        "-Dopener",
    ]);
    let set: Vec<(&str, Level)> = cli
        .levels
        .set
        .iter()
        .map(|(id, level)| (id.as_str(), *level))
        .collect();
    let expected = [
        ("all", Level::Allow),
        ("new-session", Level::Deny),
        ("new-group", Level::Deny),
        ("new-group", Level::Warn),
        ("opener", Level::Deny),
    ];
    assert_eq!(set, expected);
}

#[test]
fn an_unknown_mechanism_is_told_the_nearest() {
    let args = ["x", "-D", "new-sesion"].map(OsString::from);
    let error = Cli::read(args).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("new-session"), "{error}");
}
