//! Functions and classes.

use tree_sitter::Node;

use super::statements::colon;
use super::{Child, Tolerant, children, field, named, span};
use crate::facts::python::build::normal;
use crate::facts::tree::{Function, Id, Kind};
use crate::source::Span;

impl<'a> Tolerant<'a> {
    pub(super) fn decorated(&mut self, own: &[Child<'a>], start: u32, out: &mut Vec<Id>) -> u32 {
        let decorators: Vec<Node<'a>> = own
            .iter()
            .map(|child| child.node)
            .filter(|node| node.kind() == "decorator")
            .collect();
        let Some(definition) = field(own, "definition") else {
            return start;
        };
        let inner = children(definition);
        match definition.kind() {
            "class_definition" => self.class(definition, &inner, &decorators, start, out),
            _ => self.function(definition, &inner, &decorators, start, out),
        }
    }

    pub(super) fn decorators(&mut self, decorators: &[Node<'a>]) -> Vec<Id> {
        let values: Vec<Node<'a>> = decorators.iter().flat_map(|own| named(*own)).collect();
        self.values(&values)
    }

    pub(super) fn function(
        &mut self,
        node: Node<'a>,
        own: &[Child<'a>],
        decorators: &[Node<'a>],
        start: u32,
        out: &mut Vec<Id>,
    ) -> u32 {
        let decorators = self.decorators(decorators);
        self.type_params(field(own, "type_parameters"), out);
        let params = self.params(field(own, "parameters"), out);
        if let Some(returns) = field(own, "return_type") {
            let returns = self.value(returns);
            let found = self.b.annotation(returns);
            out.extend(found.rest);
        }
        let name_span = field(own, "name").map_or(span(node), span);
        let name = normal(self.b.slice(name_span));
        let after = colon(own).unwrap_or(span(node).end);
        let (body, end) = self.block(field(own, "body"), after, true);
        self.compound(own, start, end);
        let function = Function {
            name,
            name_span,
            params,
            body: Some(body),
            decorators,
            foreign: false,
            link_name: None,
        };
        let whole = Span {
            start: span(node).start,
            end,
        };
        out.push(self.b.add(Kind::Function(function), whole));
        end
    }

    pub(super) fn class(
        &mut self,
        node: Node<'a>,
        own: &[Child<'a>],
        decorators: &[Node<'a>],
        start: u32,
        out: &mut Vec<Id>,
    ) -> u32 {
        let decorators = self.decorators(decorators);
        self.type_params(field(own, "type_parameters"), out);
        let bases = field(own, "superclasses")
            .map(|list| self.args(list))
            .unwrap_or_default();
        let name = field(own, "name").map(|name| normal(self.b.slice(span(name))));
        let after = colon(own).unwrap_or(span(node).end);
        let (body, end) = self.block(field(own, "body"), after, true);
        self.compound(own, start, end);
        let kind = Kind::Class {
            name: name.unwrap_or_default(),
            bases,
            decorators,
            body,
        };
        let whole = Span {
            start: span(node).start,
            end,
        };
        out.push(self.b.add(kind, whole));
        end
    }
}
