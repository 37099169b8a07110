//! Rule `self-detach`: `setsid`, `setpgrp` or `setpgid` called by name.

use super::hooks::Hooks;
use super::words::Words;
use super::{Hit, Level, Rule, leaving};
use crate::facts::{Call, Facts};

pub(super) const RULE: Rule = Rule {
    id: "self-detach",
    level: Level::Deny,
    summary: "`setsid`, `setpgrp` or `setpgid` called by the program itself or after a fork",
    help: "stay in the spawner's session and group, and let `spawn_owned` or `owned run -- CMD` make and end groups; if the process must outlive its spawner, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

A call of `os.setsid`, `os.setpgrp` or `os.setpgid`, or of the same through `posix`, `libc`, `nix`,
`rustix` and `fork`, under any name they were imported with: in the program itself, in a child after
`fork`, in the target of a `multiprocessing.Process`.

A `setpgid` into the own group (`os.getpgrp()`) or the parent's is no finding, nor is one on the
process id of a `Popen`: it comes after exec, and the kernel refuses it.

## Why it matters

Everything that the program starts from there on is out of reach for whoever started the program: each
of these forms was run, and the child outlived SIGKILL to the spawner's group.

## Bad

```python
import os
import subprocess

os.setsid()  #~ self-detach
subprocess.Popen(["server"])
```

```rust
use nix::unistd::{Pid, setpgid};

fn start() -> nix::Result<()> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0)) //~ self-detach
}
```

## Good

```python
import os

os.setpgid(0, os.getpgrp())
print(os.getsid(0), os.getpgid(0))
```

```rust
use nix::unistd::{Pid, getpgrp, setpgid};

fn start() -> nix::Result<()> {
    setpgid(Pid::from_raw(0), getpgrp())
}
```

## When it may stay

In a program whose task is a session or group of its own: a shell with job control, a terminal, a
supervisor that ends what it leads.
"#,
    words: Words {
        both: &[
            &["setsid"],
            &["setpgrp"],
            &["setpgid"],
        ],
        ..Words::NONE
    },
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let hooks = Hooks::of(facts);
    let daemons = leaving::daemons(facts);
    let hit = |(index, call): (usize, &Call)| {
        let way = leaving::by_name(facts, call)?;
        let other = hooks.runs(call.scope) || daemons.contains(&index);
        let hit = Hit::new(call.act, call.evidence, way).with(leaving::certainty(call));
        (!other).then_some(hit)
    };
    facts.calls.iter().enumerate().filter_map(hit).collect()
}
