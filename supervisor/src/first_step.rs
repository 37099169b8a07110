//! A command before its first step: a fork of its keeper, which waits for the word and then becomes the
//! program. What has to be so before anything of it runs is done meanwhile.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{OwnedFd, RawFd};

use crate::command::{Prepared, c_variable};
use crate::launch;
use crate::sys;

/// The program to become, in the words of the system: made before the fork, which then needs no memory.
pub(crate) struct FirstStep<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) directory: Option<&'a CStr>,
    /// From a descriptor here to its number there, carried out in this order.
    pub(crate) descriptors: Vec<(RawFd, RawFd)>,
}

impl<'a> FirstStep<'a> {
    /// That of a command.
    pub(crate) fn of(prepared: &'a Prepared) -> io::Result<Self> {
        let variables = prepared.environment.iter();
        let environment: io::Result<_> = variables
            .map(|(name, value)| c_variable(name, value))
            .collect();
        Ok(Self {
            path: &prepared.path,
            arguments: launch::plain_arguments(prepared),
            environment: environment?,
            directory: prepared.directory.as_deref(),
            descriptors: prepared.descriptors(),
        })
    }

    /// Waits for a byte from `go`, whose end means that the keeper is gone, and becomes the program after
    /// `ready`. Returns the status of a failure.
    pub(crate) fn take(&self, go: OwnedFd, ready: impl FnOnce()) -> u8 {
        if !matches!(File::from(go).read(&mut [0]), Ok(1)) {
            return launch::NOT_FOUND;
        }
        let placed = self
            .descriptors
            .iter()
            .try_for_each(|(here, there)| sys::place(*here, *there));
        let entered = self.directory.map_or(Ok(()), sys::enter);
        if placed.and(entered).is_err() {
            return launch::NOT_RUN;
        }
        ready();
        sys::block_nothing();
        launch::become_program(self.path, &self.arguments, Some(&self.environment))
    }
}
