//! Annotations: the path that they name, and calls in them that must not be lost.

use super::{Build, normal};
use crate::facts::tree::{Id, Kind, Op, Param};

/// Why a Python annotation may matter.
pub(in crate::facts::python) struct Annotation {
    /// The path it names: `Popen` for `Optional[Popen]`.
    pub(in crate::facts::python) path: Option<Id>,
    /// All of it, if it calls something and so must not be lost.
    pub(in crate::facts::python) rest: Option<Id>,
}

impl Build<'_> {
    /// What matters of an annotation that was lowered like any expression.
    pub(in crate::facts::python) fn annotation(&mut self, id: Id) -> Annotation {
        let path = self.named(id);
        let rest = if path.is_none() && self.calls(id) {
            Some(id)
        } else {
            None
        };
        Annotation { path, rest }
    }

    /// The path that an annotation names.
    fn named(&self, id: Id) -> Option<Id> {
        match &self.tree.node(id).kind {
            Kind::Name(_) | Kind::Attr { .. } => self.is_path(id).then_some(id),
            Kind::Index {
                base,
                index: Some(index),
            } if self.is_wrapper(*base) => match &self.tree.node(*index).kind {
                Kind::List(items) => self.named(*items.first()?),
                _ => self.named(*index),
            },
            Kind::Binary {
                op: Op::Or,
                left,
                right,
            } => {
                let nothing = |id: Id| matches!(self.tree.node(id).kind, Kind::Nothing);
                if nothing(*right) {
                    self.named(*left)
                } else if nothing(*left) {
                    self.named(*right)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Whether `base[X]` is an annotation that means X.
    fn is_wrapper(&self, base: Id) -> bool {
        let (Kind::Name(name) | Kind::Attr { name, .. }) = &self.tree.node(base).kind else {
            return false;
        };
        matches!(name.as_str(), "Optional" | "Final" | "ClassVar")
    }

    /// Whether the node is a name, or attributes of one.
    pub(in crate::facts::python) fn is_path(&self, mut id: Id) -> bool {
        loop {
            match &self.tree.node(id).kind {
                Kind::Name(_) => return true,
                Kind::Attr { base, .. } => id = *base,
                _ => return false,
            }
        }
    }

    /// Whether a call lies in the node. A child comes before its parent, and an annotation is
    /// lowered in one go: so its nodes are those just before it, inside its span.
    fn calls(&self, id: Id) -> bool {
        let span = self.tree.node(id).span;
        let own = self.tree.nodes.get(..=id.0 as usize).unwrap_or_default();
        let inside = own.iter().rev().take_while(|node| span.contains(node.span));
        inside
            .into_iter()
            .any(|node| matches!(node.kind, Kind::Call { .. }))
    }

    /// Adds a parameter.
    pub(in crate::facts::python) fn param(
        &mut self,
        param: &Param,
        annotation: Option<Id>,
        params: &mut Vec<Param>,
        extras: &mut Vec<Id>,
    ) {
        let found = annotation.map(|id| self.annotation(id));
        let path = found.as_ref().and_then(|found| found.path);
        extras.extend(found.and_then(|found| found.rest));
        params.push(Param {
            name: normal(&param.name),
            annotation: path,
            ..*param
        });
    }
}
