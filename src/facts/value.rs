//! What a value says of itself: its alternatives, its truth, what it may be.

use std::rc::Rc;

use super::{Item, ScopeId, Value};

/// Yes, no, or only known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// In every case that matters.
    Yes,
    /// Never.
    No,
    /// It depends.
    Maybe,
}

impl Value {
    /// A list of these.
    pub fn list(items: Vec<Item>) -> Self {
        Self::List(Rc::new(items))
    }

    /// A dictionary of these.
    pub fn dict(entries: Vec<(String, Self)>) -> Self {
        Self::Dict(Rc::new(entries))
    }

    /// The alternatives that it may be, of which none has others; itself, if there is one.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::OneOf(values) => values,
            _ => std::slice::from_ref(self),
        }
    }

    /// Whether it is true as Python sees it; yes if one alternative is.
    pub fn truth(&self) -> Truth {
        let truths = || self.each().iter().map(Self::own_truth);
        if truths().any(|truth| truth == Truth::Yes) {
            Truth::Yes
        } else if truths().any(|truth| truth == Truth::Maybe) {
            Truth::Maybe
        } else {
            Truth::No
        }
    }

    fn own_truth(&self) -> Truth {
        let known = |yes: bool| if yes { Truth::Yes } else { Truth::No };
        match self {
            Self::Nothing => Truth::No,
            Self::Bool(value) => known(*value),
            Self::Int(value) => known(*value != 0),
            Self::Text(text) => known(!text.text.is_empty()),
            Self::List(items) => known(!items.is_empty()),
            Self::Dict(entries) => known(!entries.is_empty()),
            Self::Code(_) | Self::Partial(..) => Truth::Yes,
            Self::Unknown | Self::Path(_) | Self::Made(_) | Self::Bits(_) | Self::OneOf(_) => {
                Truth::Maybe
            }
        }
    }

    /// Whether one alternative is a path in `paths`.
    pub fn is_path(&self, paths: &[&str]) -> bool {
        self.each().iter().any(|value| match value {
            Self::Path(own) => own.iter().any(|path| paths.contains(&path.as_str())),
            _ => false,
        })
    }

    /// Whether one alternative was made by one of `makers` (`os.getpgrp()`).
    pub fn is_made(&self, makers: &[&str]) -> bool {
        self.each()
            .iter()
            .any(|value| matches!(value, Self::Made(own) if makers.contains(&own.as_str())))
    }

    /// The functions of this file that it may be.
    pub fn code(&self) -> Vec<ScopeId> {
        let own = |value: &Self| match value {
            Self::Code(scope) => Some(*scope),
            Self::Partial(inner, _) => match **inner {
                Self::Code(scope) => Some(scope),
                _ => None,
            },
            _ => None,
        };
        self.each().iter().filter_map(own).collect()
    }

    /// The integer that it is, if it is one and nothing else.
    pub fn int(&self) -> Option<i128> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }
}
