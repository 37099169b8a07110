//! Options from the environment: `--files-from` is `CDS_FILES_FROM`, and so for each.

use std::ffi::OsStr;

use clap::builder::FalseyValueParser;
use clap::{Arg, ArgAction, Command};

/// What a switch is turned off by, as by no value.
const OFF: [&str; 6] = ["0", "n", "no", "off", "f", "false"];

/// The command, whose options have the values of their variables where the command line gives none.
pub(super) fn with_variables(command: Command) -> Command {
    command
        .mut_args(from_variable)
        .mut_subcommands(|sub| sub.mut_args(from_variable))
}

/// The variables that are set, sorted: where a run is refused they may be why.
pub(super) fn given(command: &Command) -> Vec<String> {
    let mut names: Vec<String> = command.get_arguments().filter_map(variable).collect();
    names.sort();
    names
}

fn from_variable(arg: Arg) -> Arg {
    let Some(name) = variable(&arg) else {
        return arg;
    };
    let arg = if is_switch(&arg) {
        arg.value_parser(FalseyValueParser::new())
    } else {
        arg
    };
    arg.env(name).hide_env(true)
}

/// The variable of an option, if it is set and says something: nothing is said by no text, nor by what turns
/// a switch off.
fn variable(arg: &Arg) -> Option<String> {
    let long = arg.get_long().filter(|long| *long != "help")?;
    let name = format!("CDS_{}", long.replace('-', "_").to_ascii_uppercase());
    let value = std::env::var_os(&name).filter(|value| !value.is_empty())?;
    let value = value.to_ascii_lowercase();
    let off = OFF.iter().any(|off| value == OsStr::new(off));
    (!off || !is_switch(arg)).then_some(name)
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}
