//! A system that lets no child be made which shares its maker's memory: there a launcher starts programs.

/// Has the system refuse this process, for good, what an owner asks for to start a child that registers itself.
/// What others start by `clone3` goes on. [seccomp(2)](https://man7.org/linux/man-pages/man2/seccomp.2.html)
pub(crate) fn refuse_shared_memory() {
    const FLAGS: libc::c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    /// Where the kernel puts the call's number, and the low half of its first argument.
    const NUMBER: u32 = 0;
    const FIRST: u32 = if cfg!(target_endian = "little") {
        16
    } else {
        20
    };
    let number = u32::try_from(libc::SYS_clone).expect("a small number");
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let (load, compare, answer) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    let step = |code: u32, k: u32, otherwise: u8| libc::sock_filter {
        code: u16::try_from(code).expect("a small number"),
        jt: 0,
        jf: otherwise,
        k,
    };
    let mut steps = [
        step(load, NUMBER, 0),
        step(compare, number, 3),
        step(load, FIRST, 0),
        step(compare, FLAGS.unsigned_abs(), 1),
        step(answer, refused, 0),
        step(answer, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog {
        len: u16::try_from(steps.len()).expect("few"),
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the kernel copies the program, which ends with an answer on every way through it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) == 0
    };
    assert!(done, "seccomp: {}", std::io::Error::last_os_error());
}
