"""The programs whose stacks are known, and which stacks those are: expressions over names, outermost first.

A sample may meet each function of a chain between its calls, however short that is: each beginning of a chain is a true
stack, so each further function is an option of its own, inside the one before."""

import collections
import os
import re

from exactness import PROGRAMS

LIBC_START = r"_start libc\.so\.6 libc\.so\.6 main "
THREAD_START = r"libc\.so\.6 libc\.so\.6 "
# Callees that have no name of ours: libraries, the loader, the vdso; stubs lie behind _init.
FOREIGN = (r"(\S+\.so(\.\d+)* |\[vdso\] |_init |_fini |call_weak_fn |__do_global_dtors_aux |frame_dummy |"
           r"(de)?register_tm_clones )*")
# By which a handler returns: the C library's on x86-64, the kernel's on aarch64.
TRAMPOLINE = r"(libc\.so\.6|\[vdso\])"
IN_SIGNAL = rf"run_signals (signal_outer (signal_inner (spin )?)?({TRAMPOLINE} (on_signal (handler_inner (spin )?)?)?)?)?"
LEAF = "leaf_spin"

# words: for the driver.
Known = collections.namedtuple("Known", "command pattern words", defaults=((),))


def path(name):
    return os.path.join(PROGRAMS, name)


def chain(depth, threads=2):
    pattern = rf"({LIBC_START}|{THREAD_START})(worker (f_\d+ )*({LEAF} )?)?"
    return Known((path(f"chain_{depth}"), str(threads)), pattern)


def chain_is_exact(names, depth):
    """A stack of the leaf: every function of the chain, in order."""
    return [name for name in names if name.startswith("f_")] == [f"f_{i:04}" for i in range(depth)]


def zoo(kind, pattern, words=()):
    return Known((path("zoo"), kind, path("libzoo_plugin.so")), pattern, words)


# __cxa_end_catch is a tail call.  And while libgcc installs the handler's registers it writes the
# handler's return address into its own frame: for that moment the stack itself has one frame twice,
# or the handler's caller is looked for, a guess.
THROWING = rf"{LIBC_START}(catch_all ){{0,2}}(throw_level )*{FOREIGN}"
# The first moments of a new image are the loader's, then main looks for what it is to run.
EXECUTED = rf"({LIBC_START}(run_exec (executed_work (spin )?|{FOREIGN})|{FOREIGN})|{FOREIGN}|_start {FOREIGN})"
# Made code has no name.
MADE = rf"{LIBC_START}(made_outer (made_inner ( (made_leaf )?)?)?)?"

KNOWN = {
    "plt": zoo("plt", rf"{LIBC_START}plt_outer (plt_inner (zoo_library_step |\S+ )?)?"),
    "signal": zoo("signal", rf"{LIBC_START}run_signal ({IN_SIGNAL})?"),
    "altstack": zoo("altstack", rf"{LIBC_START}run_altstack ({IN_SIGNAL})?"),
    "alloca": zoo("alloca", rf"{LIBC_START}run_alloca (alloca_aligned (alloca_inner (spin )?)?)?"),
    "room": zoo("room", rf"{LIBC_START}run_room (room_outer (room_inner (spin )?)?)?"),
    "hole": zoo("hole", rf"{LIBC_START}run_hole (hole_outer (hole_inner (spin )?)?)?"),
    "vdso": zoo("vdso", rf"{LIBC_START}run_vdso {FOREIGN}"),
    "dlopen": zoo("dlopen", rf"{LIBC_START}run_dlopen (zoo_library_call (spin )?|{FOREIGN})"),
    "fork": zoo("fork", rf"{LIBC_START}run_fork (forked_work (spin )?|{FOREIGN})", ("children",)),
    "exec": zoo("exec", EXECUTED),
    "made": Known((path("made_code"),), MADE),
    "made_edges": Known((path("made_edges"),), rf"{LIBC_START}(call_made (  ?)?)?"),
    "made_bare": Known((path("made_code_bare"),), MADE),
    "exceptions": Known((path("throwing"),), THROWING),
    "exceptions_framed": Known((path("throwing_framed"),), THROWING),
}


def expression(known):
    return re.compile(known.pattern + "$")
