//! Which calls made what an expression stands for.

use super::File;
use super::spaces::Binding;
use crate::facts::tree::{Id, Kind};

/// How many links of chains, and variables, are followed.
const MAX_STEPS: usize = 256;

/// The innermost call of the chain at `id`, which stands in `space`, through the variables and the
/// attributes of the own class that hold it: `x` after `x = make().set()` gives `make()`, and so does
/// its `x.stdin`. Each is
/// given once; `is_root` says where else to stop.
pub(super) fn of(file: &File<'_>, id: Id, space: usize, is_root: &dyn Fn(&Id) -> bool) -> Vec<Id> {
    let mut search = Search {
        file,
        is_root,
        seen: Vec::new(),
        found: Vec::new(),
    };
    search.follow(id, space);
    search.found
}

struct Search<'a> {
    file: &'a File<'a>,
    is_root: &'a dyn Fn(&Id) -> bool,
    /// A variable may be made from itself: `x = x[0]`.
    seen: Vec<(Id, usize)>,
    found: Vec<Id>,
}

impl Search<'_> {
    fn follow(&mut self, id: Id, space: usize) {
        if self.seen.len() > MAX_STEPS || self.seen.contains(&(id, space)) {
            return;
        }
        self.seen.push((id, space));
        if (self.is_root)(&id) {
            return self.found.push(id);
        }
        match &self.file.node(id).kind {
            Kind::Call { callee, .. } => match &self.file.node(*callee).kind {
                Kind::Attr {
                    base, path: false, ..
                } => self.inward(id, *base, space),
                _ => self.found.push(id),
            },
            Kind::Index { base, .. } => self.inward(id, *base, space),
            Kind::Name(name) => self.all(self.file.bindings(name, id, space)),
            Kind::Attr { base, name, .. } => {
                if let Kind::Name(object) = &self.file.node(*base).kind
                    && let Some(class) = self.file.spaces.class_of_self(object, space)
                {
                    let set = self.file.set_before(*base, name, id, space);
                    let member = || self.file.spaces.member(class, name);
                    self.all(set.unwrap_or_else(member).iter());
                } else if name == "stdin" {
                    // Whose pipe it is.
                    self.follow(*base, space);
                }
            }
            Kind::Tail(inner) => self.follow(*inner, space),
            _ => {}
        }
    }

    /// The maker of `base`; if it has none, what stands at `id` is one.
    fn inward(&mut self, id: Id, base: Id, space: usize) {
        let before = self.found.len();
        self.follow(base, space);
        if self.found.len() == before {
            self.found.push(id);
        }
    }

    fn all<'b>(&mut self, bindings: impl IntoIterator<Item = &'b Binding>) {
        for binding in bindings {
            if let Binding::Node(id, at) = binding {
                self.follow(*id, *at);
            }
        }
    }
}
