/*
 * The table of needs.h.  Arguments are given where filters are known to check them.
 */
#include "shared/wire/needs.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Flags of limpet's first thread, and of libc's. */
#define RAW_THREAD                                                                          \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_SETTLS | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID)
#define LIBC_THREAD                                                                         \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

const struct need needs[] = {
	{ NEED_ALWAYS,
	  SYS_mmap,
	  "mmap",
	  false,
	  { 0, 4096, PROT_READ | PROT_WRITE, ANONYMOUS, -1ull } },
	{ NEED_ALWAYS,
	  SYS_mmap,
	  "mmap (executable)",
	  false,
	  { 4096, 4096, PROT_READ | PROT_EXEC, ANONYMOUS | MAP_FIXED, -1ull } },
	{ NEED_ALWAYS,
	  SYS_mmap,
	  "mmap (of a library)",
	  false,
	  { 4096, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, 3 } },
	{ NEED_ALWAYS, SYS_clone, "clone", false, { RAW_THREAD } },
	{ NEED_ALWAYS, SYS_clone, "clone (by libc)", false, { LIBC_THREAD } },
	{ NEED_ALWAYS, SYS_clone3, "clone3", true, { 4096, 88 } },
	{ NEED_ALWAYS, SYS_rt_sigreturn, "rt_sigreturn", false, { 0 } },
	{ NEED_ALWAYS, SYS_rt_sigaction, "rt_sigaction", false, { 33 } },
	{ NEED_ALWAYS, SYS_rt_sigprocmask, "rt_sigprocmask", false, { 0 } },
	{ NEED_ALWAYS, SYS_set_robust_list, "set_robust_list", true, { 0 } },
	{ NEED_ALWAYS, SYS_rseq, "rseq", true, { 0 } },
	{ NEED_ALWAYS, SYS_sched_getaffinity, "sched_getaffinity", true, { 0 } },
	{ NEED_ALWAYS, SYS_getrandom, "getrandom", true, { 0 } },
	{ NEED_ALWAYS, SYS_brk, "brk", true, { 0 } },
	{ NEED_ALWAYS, SYS_mremap, "mremap", true, { 0 } },
	{ NEED_ALWAYS, SYS_futex, "futex", false, { 0 } },
	{ NEED_ALWAYS, SYS_mprotect, "mprotect", false, { 4096, 4096, PROT_NONE } },
	{ NEED_ALWAYS, SYS_munmap, "munmap", false, { 4096, 4096 } },
	{ NEED_ALWAYS, SYS_madvise, "madvise", true, { 0 } },
	{ NEED_ALWAYS, SYS_openat, "openat", false, { -100ull } },
	{ NEED_ALWAYS, SYS_read, "read", false, { 3 } },
	{ NEED_ALWAYS, SYS_pread64, "pread64", true, { 3 } },
	{ NEED_ALWAYS, SYS_lseek, "lseek", true, { 3 } },
	{ NEED_ALWAYS, SYS_close, "close", false, { 3 } },
	{ NEED_ALWAYS, SYS_newfstatat, "newfstatat", false, { 3 } },
	{ NEED_ALWAYS, SYS_newfstatat, "newfstatat (of a path)", true, { -100ull } },
	{ NEED_ALWAYS, SYS_fstat, "fstat", false, { 3 } },
	{ NEED_ALWAYS, SYS_readlinkat, "readlinkat", true, { 3 } },
	{ NEED_ALWAYS,
	  SYS_socketpair,
	  "socketpair",
	  false,
	  { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC } },
	{ NEED_ALWAYS, SYS_recvmsg, "recvmsg", false, { 3 } },
	{ NEED_ALWAYS, SYS_sendto, "sendto", false, { 3 } },
	{ NEED_ALWAYS, SYS_ppoll, "ppoll", false, { 0 } },
	{ NEED_ALWAYS, SYS_fcntl, "fcntl", true, { 3 } },
	{ NEED_ALWAYS, SYS_fcntl, "fcntl (F_GETLK)", true, { 3, F_GETLK } },
	{ NEED_ALWAYS, SYS_gettid, "gettid", false, { 0 } },
	{ NEED_ALWAYS, SYS_getpid, "getpid", true, { 0 } },
	{ NEED_ALWAYS, SYS_prctl, "prctl", true, { PR_SET_NAME } },
	{ NEED_FOR_TRACING, SYS_prctl, "prctl (of the counter)", true, { PR_GET_TSC } },
	{ NEED_UNFILTERED, SYS_getdents64, "getdents64", true, { 3 } },
	{ NEED_UNFILTERED, SYS_ioctl, "ioctl", true, { 3 } },
	{ NEED_FOR_TRACING | NEED_FOR_NOTICE, SYS_shutdown, "shutdown", true, { 3 } },
	{ NEED_TOLD, SYS_prctl, "prctl (PR_GET_SECUREBITS)", true, { PR_GET_SECUREBITS } },
	{ NEED_TOLD, SYS_prctl, "prctl (PR_SET_SECUREBITS)", true, { PR_SET_SECUREBITS, 4 } },
	/* Every limited wait is limited by it. */
	{ NEED_ALWAYS, SYS_clock_gettime, "clock_gettime", false, { 0 } },
	{ NEED_ALWAYS, SYS_tgkill, "tgkill", true, { 1, 1, 0 } },
	{ NEED_ALWAYS, SYS_nanosleep, "nanosleep", true, { 0 } },
	/* The kernel issues it in every thread that is stopped in a timed wait, limpet's included.
	 */
	{ NEED_ALWAYS, SYS_restart_syscall, "restart_syscall", false, { 0 } },
	{ NEED_ALWAYS, SYS_exit, "exit", false, { 0 } },
	{ NEED_FOR_VARIABLES | NEED_FOR_STACKS,
	  SYS_process_vm_readv,
	  "process_vm_readv",
	  true,
	  { 0 } },
	{ NEED_FOR_TABLE,
	  SYS_close_range,
	  "close_range",
	  true,
	  { 0, UINT32_MAX, CLOSE_RANGE_UNSHARE } },
	{ NEED_WITHOUT_PROC, SYS_unshare, "unshare", false, { CLONE_FS } },
	{ NEED_WITHOUT_PROC, SYS_fchdir, "fchdir", false, { 3 } },
	{ NEED_WITHOUT_PROC, SYS_chroot, "chroot", true, { 0 } },
#ifdef SYS_access
	{ NEED_ALWAYS, SYS_access, "access", true, { 0 } },
	{ NEED_ALWAYS, SYS_stat, "stat", true, { 0 } },
	{ NEED_ALWAYS, SYS_readlink, "readlink", true, { 0 } },
#endif
};

const size_t needs_count = ARRAY_SIZE(needs);

const char *needs_name(long nr)
{
	for (size_t i = 0; i < needs_count; i++)
		if (needs[i].nr == nr)
			return needs[i].name;
	return "?";
}
