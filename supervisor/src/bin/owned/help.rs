//! Completions and the manual page, made from the same words as `--help`.

use std::io::Write as _;

pub(crate) use clap_complete::Shell;

use crate::show;

/// Prints completions for a shell.
pub(crate) fn completions(shell: Shell, command: &mut clap::Command) -> u8 {
    let mut text = Vec::new();
    clap_complete::generate(shell, command, "owned", &mut text);
    show::write(&text);
    0
}

/// Prints the manual page, with a part for each subcommand.
pub(crate) fn manual(mut command: clap::Command) -> u8 {
    command.build();
    let mut text = Vec::new();
    let mut written = clap_mangen::Man::new(command.clone()).render(&mut text);
    for part in command
        .get_subcommands()
        .filter(|part| part.get_name() != "help")
    {
        written = written.and_then(|()| {
            writeln!(text, ".SH \"OWNED {}\"", part.get_name().to_uppercase())?;
            let man = clap_mangen::Man::new(part.clone());
            man.render_synopsis_section(&mut text)?;
            man.render_description_section(&mut text)?;
            man.render_options_section(&mut text)
        });
    }
    if written.is_err() {
        return 125;
    }
    show::write(&text);
    0
}
