//! Both readers, on small sources, on broken ones, and on the standard library at hand.

mod deep;
mod dump;
mod library;

use super::*;
use crate::facts::tree::{Id, Kind, Piece};
use crate::source::{Language, Span};
use dump::{calls, dump};

fn source(text: &str) -> Source {
    Source::new("x.py", Language::Python, text.to_owned())
}

/// The callees in `text`, and whether it was understood.
fn read_calls(text: &str) -> (Vec<String>, Option<String>) {
    let source = source(text);
    let tree = read(&source);
    let names = calls(&tree, text)
        .into_iter()
        .map(|call| call.callee)
        .collect();
    (names, tree.fault.map(|fault| fault.why))
}

/// Sources that both parsers know.
const SAME: &[&str] = &[
    "",
    "\n",
    "# only a comment",
    "\"\"\"Doc.\"\"\"\nimport os\n",
    "import os, a.b, a.b as c\nfrom os import setsid as s, fork\nfrom . import x\nfrom ..m import (y,\n z)\nfrom p import *\nfrom __future__ import annotations\n",
    "f(1, -2, *a, k=True, *b, **kw)\nf(x for x in y)\nf((x for x in y), 1)\nf((a))(b)[c].d\n",
    "async def f():\n    print(await g())\n    h((await g()), k=await g())\n",
    "x = y = f()\nx: int = 3\nx: Optional[Popen]\nx: Popen | None = g()\nx: Annotated[int, g()] = 1\nx += f()\nf().x += 1\nx[1], (y, *z) = 1, 2,\n",
    "a = b or c or (d or e) and f\na = not x\na = -x\na = +1\na = ~f()\na = x if y else z\na = 1 + 2 * 3 | 4 % 5\na = 1 < 2\na = 1 < b() < c() is not d\na = x is None\na = x not in y\n",
    "a = 'x' \"y\"\na = b'z' b\"\"\na = ('x'\n  'y')\na = f'a{b}c{d!r:>{w}}e' 'f'\na = f'{x=}{{}}'\na = rb'\\x00' Rb'1'\na = u'\\u00e9\\n\\q\\x41\\101\\N{BULLET}'\n",
    "a = '''x\ny''' + \"\"\"z\\\n\"\"\"\na = ''\na = f'{f(\"x\")}'\na = f'{ x }{ {1: 2}[1] }{(lambda q: 1)}'\n",
    "a = [1, 2, *b]\na = (1,)\na = ()\na = {1, 2}\na = {1: 2, **c, 'k': f()}\na = 1, 2\na = ...\na = 1.5\na = 0x1f\na = 0b1_0\na = 1j\n",
    "a = [f(x) for x in y if z if w for q in x]\na = {f(x) for x in y}\na = {k: g(v) for k, v in y}\na = (x async for x in y)\n",
    "a = x[1:2, ::3]\na = x[f():]\na = x[1, 2]\na = x[:]\n",
    "a = lambda: 1\na = lambda x, *y, z=f(), **w: g(x)\n",
    "def f(a, b: int = 1, /, c: 'str' = g(), *args: T, d, e=h(), **kw) -> i():\n    \"\"\"Doc.\"\"\"\n    return a\n",
    "@d\n@e(1)\nasync def f():\n    await g()\n    async for x in y: h()\n    async with a as b: pass\n    yield\n    yield from z()\n    x = yield 1\n",
    "@d\nclass A(B, metaclass=M(), **kw):\n    'doc'\n    x = 1\n    def f(self): pass\nclass C: pass\nclass D():\n  pass\n",
    "if a(): b()\nelif c(): d()\nelif e(): f()\nelse: g()\n",
    "if a:\n    b()\n    # a comment\n\n# more\nelse:\n    if c:\n        d()\n",
    "while a(): b()\nelse: c()\nfor x in y(): z()\nelse:\n  w()\n",
    "with a() as b, c() as d.e, f(): g()\nwith (a() as b, c()): d()\nwith (a()): pass\n",
    "try:\n    a()\nexcept (A, B) as e:\n    b()\nexcept C:\n    c()\nexcept:\n    d()\nelse:\n    e()\nfinally:\n    f()\n",
    "try: a()\nfinally: b()\ntry: a()\nexcept* A as e: b()\n",
    "raise\nraise A\nraise A() from b()\nassert a(), b()\ndel a, b[c()]\ndel (x)\nglobal g\n",
    "for x in a, b:\n    break\nfor x, y in z:\n    continue\nreturn 1, 2\n",
    "match f():\n    case 1 | 'x': a()\n    case [x, *y] if g(): b()\n    case {'k': v, **rest}: c()\n    case A(z, k=w) as q: d()\n    case a.b: e()\n    case _: h()\n",
    "match a, b:\n    case (c, d): pass\n    case -1: pass\n    case None: pass\n",
    "match = type = case = 1\nmatch(x)\nprint(match, type)\n",
    "type X = f\ntype Y[T: g()] = h\ndef f[T: (int, str), *A, **P](x: T): pass\nclass C[T]: pass\n",
    "if (x := f()): g(y := 1)\n",
    "a(); b(); c = 1;\nif x: a(); b();\n",
    "a = (f  # one\n  (1,  # two\n   2))  #: three\n",
    "x = 1 \\\n  + f()\n",
    "class A:\n\tdef f(self):\n\t\treturn 1\n\n\tx = 2\n",
    "def f(): # c\n    # d\n    pass\n    # e\n# f\n",
    "f(a)(b)(c).d.e(g)[h]\n",
    "f(a=(1), *(x), **(y))\nf((yield))\nx = (yield)\n",
    "é = ﬁ()\nos.ſetsid()\ndef ﬀ(ﬁ): pass\n",
    "\u{feff}import os\nos.setsid()  # é\n",
    "a = 'é' f'é{f()}é\\n'\n",
    "x = {'a': [1, (2, 3)], 'b': {'c': f(d={'e': g()})}}\n",
    "print(x, file=y)\nexec('x')\n",
    "def f(\n    a,  # x\n    b=1,\n):  # y\n    pass\n",
    "@(f())\n@a.b\ndef g(): pass\n",
    "async def f():\n    return [await x async for x in y]\n",
    "a = b = c, d = f()\n",
    "with open(a) as (b, c): pass\n",
    "lambda: (yield)\n",
    "x = a[b][c](d)['e']\n",
    "nonlocal_ = 1\ndef f():\n    nonlocal x, y\n",
    "a = x[1, 2,]\na = x[1,]\na = x[(1), 2]\na = x[(1, 2)]\na = x[\n  (1),\n  (2),\n]\n",
    "x: Literal['a', 'b',]\nx: A[B[int,], C,] = 1\nx: A[(B), (C)]\nx: A[(B)]\n",
    "if x := (f()): g((y := (a - b)), z := ((c)))\nwhile x := ({1} - (y)): pass\n",
    "type(x).y = f()\ntype (x).y.z = g\ntype(a.b)[c] = 1\ntype.x = 1\ntype[x] = 2\ntype(x)\n",
    "a = [*f(x)(y), *a.b(), *b[1:], *(c).d, *e]\na = *f.g(), *h[0]\na = {*f(x).y}\ng(*f(x).y, *z[0])\n",
    "a = [*[*b.c()][0], *f(*g(x).h)]\na = [*b.c(*d.e[0])]\n",
    "a = b = (\n  c\n)\na = (c)\n(a) = (c)\na = (b) = (c)\n",
    "def f(a: (int), b: (int | str), *c: (A), d: (A) = (1), **e: (\n    B\n)): pass\n",
    "a = f'{1, 2}{ x, y, }{ {1, 2} }{(1, 2)}{*a, b}{a,}'\n",
    "print >> a\nprint >> a.b, c()\nprint >> a, b, *c,\nprint (a), b\nprint - a\nprint [0]\n",
    "print(a, *b.c())\nprint(a, *b(c), **d)\nprint(*a or b, c)\n",
    "a = b & c ^ d\na = b ^ c & d ^ (e & f) & g | h & i ^ j\na = (b ^ c) & (d)\na = [*b & c ^ d]\n",
    "a = [*b.c | d, *e + f()]\na = *b & c, d\nreturn *b() | c, d\n",
    "a = await b ** c()\na = -await b[0] ** c\na = (await b) ** c + await d\n",
    "match a,:\n    case b,: pass\nmatch (a), :\n    case [b]: pass\nmatch (a,), (b):\n    case c: pass\n",
    "with (a() as b): pass\nwith (a as (b, c)): pass\nwith ((a) as b.c): pass\nwith (): pass\nwith (a,): pass\n",
    "with a() if b else c() as d: pass\nwith (a if b else c if d else e as f, g as h): i()\n",
    "with lambda: a as b: pass\ntry: pass\nexcept A if b else (C, D) as e: pass\n",
    "if a := b() if c else d: e\nf(a := (b) if c else (d), e)\na = [b for c in d if (e := c if d else f if g else h)]\n",
];

/// Sources that are deeper than a tree may be.
fn deep() -> Vec<String> {
    let times = 150;
    let nested = |open: &str, close: &str| {
        let (open, close) = (open.repeat(times), close.repeat(times));
        format!("def f():\n  a = {open}g(), h{close}\nk()\n")
    };
    let conditions = "elif b(): g(); h()\n".repeat(times);
    let bodies = "elif b():\n    if c(): g()\n    h()\n".repeat(times);
    let handlers = "except b(): g()\n".repeat(times);
    vec![
        nested("[", "]"),
        nested("f(", ", k())"),
        nested("a[", "]"),
        nested("b if c() else ", ""),
        nested("", " + b()"),
        nested("", ".b(c)"),
        format!("if a: b()\n{conditions}else: c()\nd()\n"),
        format!("if a: b()\n{bodies}d()\n"),
        format!("try: a()\n{handlers}else: c()\nfinally: d()\n"),
    ]
}

#[test]
fn both_readers_give_the_same_tree() {
    let mut wrong = Vec::new();
    for text in SAME.iter().map(|text| (*text).to_owned()).chain(deep()) {
        for text in [text.replace('\n', "\r\n"), text] {
            let Some(strict) = strict::read(&Code::of(&text)) else {
                wrong.push(format!("refused: {text}"));
                continue;
            };
            let tolerant = tolerant::read(&Code::of(&text));
            let (one, two) = (dump(&strict, &text), dump(&tolerant, &text));
            if one != two {
                wrong.push(format!("=== {text}\n{}", dump::difference(&one, &two)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn newer_and_older_python_is_no_fault() {
    for text in [
        "x = f'{a[\"k\"]}{f'{g()}'}'\nsetsid()\n",
        "x = f'{\n  g()  # why\n}'\nsetsid()\n",
        "x = t'{g()}'\nsetsid()\n",
        "try: g()\nexcept A, B: pass\nsetsid()\n",
        "def f[T = int](x): g()\nsetsid()\n",
        "class A[T: (int, str) = int, *U = *tuple[int]]: g()\nsetsid()\n",
        "type X[T = dict[str, int]] = g()\nsetsid()\n",
        "x = [*g() for a in b]\nsetsid()\n",
        "lazy import os\nlazy from a import b\ng()\nsetsid()\n",
        "print g(), 1\nsetsid()\n",
        "print >>f, g()\nexec 'x' in g()\nsetsid()\n",
        "raise A, \"b\"\ng()\nsetsid()\n",
        "x = 0777L <> 1\ng()\nsetsid()\n",
        "def f((a, b)): g()\nsetsid()\n",
        "try: g()\nexcept A, e: pass\nsetsid()\n",
    ] {
        let (names, fault) = read_calls(text);
        assert_eq!(fault, None, "{text}");
        assert!(names.contains(&"g".to_owned()), "{text}: {names:?}");
        assert!(names.contains(&"setsid".to_owned()), "{text}: {names:?}");
    }
}

#[test]
fn line_ends_and_marks_do_not_matter() {
    for text in [
        "a = 1\rdef f():\r    g()\rsetsid()\r",
        "a = f'{x['y']}'\rdef f():\r    g()\rsetsid()\r",
        "\u{feff}a = f'{x['y']}'\r\ng()\r\nsetsid()",
        "\x0cg()\n\x0c\nx = f'{x['y']}'\nsetsid()\n",
        "x = '\0'\ng()\nsetsid()\n",
    ] {
        let (names, fault) = read_calls(text);
        assert_eq!(
            (names, fault),
            (vec!["g".to_owned(), "setsid".to_owned()], None),
            "{text:?}"
        );
    }
    assert!(read_calls("g()\0\nsetsid()\n").1.is_some());
}

#[test]
fn broken_files_are_read_and_said() {
    let spawn = "subprocess.Popen(a, start_new_session=True)";
    for (before, after) in [
        ("<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n", ""),
        ("", "\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n"),
        ("x = (1, 2\n", "\n"),
        ("", "\nx = (1, 2\n"),
        ("x = 'abc\n", "\n"),
        ("", "\nx = 'abc\n"),
        ("{% if a %}\n", "\n{% endif %}\n"),
        ("%matplotlib inline\n", "\n!ls\n"),
        ("def f(:\n", "\n"),
        ("", "\nx = \"\"\"abc\n"),
    ] {
        let text = format!("{before}{spawn}{after}");
        let (names, fault) = read_calls(&text);
        assert!(fault.is_some(), "{text}");
        assert!(
            names.contains(&"subprocess.Popen".to_owned()),
            "{text}: {names:?}"
        );
    }
}

#[test]
fn an_open_call_is_a_call() {
    let text = "p = subprocess.Popen(['a'], start_new_session=True\n";
    let tree = read(&source(text));
    assert!(tree.fault.is_some());
    let found = calls(&tree, text);
    let call = found.iter().find(|call| call.callee == "subprocess.Popen");
    assert!(
        call.is_some_and(|call| call.names.contains(&"start_new_session".to_owned())),
        "{found:?}"
    );
}

#[test]
fn exact_pieces_are_as_long_as_their_text() {
    let text = "x = 'a\\n' f\"b{y}{{\" r'\\d' '''é'''";
    let tree = read(&source(text));
    let mut said = String::new();
    for node in &tree.nodes {
        let Kind::Text(pieces) = &node.kind else {
            continue;
        };
        for piece in pieces {
            match piece {
                Piece::Text { text: own, span } => {
                    said.push_str(own);
                    let raw = &text[span.start as usize..span.end as usize];
                    assert_eq!(own.len() == raw.len(), own == raw, "{own:?} {raw:?}");
                }
                Piece::Hole { value, span } => {
                    said.push('<');
                    assert_eq!(&text[span.start as usize..span.end as usize], "{y}");
                    assert!(value.is_some());
                }
            }
        }
    }
    assert_eq!(said, "a\nb<{\\dé");
}

#[test]
fn documentation_is_told_apart() {
    let text = "'a'\ndef f():\n    'b'\n    'no'\nclass A:\n    '''c'''\nb'no'\n";
    let tree = read(&source(text));
    let docs: Vec<&str> = tree
        .docs
        .iter()
        .map(|own| &text[own.start as usize..own.end as usize])
        .collect();
    assert_eq!(docs, ["'a'", "'b'", "'''c'''"]);
    assert!(read(&source("f'no'\n")).docs.is_empty());
}

#[test]
fn statements_have_headers() {
    let text = "@d\ndef f(a,\n      b): # c\n    if x: y()\n    else: z = 1; w()\n";
    let tree = read(&source(text));
    let headers: Vec<&str> = tree
        .statements
        .iter()
        .map(|own| &text[own.header.start as usize..own.header.end as usize])
        .collect();
    assert_eq!(
        headers,
        [
            "@d\ndef f(a,\n      b):",
            "if x:",
            "y()",
            "else:",
            "z = 1",
            "w()"
        ]
    );
}

#[test]
fn comments_are_real_and_know_their_line() {
    let text = "x = '# no'  # a\n  # b\n#: c\nf(  # d\n)\ny = f'{z:#x}'\n";
    let tree = read(&source(text));
    let said: Vec<(&str, bool)> = tree
        .comments
        .iter()
        .map(|own| {
            (
                &text[own.span.start as usize..own.span.end as usize],
                own.own_line,
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("# a", false),
            ("# b", true),
            ("#: c", true),
            ("# d", false)
        ]
    );
}

/// Long runs of comments and blanks, which cost both parsers the square of their length.
#[test]
fn pauses_are_passed_over() {
    let pause = "# c\n\n\t# é\r\n".repeat(600);
    // Each with the comments that stand in literals, and those that are some.
    let texts = [
        (format!("f()\n{pause}g()\n"), 0, 1200),
        (format!("if a:\n    f()\n{pause}    g()\nh()\n"), 0, 1200),
        (format!("f(\n{pause}    g())\n"), 0, 1200),
        (
            format!("f('''{pause}''', f\"{{'#'}}\")  # d\n{pause}"),
            600,
            1201,
        ),
        (format!("x = 1 + \\\n{pause}f()\n"), 0, 1200),
        (
            format!("x = 1 if\"{{\"in y else '''\n{pause}'''\n{pause}"),
            600,
            1200,
        ),
    ];
    for (index, (text, quoted, real)) in texts.iter().enumerate() {
        let code = Code::of(text);
        assert_eq!(code.parsed.len(), text.len());
        assert_eq!(code.parsed.matches("# c").count(), *quoted, "{index}");
        let strict = strict::read(&code);
        let tolerant = tolerant::read(&code);
        if let Some(strict) = &strict {
            assert_eq!(dump(strict, text), dump(&tolerant, text), "{index}");
        }
        let comments = strict.as_ref().unwrap_or(&tolerant).comments.len();
        assert_eq!(comments, *real, "{index}");
    }
}

#[test]
fn every_cut_is_read() {
    let whole = "@d\ndef f(a: int = 1, *b):\n    'é'\n    with g(f'{x!r:>{y}}') as z:\n        return [h(k=v) for v in z if v]\nmatch a:\n    case [b, *_]: c()\n";
    for cut in (0..=whole.len()).filter(|cut| whole.is_char_boundary(*cut)) {
        let text = &whole[..cut];
        let tree = read(&source(text));
        assert!(tree.root.is_some());
        assert_reachable(&tree);
        let tree = tolerant::read(&Code::of(text));
        assert_reachable(&tree);
    }
}

/// No node is reached twice, but for the target of an augmented assignment.
fn assert_reachable(tree: &Tree) {
    let mut seen = vec![false; tree.nodes.len()];
    let mut todo: Vec<Id> = tree.root.into_iter().collect();
    while let Some(id) = todo.pop() {
        let node = tree.node(id);
        if matches!(node.kind, Kind::Call { .. }) {
            assert!(!seen[id.0 as usize], "a call is reached twice");
        }
        seen[id.0 as usize] = true;
        todo.extend(node.kind.children());
    }
}

#[test]
fn spans_are_places_in_the_text() {
    for text in SAME {
        let tree = read(&source(text));
        for node in &tree.nodes {
            let Span { start, end } = node.span;
            assert!(
                text.get(start as usize..end as usize).is_some(),
                "{text}: {node:?}"
            );
        }
    }
}
