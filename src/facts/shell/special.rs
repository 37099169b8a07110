//! Programs that run others in a way of their own: shells, `env`, `find`, `su`, …

use super::parse::{known, spaced};
use super::unfold::Inner;
use super::wrappers::{is_assignment, operand, takes_value};
use super::{Char, Token};

/// Names of all that [`inner`] knows and that run something.
pub(super) const NAMES: &str = "sh bash dash zsh ksh ksh93 mksh lksh oksh ash yash rbash fish tcsh csh env genv eval \
    trap su runuser script ssh watch parallel sem find gfind flock start-stop-daemon busybox \
    toybox cmd powershell pwsh uv poetry pipenv pdm hatch rye conda mamba pixi bundle bwrap \
    setarch";

/// What such a program runs; none for a program that has no way of its own.
pub(super) fn inner(name: &str, words: &[Token], stdin: Option<&[Char]>) -> Option<Vec<Inner>> {
    let args = words.get(1..).unwrap_or_default();
    let found = match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ksh93" | "mksh" | "lksh" | "oksh" | "ash"
        | "yash" | "rbash" | "fish" | "tcsh" | "csh" => shell(name, args, stdin),
        "env" | "genv" => env(args),
        "eval" => vec![Inner::Text(spaced(args), String::new())],
        "trap" => trap(args),
        "su" => text_option(args, "c", &["--command", "--session-command"]),
        "runuser" => runuser(args),
        "script" => script(args),
        "ssh" => remote(args),
        "watch" => rest_as_text(args, "nq", "interval equexit", "sh"),
        "parallel" | "sem" => parallel(args),
        "find" | "gfind" => find(args),
        "flock" => flock(args),
        "start-stop-daemon" => start_stop_daemon(args),
        "busybox" | "toybox" => from(args, 0),
        "cmd" => after(
            args,
            |arg| arg.eq_ignore_ascii_case("/c") || arg.eq_ignore_ascii_case("/k"),
            "cmd",
        ),
        "powershell" | "pwsh" => after(
            args,
            |arg| arg.to_ascii_lowercase().starts_with("-c"),
            "powershell",
        ),
        "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "conda" | "mamba" | "pixi" => {
            runner(args, "run")
        }
        "bundle" => runner(args, "exec"),
        "bwrap" => from(args, bwrap(args)),
        "setarch" => setarch(args),
        // What it starts dies with its owner, whatever it is.
        "owned" => Vec::new(),
        _ => return None,
    };
    Some(found)
}

/// The program that starts at `args[at]`, unless that is an option.
fn from(args: &[Token], at: usize) -> Vec<Inner> {
    let rest = args.get(at..).unwrap_or_default();
    match rest.first() {
        Some(first) if !first.text().starts_with('-') => vec![Inner::Words(rest.to_vec())],
        _ => Vec::new(),
    }
}

fn text(token: Option<&Token>, shell: &str) -> Vec<Inner> {
    token
        .map(|own| Inner::Text(own.chars.clone(), shell.to_owned()))
        .into_iter()
        .collect()
}

/// The token without its first `skip` characters.
fn tail(token: &Token, skip: usize) -> Token {
    let chars = token.chars.get(skip..).unwrap_or_default().to_vec();
    Token {
        chars,
        span: token.span,
        bare: 0,
    }
}

fn shell(name: &str, args: &[Token], stdin: Option<&[Char]>) -> Vec<Inner> {
    let name = if name == "rbash" { "bash" } else { name };
    let (mut at, mut command, mut reads) = (0, false, false);
    while let Some(arg) = args.get(at) {
        let own = arg.text();
        at += 1;
        if own == "--" {
            break;
        } else if let Some(long) = own.strip_prefix("--") {
            if long.starts_with("command=") {
                return text(Some(&tail(arg, "--command=".len())), name);
            }
            command |= long == "command";
            at += usize::from(matches!(long, "rcfile" | "init-file" | "init-command"));
        } else if let Some(letters) = own.strip_prefix('-') {
            command |= letters.contains('c');
            reads |= letters.contains('s');
            at += usize::from(letters.ends_with(['o', 'O']));
        } else if own.starts_with('+') {
            at += usize::from(own.ends_with(['o', 'O']));
        } else {
            at -= 1;
            break;
        }
    }
    if command {
        text(args.get(at), name)
    } else if reads || at >= args.len() {
        stdin
            .map(|chars| Inner::Text(chars.to_vec(), name.to_owned()))
            .into_iter()
            .collect()
    } else {
        Vec::new()
    }
}

fn env(args: &[Token]) -> Vec<Inner> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let own = arg.text();
        let split = own
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))
            .and_then(|rest| rest.find('S'));
        if let Some(index) = split {
            let mut rest = vec![tail(arg, index + 2)];
            rest.extend_from_slice(args.get(at + 1..).unwrap_or_default());
            return vec![Inner::Text(spaced(&rest), String::new())];
        }
        if own == "--split-string" || own.starts_with("--split-string=") {
            let mut rest = vec![tail(arg, "--split-string=".len())];
            rest.extend_from_slice(args.get(at + 1..).unwrap_or_default());
            return vec![Inner::Text(spaced(&rest), String::new())];
        }
        if own == "--" {
            at += 1;
        } else if let Some(rest) = own.strip_prefix('-') {
            let takes = takes_value(rest, "uCP") || matches!(rest, "-unset" | "-chdir");
            at += 1 + usize::from(takes && !rest.is_empty());
            continue;
        }
        break;
    }
    at += args
        .iter()
        .skip(at)
        .take_while(|arg| is_assignment(&arg.text()))
        .count();
    from(args, at)
}

fn trap(args: &[Token]) -> Vec<Inner> {
    let at = usize::from(args.first().is_some_and(|arg| arg.text() == "--"));
    let body = args
        .get(at)
        .filter(|arg| !arg.text().starts_with('-') && args.len() > at + 1);
    text(body, "")
}

/// The value of an option, as shell text: `-c TEXT`, `-qc TEXT`, `--command=TEXT`.
fn text_option(args: &[Token], short: &str, long: &[&str]) -> Vec<Inner> {
    for (at, arg) in args.iter().enumerate() {
        let own = arg.text();
        if own == "--" {
            break;
        }
        let letters = own.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        if long.contains(&own.as_str()) || letters.is_some_and(|letters| letters.ends_with(short)) {
            return text(args.get(at + 1), "sh");
        }
        if let Some((name, _)) = own.split_once('=')
            && long.contains(&name)
        {
            return text(Some(&tail(arg, name.chars().count() + 1)), "sh");
        }
    }
    Vec::new()
}

fn runuser(args: &[Token]) -> Vec<Inner> {
    let found = text_option(args, "c", &["--command", "--session-command"]);
    let user = |arg: &Token| arg.text() == "-u" || arg.text().starts_with("--user");
    if !found.is_empty() || !args.iter().any(user) {
        return found;
    }
    from(
        args,
        operand(
            args,
            "ugGsw",
            "user group supp-group shell whitelist-environment",
        ),
    )
}

/// `script -c TEXT FILE`, or `script FILE CMD…` as on macOS.
fn script(args: &[Token]) -> Vec<Inner> {
    let found = text_option(args, "c", &["--command"]);
    if !found.is_empty() {
        return found;
    }
    from(
        args,
        operand(
            args,
            "EIOBTmo",
            "echo log-in log-out log-io log-timing output-limit",
        ) + 1,
    )
}

fn rest_as_text(args: &[Token], short: &str, long: &str, shell: &str) -> Vec<Inner> {
    let rest = args.get(operand(args, short, long)..).unwrap_or_default();
    vec![Inner::Text(spaced(rest), shell.to_owned())]
}

/// The text that a shell on another machine reads: what stands after the host. It detaches there.
fn remote(args: &[Token]) -> Vec<Inner> {
    let host = operand(args, "BbcDEeFIiJLlmOopQRSWw", "");
    let rest = args.get(host + 1..).unwrap_or_default();
    vec![Inner::Text(spaced(rest), "sh".to_owned())]
}

fn parallel(args: &[Token]) -> Vec<Inner> {
    let long = "jobs arg-file colsep delimiter delay timeout retries joblog results sshlogin tmpdir \
        workdir basefile halt env load memfree nice max-args max-replace-args max-procs id";
    let end = args
        .iter()
        .position(|arg| arg.text().starts_with(":::"))
        .unwrap_or(args.len());
    rest_as_text(
        args.get(..end).unwrap_or_default(),
        "jaSINnLlsdCPE",
        long,
        "",
    )
}

fn find(args: &[Token]) -> Vec<Inner> {
    let runs = |arg: &Token| matches!(arg.text().as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let ends = |arg: &Token| matches!(arg.text().as_str(), ";" | "+");
    let mut found = Vec::new();
    let mut rest = args;
    // What stands in a command is its own, another `-exec` too.
    while let Some(at) = rest.iter().position(runs) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let (command, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        found.push(Inner::Words(command.to_vec()));
        rest = behind;
    }
    found
}

fn flock(args: &[Token]) -> Vec<Inner> {
    let at = operand(args, "wE", "wait timeout conflict-exit-code") + 1;
    match args.get(at).map(Token::text).as_deref() {
        Some("-c" | "--command") => text(args.get(at + 1), "sh"),
        _ => from(args, at),
    }
}

fn start_stop_daemon(args: &[Token]) -> Vec<Inner> {
    let end = args
        .iter()
        .position(|arg| arg.text() == "--")
        .unwrap_or(args.len());
    let (options, rest) = args.split_at_checked(end).unwrap_or((args, &[]));
    let value = |names: &[&str]| {
        let at = options
            .iter()
            .position(|arg| names.contains(&arg.text().as_str()))?;
        options.get(at + 1).cloned()
    };
    let Some(program) = value(&["-a", "--startas"]).or_else(|| value(&["-x", "--exec"])) else {
        return Vec::new();
    };
    let mut words = vec![program];
    words.extend(rest.iter().skip(1).cloned());
    vec![Inner::Words(words)]
}

/// All behind the first argument that `is` so, as text for `shell`.
fn after(args: &[Token], is: fn(&str) -> bool, shell: &str) -> Vec<Inner> {
    let at = args.iter().position(|arg| is(&arg.text()));
    let rest = at.and_then(|at| args.get(at + 1..)).unwrap_or_default();
    vec![Inner::Text(spaced(rest), shell.to_owned())]
}

/// `uv run CMD…`: what runs a program in its environment.
fn runner(args: &[Token], verb: &str) -> Vec<Inner> {
    let long = "with python package extra group env-file directory project name prefix env";
    match args.split_first() {
        Some((first, rest)) if first.text() == verb => from(rest, operand(rest, "npe", long)),
        _ => Vec::new(),
    }
}

/// Number of arguments that are bubblewrap's own.
fn bwrap(args: &[Token]) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let own = arg.text();
        if !own.starts_with("--") {
            break;
        }
        at += 1 + match own.as_str() {
            "--" => return at + 1,
            "--new-session"
            | "--die-with-parent"
            | "--as-pid-1"
            | "--share-net"
            | "--clearenv"
            | "--disable-userns"
            | "--assert-userns-disabled"
            | "--help"
            | "--version" => 0,
            _ if own.starts_with("--unshare-") => 0,
            "--setenv" | "--symlink" | "--file" | "--chmod" => 2,
            "--overlay" => 3,
            _ if own.contains("bind") => 2,
            _ => 1,
        };
    }
    at
}

fn setarch(args: &[Token]) -> Vec<Inner> {
    let at = operand(args, "", "");
    let machines = [
        "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "arm", "aarch64", "ppc64le",
    ];
    let machine = args
        .get(at)
        .is_some_and(|arg| !known(&arg.chars) || machines.contains(&arg.text().as_str()));
    let at = at + usize::from(machine);
    from(
        args,
        at + operand(args.get(at..).unwrap_or_default(), "", ""),
    )
}
