"""Which system calls a job and its zygote may make. Compiled here, on the trusted side.

Inside the jail libseccomp cannot be found (and is not there), so programs go in as bytes.

A job has an allow-list. Calls outside it fail with EPERM, which student code meets as an ordinary
PermissionError; those that only an attack makes end the process at once.
"""

import errno
import os
import platform
import struct
from functools import cache
from types import ModuleType
from typing import Any

from app.errors import SandboxUnavailable
from app.sandbox.syscalls import ARCHITECTURE

_COMPUTE = """
    brk madvise membarrier mmap mprotect mremap msync munmap
    futex get_robust_list set_robust_list rseq set_tid_address restart_syscall
    clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time times
    getcpu getrandom getrlimit getrusage sched_getaffinity sched_yield sysinfo uname
    rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack
    getegid geteuid getgid getgroups getpid getppid getresgid getresuid gettid getuid
    exit exit_group
"""
_FILES = """
    access faccessat faccessat2 chdir getcwd close dup dup2 dup3 fcntl
    fstat getdents64 lseek lstat newfstatat open openat readlink readlinkat stat statx umask
    poll ppoll select pselect6 pipe pipe2
    pread64 pwrite64 read readv write writev
"""
_WORK_DIRECTORY = """
    chmod fallocate fchmod fchmodat fdatasync flock fsync ftruncate mkdir mkdirat
    rename renameat renameat2 rmdir truncate unlink unlinkat utimensat
"""
_ATTACKS = """
    acct add_key bpf chroot delete_module finit_module init_module io_uring_enter
    io_uring_register io_uring_setup ioperm iopl kcmp kexec_load keyctl modify_ldt mount
    move_mount open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
    process_vm_readv process_vm_writev ptrace quotactl reboot request_key setns swapoff swapon
    umount2 userfaultfd
"""
_NEVER_IN_A_ZYGOTE = """
    accept accept4 acct add_key bind bpf clock_settime connect delete_module execve execveat
    finit_module init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp
    kexec_file_load kexec_load keyctl listen memfd_secret modify_ldt mq_open msgget
    name_to_handle_at open_by_handle_at perf_event_open pidfd_getfd pivot_root
    process_vm_readv process_vm_writev ptrace reboot request_key semget sethostname
    settimeofday shmat shmget socket swapoff swapon userfaultfd
"""

_CLONE_THREAD = 0x0001_0000
_CLONE_NEW_ANYTHING = 0x7E02_0080
_FIRST_PROCESS = 1
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_FIONREAD, _FIONBIO, _FIONCLEX, _FIOCLEX = 0x541B, 0x5421, 0x5450, 0x5451
_TCGETS, _TIOCGWINSZ = 0x5401, 0x5413


@cache
def job_filter(own_pids: bool = True) -> bytes:
    """The allow-list of a job. ``own_pids``: it is process 1 of a pid namespace of its own."""
    seccomp = _libseccomp()
    allow, kill = seccomp.ALLOW, seccomp.KILL_PROCESS
    equal, masked = seccomp.EQ, seccomp.MASKED_EQ
    policy = _policy(seccomp, seccomp.ERRNO(errno.EPERM))
    for name in (_COMPUTE + _FILES + _WORK_DIRECTORY).split():
        policy.add_rule(allow, name)
    for name in _ATTACKS.split():
        policy.add_rule(kill, name)
    # Threads, but no process and no namespace. clone3 hides its flags in memory where no filter
    # can look; ENOSYS makes the C library fall back to clone.
    flags = seccomp.Arg(0, masked, _CLONE_THREAD | _CLONE_NEW_ANYTHING, _CLONE_THREAD)
    policy.add_rule(allow, "clone", flags)
    policy.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    if own_pids:  # a signal to one of its own threads, as abort() sends
        policy.add_rule(allow, "tgkill", seccomp.Arg(0, equal, _FIRST_PROCESS))
    for option in (_PR_SET_NAME, _PR_GET_NAME):
        policy.add_rule(allow, "prctl", seccomp.Arg(0, equal, option))
    # Reading its own limits, not setting any.
    own, read_only = seccomp.Arg(0, equal, 0), seccomp.Arg(2, equal, 0)
    policy.add_rule(allow, "prlimit64", own, read_only)
    for request in (_FIONREAD, _FIONBIO, _FIONCLEX, _FIOCLEX):
        policy.add_rule(allow, "ioctl", seccomp.Arg(1, equal, request))
    for request in (_TCGETS, _TIOCGWINSZ):  # how isatty() learns that this is no terminal
        policy.add_rule(seccomp.ERRNO(errno.ENOTTY), "ioctl", seccomp.Arg(1, equal, request))
    return _compile(policy)


@cache
def zygote_filter() -> bytes:
    """The deny-list of the zygotes, which still fork, mount and change namespaces."""
    seccomp = _libseccomp()
    policy = _policy(seccomp, seccomp.ALLOW)
    for name in _NEVER_IN_A_ZYGOTE.split():
        policy.add_rule(seccomp.ERRNO(errno.EPERM), name)
    return _compile(policy)


def _libseccomp() -> ModuleType:
    machine = platform.machine()
    if machine != ARCHITECTURE:
        raise SandboxUnavailable(
            f"this machine is {machine}; the sandbox's filters are tested on {ARCHITECTURE} only"
        )
    try:
        import pyseccomp
    except (ImportError, RuntimeError, OSError) as error:
        raise SandboxUnavailable(
            f"libseccomp.so.2 cannot be loaded ({error}); "
            "install the system package libseccomp2 (or libseccomp)"
        ) from error
    module: ModuleType = pyseccomp
    return module


def _policy(seccomp: ModuleType, default: object) -> Any:
    policy = seccomp.SyscallFilter(default)
    # Calls by another architecture's numbers (int 0x80, x32) are an attack by themselves.
    policy.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    return policy


def _compile(policy: Any) -> bytes:
    with open(os.memfd_create("seccomp"), "w+b") as file:
        policy.export_bpf(file)
        file.seek(0)
        program = file.read()
    assert len(program) % struct.calcsize("HBBI") == 0
    return program
