//! Texts that other linters judged wrongly, one for each row of `tests/complaints.md` that is about a text.

/// A text: the number of its row, its name, what it says, and what is found: `LINE [RULE] VERDICT`, where
/// the rule is left out for a detaching spawn.
type Text = (u32, &'static str, &'static str, &'static [&'static str]);

pub(super) const TEXTS: &[Text] = &[
    // A comment behind the closing bracket of a call of several lines has no effect.
    (
        1,
        "c01.py",
        "import subprocess
subprocess.Popen(
    a,
    start_new_session=True,
)  # detached-spawn: the updater must outlive us all
",
        &["4 justified"],
    ),
    // Another comment between the marker and the code cuts it off.
    (
        2,
        "c02.py",
        "import subprocess
# detached-spawn: the updater must outlive us all
# another remark
subprocess.Popen(a, start_new_session=True)
",
        &["4 justified"],
    ),
    // A stray space, an identifier or prose is taken for a marker.
    (
        3,
        "c03.py",
        "import subprocess
# detached-spawn : the updater must outlive us all
subprocess.Popen(a, start_new_session=True)
nodetached_spawn()
subprocess.Popen(a, start_new_session=True)
# talk of a detached-spawn in prose
subprocess.Popen(a, start_new_session=True)
",
        &[
            "2 malformed-marker fault",
            "3 unjustified",
            "5 unjustified",
            "7 unjustified",
        ],
    ),
    // A marker behind one call silences the next one.
    (
        4,
        "c04.py",
        "import subprocess
subprocess.Popen(
    a, start_new_session=True
)  # detached-spawn: the updater must outlive us all
subprocess.Popen(a, start_new_session=True)
",
        &["3 justified", "5 unjustified"],
    ),
    // Comments beside a marker take it along.
    (
        6,
        "c06.py",
        "import subprocess
x = f(  # one
    a,  # two
    subprocess.Popen(a, start_new_session=True),  # three
)  # detached-spawn: the updater must outlive us all
",
        &["4 justified"],
    ),
    // A marker inside a string counts, or none can be put to a long one.
    (
        8,
        "c08.py",
        "import subprocess
# detached-spawn: the updater must outlive us all
subprocess.Popen('''
# detached-spawn: this is no comment at all
server
''', shell=True, start_new_session=True)
subprocess.Popen(f'''
# detached-spawn: nor is this one here
{x}
''', start_new_session=True)
",
        &["6 justified", "10 unjustified"],
    ),
    // A statement broken behind `=` loses the comment above it.
    (
        9,
        "c09.rs",
        r#"fn f() {
    // detached-spawn: the updater must outlive us all
    let x =
        std::process::Command::new("a").process_group(0).spawn();
}
"#,
        &["4 justified"],
    ),
    // A comment above a link of a chain is not seen.
    (
        10,
        "c10.rs",
        r#"fn f() {
    run(std::process::Command::new("a")
        // detached-spawn: the updater must outlive us all
        .process_group(0)
        .spawn());
}
"#,
        &["4 justified"],
    ),
    // A comment inside a macro's definition is not seen.
    (
        11,
        "c11.rs",
        "macro_rules! start {
    ($a:expr) => {
        // detached-spawn: the updater must outlive us all
        std::process::Command::new($a).process_group(0).spawn()
    };
}
",
        &["4 justified"],
    ),
    // One marker is counted once for each line of a long literal.
    (
        12,
        "c12.py",
        "import subprocess
options = {
    'k0': 0,
    'k1': 1,
    'k2': 2,
    'k3': 3,
    'k4': 4,
    'k5': 5,
    'k6': 6,
    'k7': 7,
    'k8': 8,
    'k9': 9,
    'k10': 10,
    'k11': 11,
    'k12': 12,
    'k13': 13,
    'k14': 14,
    'k15': 15,
    'k16': 16,
    'k17': 17,
    # detached-spawn: the updater must outlive us all
    'start_new_session': True,
}
subprocess.Popen(a, **options)
",
        &["22 justified"],
    ),
    // Attributes, commas and empty bodies move a comment out of reach.
    (
        13,
        "c13.rs",
        r#"fn f() {
    #[cfg(unix)] // detached-spawn: the updater must outlive us all
    std::process::Command::new("a").process_group(0).spawn();
    // detached-spawn: the updater must outlive us all
    #[cfg(unix)]
    std::process::Command::new("a").process_group(0).spawn();
    match a {
        1 => std::process::Command::new("a").process_group(0).spawn(), // detached-spawn: the updater must outlive us all
        _ => {}
    }
    if let Ok(_) =
        std::process::Command::new("a").process_group(0).spawn()
    {
    } // detached-spawn: the updater must outlive us all
}
"#,
        &["3 justified", "6 justified", "8 justified", "12 justified"],
    ),
    // Words of the reason are read as rules.
    (
        14,
        "c14.py",
        "import subprocess
# detached-spawn: S106 is fine [x], and so is E501
subprocess.Popen(a, start_new_session=True)
",
        &["3 justified"],
    ),
    // A marker may not trail, its reason breaks it, a stale one stays.
    (
        16,
        "c16.py",
        "import subprocess
subprocess.Popen(a, start_new_session=True)  # detached-spawn: the updater must outlive us all
# detached-spawn: the updater - it must outlive # us all
subprocess.Popen(a, start_new_session=True)
# detached-spawn: nothing detaches here at all
x = 1
",
        &["2 justified", "4 justified", "5 unused-justification fault"],
    ),
    // An empty or copied reason passes.
    (
        18,
        "c18.py",
        "import subprocess
# detached-spawn: 
subprocess.Popen(a, start_new_session=True)
# detached-spawn: todo
subprocess.Popen(a, start_new_session=True)
# detached-spawn: TODO: explain
subprocess.Popen(a, start_new_session=True)
# detached-spawn: fixme
subprocess.Popen(a, start_new_session=True)
# detached-spawn: ...
subprocess.Popen(a, start_new_session=True)
# detached-spawn: because
subprocess.Popen(a, start_new_session=True)
# detached-spawn: reason
subprocess.Popen(a, start_new_session=True)
# detached-spawn: see above
subprocess.Popen(a, start_new_session=True)
# detached-spawn: n/a
subprocess.Popen(a, start_new_session=True)
# detached-spawn: <reason>
subprocess.Popen(a, start_new_session=True)
# detached-spawn: xxxxxxxxxxxx
subprocess.Popen(a, start_new_session=True)
",
        &[
            "3 empty-justification unjustified",
            "5 empty-justification unjustified",
            "7 empty-justification unjustified",
            "9 empty-justification unjustified",
            "11 empty-justification unjustified",
            "13 empty-justification unjustified",
            "15 empty-justification unjustified",
            "17 empty-justification unjustified",
            "19 empty-justification unjustified",
            "21 empty-justification unjustified",
            "23 empty-justification unjustified",
        ],
    ),
    // A marker that stands too far away is silently nothing.
    (
        19,
        "c19.py",
        "import subprocess
# detached-spawn: the updater must outlive us all


subprocess.Popen(a, start_new_session=True)
",
        &["2 unused-justification fault", "5 unjustified"],
    ),
    // A decorated definition loses its marker.
    (
        20,
        "c20.py",
        "import subprocess
# detached-spawn: the updater must outlive us all
@register(subprocess.Popen(a, start_new_session=True))
def f():
    pass
",
        &["3 justified"],
    ),
    // Stubs, which never run, are judged.
    (
        31,
        "c31.pyi",
        "import subprocess
def f(x=subprocess.Popen(a, start_new_session=True)): ...
",
        &[],
    ),
    // Code for another system, or for tests, is not read.
    (
        59,
        "c59.rs",
        r#"#[cfg(windows)]
fn w() { std::process::Command::new("a").process_group(0).spawn(); }
#[cfg(test)]
mod t { fn f() { std::process::Command::new("a").process_group(0).spawn(); } }
#[cfg(any())]
fn n() { std::process::Command::new("a").process_group(0).spawn(); }
"#,
        &["2 unjustified", "4 unjustified", "6 unjustified"],
    ),
    // Code in macros is not read.
    (
        60,
        "c60.rs",
        r#"fn f() {
    let x = vec![std::process::Command::new("a").process_group(0).spawn()];
    select! { a = b => { vec![std::process::Command::new("a").process_group(0).spawn()]; } }
}
macro_rules! m { () => { join!(std::process::Command::new("a").process_group(0).spawn()) } }
"#,
        &["2 unjustified", "3 unjustified", "5 unjustified"],
    ),
    // New syntax is an error of its own.
    (
        61,
        "c61.rs",
        r#"unsafe extern "C" { safe fn a(); }
#[unsafe(no_mangle)]
fn f() -> impl Sized + use<> {
    if let Ok(x) = a && let Ok(_) = std::process::Command::new(c"a").process_group(0).spawn() {}
    async || std::process::Command::new("a").process_group(0).spawn();
}
"#,
        &["4 unjustified", "5 unjustified"],
    ),
    // An included file is no items, so it is not read.
    (
        62,
        "c62.rs",
        r#"std::process::Command::new("a").process_group(0).spawn()
"#,
        &["1 unjustified"],
    ),
    // A marker is called stale in a file that was not understood.
    (
        65,
        "c65.py",
        "# detached-spawn: the updater must outlive us all
x = (
import subprocess
",
        &["2 unparsed-file"],
    ),
    // The option is missed without a comma behind it, and in dictionaries.
    (
        66,
        "c66.py",
        "import subprocess
subprocess.Popen(a, start_new_session=True)
subprocess.Popen(a, start_new_session=True,)
subprocess.Popen(a, **{'start_new_session': True})
kw = dict(start_new_session=True)
subprocess.Popen(a, **kw)
",
        &[
            "2 unjustified",
            "3 unjustified",
            "4 unjustified",
            "5 unjustified",
        ],
    ),
];
