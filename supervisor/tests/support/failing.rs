//! A system call of a traced process that fails, without the system having seen it.

use crate::trace::{Call, Traced};

/// What calls fail with: what they themselves may say, and what they may not.
pub(crate) const ERRORS: [i32; 6] = [
    libc::EAGAIN,
    libc::ENOMEM,
    libc::EMFILE,
    libc::EINTR,
    libc::EPIPE,
    libc::EPERM,
];

/// Calls that cannot fail, or of which nobody could tell; and one that does its work whatever it says.
const SURE: &[libc::c_long] = &[
    libc::SYS_close,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_clock_gettime,
    libc::SYS_restart_syscall,
];

impl Call {
    /// Whether it may fail.
    pub(crate) fn may_fail(self) -> bool {
        !SURE.iter().any(|sure| sure.cast_unsigned() == self.number)
    }
}

impl Traced {
    /// Lets the call at whose beginning it stands fail with `error`; false where tests cannot do that.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn fail(&self, error: i32) -> bool {
        let mut registers = self.registers();
        // No call has this number.
        registers.orig_rax = u64::MAX;
        self.set_registers(&registers);
        if self.to_the_end_of_the_call() {
            let mut registers = self.registers();
            registers.rax = i64::from(-error).cast_unsigned();
            self.set_registers(&registers);
        }
        true
    }

    /// Elsewhere the place of a call's number is another.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn fail(&self, _error: i32) -> bool {
        println!("not run: calls can be made to fail on x86_64 only");
        false
    }

    #[cfg(target_arch = "x86_64")]
    fn registers(&self) -> libc::user_regs_struct {
        let mut registers = std::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
        let place = registers.as_mut_ptr();
        self.request(libc::PTRACE_GETREGS, place.expose_provenance());
        // SAFETY: all zero, or filled by the kernel: numbers either way.
        unsafe { registers.assume_init() }
    }

    #[cfg(target_arch = "x86_64")]
    fn set_registers(&self, registers: &libc::user_regs_struct) {
        let place = std::ptr::from_ref(registers);
        self.request(libc::PTRACE_SETREGS, place.expose_provenance());
    }
}
