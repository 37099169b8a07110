//! The one small tree that every reader fills and the one analysis reads.
//!
//! It keeps what a judgement can depend on (names, calls, values, bindings, functions, order) and
//! drops the rest. Nodes lie in one arena, so neither walking a list nor dropping a tree recurses.
//! A reader never nests deeper than [`MAX_DEPTH`]: below that it hangs the children flat.
//!
//! What a reader leaves out because it has no meaning here: parentheses, `await`, `&`, `*`, casts,
//! `?`, `unsafe`, generic arguments, lifetimes, type annotations other than the path they name.
//! Such a node is replaced by what it wraps.

use crate::source::{Source, Span};

/// Deepest nesting of nodes that a reader may build, so that a recursive walk fits its stack.
pub const MAX_DEPTH: usize = 512;

/// Bytes of code that are read of a file: tree-sitter and a scan of Rust's tokens need 150 times their number
/// in memory, and tree-sitter a second for each million.
const MOST: usize = 4 << 20;

/// Index of a node in [`Tree::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

/// One file, read.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All nodes; a child comes before its parent.
    pub nodes: Vec<Node>,
    /// The file's own block; `None` when nothing was read.
    pub root: Option<Id>,
    /// Every statement at any depth, in source order of their starts.
    pub statements: Vec<Statement>,
    /// Every comment, in source order; those inside macros too.
    pub comments: Vec<Comment>,
    /// String literals that are documentation (Python docstrings), in source order.
    pub docs: Vec<Span>,
    /// Where and why a part was not understood. The file is then judged as far as it was read,
    /// and is a problem.
    pub fault: Option<Fault>,
}

/// Where a reader gave up, or went on by recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the reader stopped to understand.
    pub at: Span,
    /// Lower case, no full stop: `unclosed "("`.
    pub why: String,
}

/// A statement, for justifications: Python statements, Rust statements, items, tail expressions,
/// match arms and struct-literal-free macro statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// All of it, decorators and attributes included, the `;` (or a match arm's `,`) too.
    pub span: Span,
    /// A simple statement's whole span; a compound one's header: from its first decorator or
    /// attribute up to and including the `:` or `{` that opens its (first) body. Further headers
    /// of one compound statement (`elif`, `else`, `except`, `case`) are statements of their own.
    pub header: Span,
}

/// A comment as the lexer gives it, its sign included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From its sign to its last character, without the line break.
    pub span: Span,
    /// What kind of comment it is.
    pub kind: CommentKind,
    /// Whether only white space stands before it on its line.
    pub own_line: bool,
}

/// Kinds of comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `#` or `//`.
    Line,
    /// `/* */`.
    Block,
    /// `///`, `//!`, `/** */`, `/*! */`, `#:`.
    Doc,
}

/// A node and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its bytes, without surrounding parentheses.
    pub span: Span,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Parts that have no meaning of their own here, in source order.
    Other(Vec<Id>),
    /// Statements that run in order: a file, a body, a Rust block. The value of a Rust block is its
    /// last child, if that child is an expression without `;` (see [`Kind::Tail`]).
    Block(Vec<Id>),
    /// The last expression of a Rust block, closure or function: its value.
    Tail(Id),
    /// An identifier: NFKC-normalised in Python, without `r#` in Rust. `self` is a name.
    Name(String),
    /// `base.name`, or in Rust `base::name` (then `path` is true). For `<T as Trait>::name` the
    /// base is the trait's path; for `<T>::name` it is the path of `T`.
    Attr {
        /// What stands before.
        base: Id,
        /// The identifier after the dot or colons.
        name: String,
        /// The identifier alone.
        name_span: Span,
        /// Joined by `::`.
        path: bool,
    },
    /// A call, a macro invocation or a struct literal.
    Call {
        /// What is called: a name, a path, a method (`Attr` with `path: false`), any expression.
        /// A macro's path has `!` at the end of its last name: `cmd!`.
        callee: Id,
        /// What it is given, in order.
        args: Vec<Arg>,
        /// Which of the three it is.
        form: Form,
    },
    /// `base[index]`; without an index, "some element of base" (the variable of a `for`).
    Index {
        /// What is indexed.
        base: Id,
        /// The index.
        index: Option<Id>,
    },
    /// A string or byte string, adjacent literals joined, prefixes and escapes resolved.
    Text(Vec<Piece>),
    /// An integer literal that fits.
    Int(i128),
    /// `True`, `true`, …
    Bool(bool),
    /// `None`, `()`. Rust's `None` is a name; `Some(x)` is a call.
    Nothing,
    /// List, tuple, set, array, `vec![…]`. `[x; n]` has one element.
    List(Vec<Id>),
    /// `*x` inside a list or call's list (a call's own arguments say it in [`Arg::spread`]).
    Spread(Id),
    /// A dictionary literal: key and value; `None` for a `**spread`.
    Dict(Vec<(Option<Id>, Id)>),
    /// A lambda or closure.
    Closure {
        /// Its parameters.
        params: Vec<Param>,
        /// An expression or a block.
        body: Id,
    },
    /// `not x`, `!x`.
    Not(Id),
    /// `-x` on something that is not a literal is `Other`; `-1` is an `Int`.
    Binary {
        /// Which operation.
        op: Op,
        /// Left side.
        left: Id,
        /// Right side.
        right: Id,
    },
    /// Several values of which one is taken: `a or b`, `a and b`, the arms of a `match` expression
    /// (an arm's pattern is bound by a `Bind` before its value, both in a `Block`).
    Choice(Vec<Id>),
    /// `if` as statement or expression, the ternary, `while`; `if let P = e` has a `Bind` as test.
    If {
        /// The condition.
        test: Id,
        /// Taken when it holds.
        then: Id,
        /// Taken when not; an `elif` is an `If` here.
        otherwise: Option<Id>,
    },
    /// Names get a value: assignment, augmented assignment (the value is then a `Binary` of target
    /// and value), `let`, walrus, `with … as x`, `for x in y` (value: an `Index` without index),
    /// `const`, `static`. Pattern targets are lowered to a `List`, with `Other` for what is no name.
    Bind {
        /// What is assigned to: names, attributes, index expressions, lists of these.
        targets: Vec<Id>,
        /// What is assigned; none for a bare annotation or `let x;`.
        value: Option<Id>,
        /// The path named by the annotation.
        annotation: Option<Id>,
    },
    /// A function definition.
    Function(Function),
    /// A Python class; a Rust `impl` block (its name is the type's, its base the trait), trait,
    /// struct, enum. Rust modules are `Class` too (no bases).
    Class {
        /// Last segment of its name.
        name: String,
        /// Base classes, with keywords; the trait of an `impl`.
        bases: Vec<Arg>,
        /// Decorators.
        decorators: Vec<Id>,
        /// A `Block`.
        body: Id,
    },
    /// Names that come from elsewhere.
    Import(Vec<Import>),
    /// `global x`, `nonlocal x`: names of this body that are another one's.
    Outer {
        /// The names.
        names: Vec<String>,
        /// Whether they are the file's own; else they are a function's around this one.
        of_file: bool,
    },
    /// `return`, and its value. A `yield` is `Other`: the function goes on after it.
    Return(Option<Id>),
    /// Control leaves the block: `raise`, `break`, `continue`; with what is evaluated before.
    Leave(Option<Id>),
}

/// Which kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `f(x)`.
    Call,
    /// `m!(…)`: the arguments are what could be read of its tokens as expressions; `tokens` is the
    /// text between its brackets.
    Macro {
        /// Between the brackets.
        tokens: Span,
    },
    /// `T { a: x }`: the arguments are named; `..rest` is a spread.
    Struct,
}

/// One argument.
#[derive(Clone, Debug)]
pub struct Arg {
    /// The keyword, or the field of a struct literal.
    pub name: Option<String>,
    /// How it is spread.
    pub spread: Spread,
    /// Its value.
    pub value: Id,
    /// From the keyword (or stars) to the end of the value.
    pub span: Span,
}

/// Stars before an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// None.
    No,
    /// `*args`.
    List,
    /// `**kwargs`, `..rest`.
    Dict,
}

/// Operations that are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `+`.
    Add,
    /// `|`.
    Or,
    /// `%`: Python's old formatting.
    Percent,
    /// `==`, `is`.
    Equal,
    /// `!=`, `is not`.
    Unequal,
    /// Every other one; an `in`, a `<`, a chain of comparisons (its first two operands).
    Other,
}

/// Part of a string.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Constant text.
    Text {
        /// With escapes resolved.
        text: String,
        /// The bytes in the source. As long as `text` exactly if no escape stood there; then an
        /// offset in the one is an offset in the other.
        span: Span,
    },
    /// A value put in at run time: `{x}` of an f-string, `{}` or `{x}` of a Rust format string (the
    /// format macros' strings alone: `format!`, `println!` and kin).
    Hole {
        /// What is put in, where it could be read.
        value: Option<Id>,
        /// From brace to brace.
        span: Span,
    },
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name; a pattern's first name, or empty.
    pub name: String,
    /// Its default.
    pub default: Option<Id>,
    /// The path that its annotation names: `Command` for `&mut Command`.
    pub annotation: Option<Id>,
    /// All of it.
    pub span: Span,
    /// `*args` or `**kwargs`.
    pub spread: Spread,
}

/// A function definition.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The name alone.
    pub name_span: Span,
    /// Parameters, `self` included.
    pub params: Vec<Param>,
    /// A `Block`; none for a declaration (`extern` block, trait).
    pub body: Option<Id>,
    /// Decorators.
    pub decorators: Vec<Id>,
    /// Declared in an `extern` block.
    pub foreign: bool,
    /// The value of `#[link_name = "…"]`.
    pub link_name: Option<String>,
}

/// One imported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Dotted path of what is imported, `::` written as `.`: `os`, `os.setsid`, `nix.unistd`;
    /// relative Python imports keep their leading dots, Rust ones `crate`, `self`, `super`.
    pub path: String,
    /// The name it gets here; `None` for a star import. `import a.b` binds `a` to the path `a`.
    pub name: Option<String>,
}

impl Tree {
    /// What `read` makes of a file's code; of a large file, of its start, and that is a fault where it ends.
    pub(super) fn of_start(source: &Source, read: fn(&str) -> Self) -> Self {
        let Some(start) = source.start(MOST) else {
            return read(source.code());
        };
        let mut tree = read(start);
        let most = MOST >> 20;
        tree.fault = Some(Fault {
            at: Span::new(start.len(), start.len()),
            why: format!(
                "what follows is not judged, for only {most} MiB of a file are: split or exclude it"
            ),
        });
        tree
    }

    /// Adds a node and gives its index.
    pub fn add(&mut self, kind: Kind, span: Span) -> Id {
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { kind, span });
        id
    }

    /// The node at `id`.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl Kind {
    /// Its direct parts, in the order of evaluation as far as that is the order of writing.
    pub fn children(&self) -> Vec<Id> {
        match self {
            Self::Name(_)
            | Self::Int(_)
            | Self::Bool(_)
            | Self::Nothing
            | Self::Import(_)
            | Self::Outer { .. } => Vec::new(),
            Self::Other(ids) | Self::Block(ids) | Self::List(ids) | Self::Choice(ids) => {
                ids.clone()
            }
            Self::Tail(id) | Self::Spread(id) | Self::Not(id) | Self::Attr { base: id, .. } => {
                vec![*id]
            }
            Self::Call { callee, args, .. } => std::iter::once(*callee)
                .chain(args.iter().map(|arg| arg.value))
                .collect(),
            Self::Index { base, index } => std::iter::once(*base).chain(*index).collect(),
            Self::Text(pieces) => pieces.iter().filter_map(Piece::value).collect(),
            Self::Dict(entries) => entries
                .iter()
                .flat_map(|(key, value)| key.iter().copied().chain([*value]))
                .collect(),
            Self::Closure { params, body } => defaults(params).chain([*body]).collect(),
            Self::Binary { left, right, .. } => vec![*left, *right],
            Self::If {
                test,
                then,
                otherwise,
            } => [*test, *then].into_iter().chain(*otherwise).collect(),
            Self::Bind {
                targets,
                value,
                annotation,
            } => value
                .iter()
                .chain(targets)
                .chain(annotation)
                .copied()
                .collect(),
            Self::Function(function) => {
                let decorators = function.decorators.iter().copied();
                decorators
                    .chain(defaults(&function.params))
                    .chain(function.body)
                    .collect()
            }
            Self::Class {
                bases,
                decorators,
                body,
                ..
            } => {
                let decorators = decorators.iter().copied();
                decorators
                    .chain(bases.iter().map(|arg| arg.value))
                    .chain([*body])
                    .collect()
            }
            Self::Return(value) | Self::Leave(value) => value.iter().copied().collect(),
        }
    }
}

fn defaults(params: &[Param]) -> impl Iterator<Item = Id> + '_ {
    params.iter().filter_map(|param| param.default)
}

impl Piece {
    /// What a hole is filled with.
    pub const fn value(&self) -> Option<Id> {
        match self {
            Self::Text { .. } => None,
            Self::Hole { value, .. } => *value,
        }
    }
}
