"""Runs hostile code: inputs go in, arrays and texts come out, answers are never near.

Callers use ``Sandbox`` (``sandbox.py``) with the values of ``job.py``, and ``probe`` to learn what
the host allows; the rest is its inside. It falls into two sides that share three small files:

    trusted, in the service          both sides        inside the jail, believed by nobody
    ───────────────────────          ──────────        ───────────────────────────────────
    sandbox    slots, retries        config            jail       builds it, then guards it
    jailer     starts and ends it    control           zygote     warm master, a fork per job
    layout     what the jail shows   wire              confine    a job's last steps
    seccomp    which calls it makes                    limits  landlock  syscalls  hugepages
    cgroup     memory and threads                      runner     loads files, makes calls
    session    one job's way         job (values,      calling    arguments by position or name
    fork       one child's end       trusted side)     results    arrays out of returned objects
    slot       a place to run a job,                   failures   exceptions in words
               children on standby                     notebook   cells as Python text, and
    line       its control socket                                 notebook_module runs them
    channel    a job's socket                          sources    whether a file is text
    probe      the host's level

What stops what, from the outside in; each layer holds alone for most of what the others stop:

    namespaces      no network, no other process, no other mount (level full)
    mounts          a read-only interpreter, numpy and torch; nothing of the project, no /proc
    outer filter    system calls that not even a zygote needs
    pid namespace   one per job: its end is the end of all that the job started
    tmpfs           one per job: its only writable place, small, gone with it
    resource limits address space, processor time, file size; a control group behind them
    capabilities    none
    Landlock        read what is shown, write the own directory; no signal leaves
    job filter      an allow-list of system calls

The files that run inside import one another relatively: there they are the package ``jailed``, of
which only those files are mounted, and only until they are imported. The lines of defence do not
rest on a job's good will at any point: what comes out is read by ``wire.receive`` and
``session.Session`` alone, which bound it, type it and never evaluate it.
"""
