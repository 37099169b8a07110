//! Statements.

use tree_sitter::Node;

use super::{Child, Tolerant, children, field, fields, named, span, token};
use crate::facts::python::build::{DEEPEST, normal};
use crate::facts::tree::{Id, Kind, Op};
use crate::source::Span;

impl<'a> Tolerant<'a> {
    /// Lowers a statement and gives its end: a node of tree-sitter may reach over comments.
    pub(super) fn statement(&mut self, node: Node<'a>, out: &mut Vec<Id>) -> u32 {
        let start = span(node).start;
        let own = children(node);
        let (id, end) = match node.kind() {
            "function_definition" => return self.function(node, &own, &[], start, out),
            "class_definition" => return self.class(node, &own, &[], start, out),
            "decorated_definition" => return self.decorated(&own, start, out),
            "if_statement" => self.condition(&own, start),
            "while_statement" => self.while_loop(&own, start),
            "for_statement" => self.loop_over(&own, start),
            "with_statement" => self.with(&own, start),
            "try_statement" => self.attempt(&own, start),
            "match_statement" => self.choice(&own, start),
            "ERROR" => {
                let nodes: Vec<_> = own.iter().map(|child| child.node).collect();
                self.recover(&nodes, out);
                return span(node).end;
            }
            _ => {
                let whole = span(node);
                self.b.statement(whole, whole);
                (self.simple(node, &own, out), whole.end)
            }
        };
        out.push(id);
        end
    }

    fn simple(&mut self, node: Node<'a>, own: &[Child<'a>], out: &mut Vec<Id>) -> Id {
        let whole = span(node);
        let kind = match node.kind() {
            "expression_statement" => match *named(node) {
                [only] if only.kind() == "assignment" => return self.assignment(only, out),
                [only] if token(own, ",").is_none() => return self.value(only),
                _ => Kind::List(self.values(&named(node))),
            },
            "return_statement" => Kind::Return(named(node).first().map(|own| self.value(*own))),
            "raise_statement" => {
                let parts = self.values(&named(node));
                Kind::Leave(match *parts {
                    [] => None,
                    [only] => Some(only),
                    _ => Some(self.b.add(Kind::Other(parts), whole)),
                })
            }
            "break_statement" | "continue_statement" => Kind::Leave(None),
            "global_statement" | "nonlocal_statement" => {
                let names = named(node).into_iter();
                let names = names.map(|name| normal(self.b.slice(span(name))));
                Kind::Outer {
                    names: names.collect(),
                    of_file: node.kind() == "global_statement",
                }
            }
            "pass_statement" => Kind::Other(Vec::new()),
            "import_statement" => Kind::Import(self.imports(own)),
            "import_from_statement" | "future_import_statement" => {
                Kind::Import(self.imports_from(own))
            }
            "delete_statement" => {
                let mut parts = named(node);
                if let [only] = *parts
                    && only.kind() == "expression_list"
                {
                    parts = named(only);
                }
                Kind::Other(self.values(&parts))
            }
            "type_alias_statement" => {
                let target = field(own, "left").map(|left| self.alias(left, out));
                let value = field(own, "right").map(|right| self.value(right));
                return self
                    .b
                    .bind(target.into_iter().collect(), value, None, whole);
            }
            "print_statement" => match named(node).split_first() {
                Some((to, rest)) if to.kind() == "chevron" => {
                    return self.print_to(whole, *to, rest, token(own, ",").is_some());
                }
                _ => Kind::Other(self.values(&named(node))),
            },
            "assert_statement" | "exec_statement" => Kind::Other(self.values(&named(node))),
            _ => return self.value(node),
        };
        self.b.add(kind, whole)
    }

    /// `print >> to, rest`, which is an expression since Python 3.
    fn print_to(&mut self, whole: Span, to: Node<'a>, rest: &[Node<'a>], tuple: bool) -> Id {
        let word = whole.start as usize;
        let word = Span::new(word, word + "print".len());
        let left = self.b.name(self.b.slice(word), word);
        let right = named(to).first().map(|to| self.value(*to));
        let right = right.unwrap_or_else(|| self.b.nothing(span(to)));
        let op = Op::Other;
        let first = self
            .b
            .add(Kind::Binary { op, left, right }, word.to(span(to)));
        if !tuple {
            return first;
        }
        let mut items = vec![first];
        items.extend(self.values(rest));
        self.b.add(Kind::List(items), whole)
    }

    /// The name in `type Name[T] = …`.
    fn alias(&mut self, left: Node<'a>, out: &mut Vec<Id>) -> Id {
        let inner = Self::unwrapped(left);
        if inner.kind() != "generic_type" {
            return self.value(inner);
        }
        let parts = named(inner);
        for params in parts.iter().skip(1) {
            self.type_params(Some(*params), out);
        }
        match parts.first() {
            Some(name) => self.value(*name),
            None => self.b.nothing(span(left)),
        }
    }

    /// `a = b = value`, `a: T = value`.
    fn assignment(&mut self, node: Node<'a>, out: &mut Vec<Id>) -> Id {
        let mut targets = Vec::new();
        let mut annotation = None;
        let mut next = Some(node);
        let mut value = None;
        while let Some(own) = next.take() {
            if own.kind() != "assignment" {
                value = Some(self.value(own));
                break;
            }
            let own = children(own);
            targets.extend(field(&own, "left").map(|left| self.value(left)));
            if let Some(hint) = field(&own, "type") {
                let hint = self.value(hint);
                let found = self.b.annotation(hint);
                out.extend(found.rest);
                annotation = found.path;
            }
            next = field(&own, "right");
        }
        self.b.bind(targets, value, annotation, span(node))
    }

    /// Notes a compound statement; its header ends at its first colon outside other nodes.
    pub(super) fn compound(&mut self, own: &[Child<'a>], start: u32, end: u32) {
        let whole = Span { start, end };
        self.b.statement(
            whole,
            Span {
                start,
                end: colon(own).unwrap_or(end),
            },
        );
    }

    /// A condition's or a clause's test and body, and where it ends.
    fn branch(&mut self, own: &[Child<'a>], start: u32) -> (Id, Id, u32) {
        let after = colon(own).unwrap_or(start);
        let test = field(own, "condition").map(|test| self.value(test));
        let test = test.unwrap_or_else(|| self.b.nothing(Span { start, end: after }));
        let (then, end) = self.block(field(own, "consequence"), after, false);
        (test, then, end)
    }

    fn condition(&mut self, own: &[Child<'a>], start: u32) -> (Id, u32) {
        let depth = self.b.depth;
        let (test, then, mut end) = self.branch(own, start);
        let mut branches = vec![(test, then, start)];
        let mut last = None;
        for clause in fields(own, "alternative") {
            let (start, parts) = (span(clause).start, children(clause));
            if clause.kind() == "elif_clause" {
                self.b.deeper();
                let (test, then, to) = self.branch(&parts, start);
                self.compound(&parts, start, to);
                branches.push((test, then, start));
                end = to;
            } else {
                let (id, to) = self.clause(clause);
                last = Some(id);
                end = to;
            }
        }
        self.b.depth = depth;
        self.compound(own, start, end);
        let whole = |(test, then, start)| (test, then, Span { start, end });
        let branches: Vec<_> = branches.into_iter().map(whole).collect();
        let id = self
            .b
            .chain(&branches, last, 1 + DEEPEST.saturating_sub(depth));
        (id.unwrap_or(test), end)
    }

    /// An `else` or `finally`: a statement of its own. Gives its body and end.
    fn clause(&mut self, clause: Node<'a>) -> (Id, u32) {
        let parts = children(clause);
        let body = parts
            .iter()
            .map(|child| child.node)
            .find(|node| node.kind() == "block");
        let after = colon(&parts).unwrap_or(span(clause).end);
        let (id, end) = self.block(body, after, false);
        self.compound(&parts, span(clause).start, end);
        (id, end)
    }

    fn while_loop(&mut self, own: &[Child<'a>], start: u32) -> (Id, u32) {
        let after = colon(own).unwrap_or(start);
        let test = field(own, "condition").map(|test| self.value(test));
        let test = test.unwrap_or_else(|| self.b.nothing(Span { start, end: after }));
        let (then, mut end) = self.block(field(own, "body"), after, false);
        let orelse = field(own, "alternative").map(|clause| self.clause(clause));
        end = orelse.map_or(end, |(_, to)| to);
        self.compound(own, start, end);
        let whole = Span { start, end };
        let id = self.b.add(
            Kind::If {
                test,
                then,
                otherwise: None,
            },
            whole,
        );
        match orelse {
            Some((orelse, _)) => (self.b.add(Kind::Other(vec![id, orelse]), whole), end),
            None => (id, end),
        }
    }

    fn loop_over(&mut self, own: &[Child<'a>], start: u32) -> (Id, u32) {
        let after = colon(own).unwrap_or(start);
        let mut parts = Vec::new();
        if let Some((target, over)) = field(own, "left").zip(field(own, "right")) {
            parts.push(self.each(target, &[over]));
        }
        let (body, mut end) = self.block(field(own, "body"), after, false);
        parts.push(body);
        if let Some(clause) = field(own, "alternative") {
            let (orelse, to) = self.clause(clause);
            parts.push(orelse);
            end = to;
        }
        self.compound(own, start, end);
        (self.b.add(Kind::Other(parts), Span { start, end }), end)
    }

    fn with(&mut self, own: &[Child<'a>], start: u32) -> (Id, u32) {
        let clauses = own
            .iter()
            .map(|child| child.node)
            .filter(|own| own.kind() == "with_clause");
        let mut items: Vec<Node<'a>> = clauses.flat_map(named).flat_map(named).collect();
        if let [only] = *items
            && only.kind() == "tuple"
            && let inner @ [_, ..] = &*named(only)
        {
            items = inner.to_vec();
        }
        let mut parts: Vec<Id> = items.into_iter().map(|item| self.entered(item)).collect();
        let after = colon(own).unwrap_or(start);
        let (body, end) = self.block(field(own, "body"), after, false);
        parts.push(body);
        self.compound(own, start, end);
        (self.b.add(Kind::Other(parts), Span { start, end }), end)
    }

    fn entered(&mut self, item: Node<'a>) -> Id {
        let (value, target) = self.aliased(item);
        let target = target.map(|target| self.value(target));
        self.b.entered(value, target)
    }

    fn choice(&mut self, own: &[Child<'a>], start: u32) -> (Id, u32) {
        let mut subjects = self.values(&fields(own, "subject"));
        let after = colon(own).unwrap_or(start);
        let mut end = after;
        let mut arms = Vec::new();
        let body = field(own, "body").map(named).unwrap_or_default();
        for case in body {
            if case.kind() == "case_clause" {
                let (id, to) = self.case(case);
                arms.push(id);
                end = to;
            } else {
                end = self.statement(case, &mut arms);
            }
        }
        self.compound(own, start, end);
        let whole = Span { start, end };
        let subject = match (&*subjects, token(own, ",")) {
            ([only], None) => *only,
            _ => self.list(std::mem::take(&mut subjects)),
        };
        let arms = self.b.add(Kind::Choice(arms), whole);
        (self.b.add(Kind::Other(vec![subject, arms]), whole), end)
    }

    fn case(&mut self, case: Node<'a>) -> (Id, u32) {
        let own = children(case);
        let start = span(case).start;
        let mut parts: Vec<Id> = self.captures(&own).into_iter().collect();
        let guards = field(&own, "guard").map(named).unwrap_or_default();
        parts.extend(self.values(&guards));
        let after = colon(&own).unwrap_or(start);
        let (body, end) = self.block(field(&own, "consequence"), after, false);
        parts.push(body);
        self.compound(&own, start, end);
        (self.b.add(Kind::Block(parts), Span { start, end }), end)
    }

    fn attempt(&mut self, own: &[Child<'a>], start: u32) -> (Id, u32) {
        let after = colon(own).unwrap_or(start);
        let (body, mut end) = self.block(field(own, "body"), after, false);
        let mut parts = vec![body];
        let depth = self.b.depth;
        let (mut branches, mut orelse, mut last) = (Vec::new(), None, None);
        for clause in own.iter().map(|child| child.node) {
            match clause.kind() {
                "except_clause" => {
                    self.b.deeper();
                    let branch = self.handler(clause);
                    end = branch.2.end;
                    branches.push(branch);
                }
                "else_clause" => {
                    let (id, to) = self.clause(clause);
                    (orelse, end) = (Some(id), to);
                }
                "finally_clause" => {
                    self.b.depth = depth;
                    let (id, to) = self.clause(clause);
                    (last, end) = (Some(id), to);
                }
                "ERROR" => parts.push(self.value(clause)),
                _ => {}
            }
        }
        self.b.depth = depth;
        parts.extend(
            self.b
                .chain(&branches, orelse, DEEPEST.saturating_sub(depth)),
        );
        parts.extend(last);
        self.compound(own, start, end);
        (self.b.add(Kind::Other(parts), Span { start, end }), end)
    }

    fn handler(&mut self, clause: Node<'a>) -> (Id, Id, Span) {
        let own = children(clause);
        let start = span(clause).start;
        let mut types = Vec::new();
        for value in fields(&own, "value") {
            let (value, name) = self.aliased(value);
            types.push(value);
            types.extend(name.map(|name| self.bound(name)));
        }
        types.extend(field(&own, "alias").map(|name| self.bound(name)));
        let body = own
            .iter()
            .map(|child| child.node)
            .find(|node| node.kind() == "block");
        let after = colon(&own).unwrap_or(start);
        let (body, end) = self.block(body, after, false);
        self.compound(&own, start, end);
        let whole = Span { start, end };
        (self.b.add(Kind::Other(types), whole), body, whole)
    }

    fn bound(&mut self, name: Node<'a>) -> Id {
        let name = self.value(name);
        let own = self.b.tree.node(name).span;
        self.b.bind(vec![name], None, None, own)
    }
}

/// The end of the colon that opens the body.
pub(super) fn colon(own: &[Child<'_>]) -> Option<u32> {
    token(own, ":").map(|node| span(node).end)
}
