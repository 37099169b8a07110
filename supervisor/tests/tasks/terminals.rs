//! Tasks with a terminal of their own.

use super::Home;
use crate::terminal::Terminal;
use crate::witness::{lives, until};

#[test]
fn a_task_at_a_terminal() {
    let home = Home::new("pty");
    let text =
        "test -t 0 && test -t 1 && echo terminal; stty size; read x; echo got:$x; sleep 1000";
    let id = home.start_with(&["--pty"], text);
    until("it asks", || home.say(&["logs", &id]).0.contains("80\r\n"));
    let (log, _) = home.say(&["logs", &id]);
    assert!(log.contains("terminal\r\n24 80\r\n"), "{log}");
    assert_eq!(home.say(&["send", &id, "words"]).1, 0);
    until("it has heard", || {
        home.say(&["logs", &id]).0.contains("got:words")
    });
    let (screen, _) = home.say(&["show", "--screen", &id]);
    assert_eq!(screen, "terminal\n24 80\nwords\ngot:words\n");
    // Ctrl-C, as a person presses it.
    assert_eq!(home.say(&["send", "--raw", &id, "\x03"]).1, 0);
    assert_eq!(home.say(&["wait", &id]).1, 130);
    home.nothing_is_left();
}

#[test]
fn a_terminal_is_lent_to_a_task() {
    let home = Home::new("attach");
    let id = home.start_with(
        &["--pty"],
        "while read x; do echo got:$x:$(stty size); done",
    );
    let mut terminal = Terminal::new();
    terminal.write("stty -echo rows 30 cols 90; echo rea''dy\n");
    terminal.until("ready");
    let folder = home.folder.display();
    let attach = format!(
        "XDG_STATE_HOME={folder} {} attach {id}; echo st=$?\n",
        env!("CARGO_BIN_EXE_owned")
    );
    terminal.write(&attach);
    until("it has the size of the terminal", || {
        home.say(&["send", &id, "look"]);
        home.say(&["logs", &id]).0.contains("got:look:30 90")
    });
    terminal.write("a line\n");
    terminal.until("got:a line:30 90");
    terminal.write("\x1c");
    terminal.until("goes on");
    terminal.until("st=0");
    assert_eq!(home.state(&id), "running");
    terminal.write(&attach);
    until("it is attached", || {
        terminal.write("again\n");
        home.say(&["logs", &id]).0.contains("got:again")
    });
    // The end of its input, as a person presses it.
    terminal.write("\x04");
    terminal.until("completed");
    terminal.until("st=0");
    home.nothing_is_left();
}

/// A task has no part in the terminal from which it was started: it can neither stop its starter nor be
/// stopped there.
#[test]
fn a_task_leaves_the_terminal_alone() {
    let home = Home::new("alone");
    let mut terminal = Terminal::new();
    terminal.write("stty -echo tostop; echo rea''dy\n");
    terminal.until("ready");
    let folder = home.folder.display();
    let owned = env!("CARGO_BIN_EXE_owned");
    let text = "echo x > /dev/tty; cat; stty sane < /dev/tty; echo done; sleep 1000";
    terminal.write(&format!(
        "export XDG_STATE_HOME={folder}; {owned} start --name it -- sh -c '{text}'; echo st=$?\n"
    ));
    terminal.until("st=0");
    until("it has done all", || {
        home.say(&["logs", "it"]).0.ends_with("done\n")
    });
    assert_eq!(home.state("it"), "running");
    terminal.write("echo still''here $(jobs -s | wc -l)\n");
    terminal.until("stillhere 0");
    // And it ends with the shell of the terminal.
    let keeper = home.pid("it", "keeper");
    drop(terminal);
    until("its keeper has ended", || !lives(keeper));
    assert_eq!(home.state("it"), "cancelled");
}
