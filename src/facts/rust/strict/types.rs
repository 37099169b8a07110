//! Types: the path that one names, and the expressions that stand in one.

use syn::spanned::Spanned;
use syn::{GenericArgument, Path, PathArguments, QSelf, ReturnType, Type, TypeParamBound};

use crate::facts::rust::reader::Reader;
use crate::facts::rust::strict::{at, over};
use crate::facts::tree::{Id, Kind};
use crate::source::Span;

/// Types that are as good as what they hold.
const HOLDERS: &[&str] = &[
    "Box",
    "Option",
    "Arc",
    "Rc",
    "Pin",
    "Result",
    "Into",
    "From",
    "AsMut",
    "AsRef",
    "Borrow",
    "BorrowMut",
    "DerefMut",
    "Mutex",
    "MutexGuard",
    "RwLock",
    "RefCell",
    "RefMut",
    "Cell",
    "OnceCell",
    "OnceLock",
    "LazyLock",
    "Cow",
    "ManuallyDrop",
];

impl Reader<'_> {
    /// The path that a type names: `Command` for `&mut Command` and `Option<Box<Command>>`.
    pub(super) fn annotation(&mut self, ty: &Type) -> Option<Id> {
        let (path, qself) = named(ty)?;
        Some(self.path(path, qself))
    }

    /// A path, without its generic arguments.
    pub(in crate::facts::rust) fn path(&mut self, path: &Path, qself: Option<&QSelf>) -> Id {
        use syn::ext::IdentExt;
        for segment in &path.segments {
            self.strays_of_arguments(&segment.arguments);
        }
        let (base, skip) = match qself {
            Some(own) if own.position == 0 => {
                self.strays_of(&own.ty);
                let base = named(&own.ty).map(|(path, qself)| self.path(path, qself));
                (
                    Some(base.unwrap_or_else(|| self.nothing(over(&*own.ty)))),
                    0,
                )
            }
            Some(own) => {
                self.strays_of(&own.ty);
                (None, 0)
            }
            None => (None, 0),
        };
        let names: Vec<(String, Span)> = path
            .segments
            .iter()
            .skip(skip)
            .map(|segment| (segment.ident.unraw().to_string(), at(segment.ident.span())))
            .collect();
        self.names(base, &names)
            .unwrap_or_else(|| self.nothing(over(path)))
    }

    /// Puts the expressions of a type aside: array lengths, const generics, macros.
    pub(super) fn strays_of(&mut self, ty: &Type) {
        match ty {
            Type::Array(array) => {
                self.strays_of(&array.elem);
                self.stray_expression(&array.len);
            }
            Type::Group(inner) => self.strays_of(&inner.elem),
            Type::Paren(inner) => self.strays_of(&inner.elem),
            Type::Ptr(inner) => self.strays_of(&inner.elem),
            Type::Reference(inner) => self.strays_of(&inner.elem),
            Type::Slice(inner) => self.strays_of(&inner.elem),
            Type::Tuple(parts) => parts.elems.iter().for_each(|part| self.strays_of(part)),
            Type::Path(own) => {
                if let Some(qself) = &own.qself {
                    self.strays_of(&qself.ty);
                }
                self.strays_of_path(&own.path);
            }
            Type::ImplTrait(own) => own
                .bounds
                .iter()
                .for_each(|bound| self.strays_of_bound(bound)),
            Type::TraitObject(own) => own
                .bounds
                .iter()
                .for_each(|bound| self.strays_of_bound(bound)),
            Type::FnPtr(own) => {
                own.inputs
                    .iter()
                    .for_each(|input| self.strays_of(&input.ty));
                self.strays_of_output(&own.output);
            }
            Type::Macro(own) => {
                let id = self.macro_call(&own.mac).0;
                self.stray.push(id);
            }
            _ => {}
        }
    }

    pub(super) fn strays_of_output(&mut self, output: &ReturnType) {
        if let ReturnType::Type(_, ty) = output {
            self.strays_of(ty);
        }
    }

    pub(super) fn strays_of_bound(&mut self, bound: &TypeParamBound) {
        if let TypeParamBound::Trait(bound) = bound {
            self.strays_of_path(&bound.path);
        }
    }

    fn strays_of_path(&mut self, path: &Path) {
        for segment in &path.segments {
            self.strays_of_arguments(&segment.arguments);
        }
    }

    pub(super) fn strays_of_arguments(&mut self, arguments: &PathArguments) {
        match arguments {
            PathArguments::None => {}
            PathArguments::AngleBracketed(own) => own
                .args
                .iter()
                .for_each(|argument| self.strays_of_argument(argument)),
            PathArguments::Parenthesized(own) => {
                own.inputs
                    .iter()
                    .for_each(|input| self.strays_of(&input.ty));
                self.strays_of_output(&own.output);
            }
        }
    }

    pub(super) fn strays_of_argument(&mut self, argument: &GenericArgument) {
        match argument {
            GenericArgument::Type(ty) => self.strays_of(ty),
            GenericArgument::Const(value) => self.stray_expression(value),
            GenericArgument::AssocType(own) => self.strays_of(&own.ty),
            GenericArgument::AssocConst(own) => self.stray_expression(&own.value),
            GenericArgument::Constraint(own) => own
                .bounds
                .iter()
                .for_each(|bound| self.strays_of_bound(bound)),
            _ => {}
        }
    }

    pub(in crate::facts::rust) fn stray_expression(&mut self, expression: &syn::Expr) {
        if !matches!(expression, syn::Expr::Lit(_) | syn::Expr::Path(_)) {
            let id = self.expression(expression);
            self.stray.push(id);
        }
    }

    /// The path of a type as a base class.
    pub(super) fn base(&mut self, path: &Path) -> Id {
        let id = self.path(path, None);
        if matches!(self.tree.node(id).kind, Kind::Other(_)) {
            return self.nothing(at(path.span()));
        }
        id
    }
}

/// The path that a type names, through references and holders.
pub(super) fn named(ty: &Type) -> Option<(&Path, Option<&QSelf>)> {
    let (path, qself) = match ty {
        Type::Group(inner) => return named(&inner.elem),
        Type::Paren(inner) => return named(&inner.elem),
        Type::Ptr(inner) => return named(&inner.elem),
        Type::Reference(inner) => return named(&inner.elem),
        Type::Path(own) => (&own.path, own.qself.as_ref()),
        Type::ImplTrait(own) => (bound(own.bounds.iter())?, None),
        Type::TraitObject(own) => (bound(own.bounds.iter())?, None),
        _ => return None,
    };
    held(path).and_then(named).or(Some((path, qself)))
}

/// The first trait of some bounds.
pub(super) fn bound<'b>(mut bounds: impl Iterator<Item = &'b TypeParamBound>) -> Option<&'b Path> {
    bounds.find_map(|bound| match bound {
        TypeParamBound::Trait(own) => Some(&own.path),
        _ => None,
    })
}

/// The type that a path holds, if it is a holder.
fn held(path: &Path) -> Option<&Type> {
    let last = path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let holder = HOLDERS.iter().any(|holder| last.ident == holder);
    let first = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    first.filter(|_| holder)
}
