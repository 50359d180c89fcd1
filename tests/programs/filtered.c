/*
 * Programs under seccomp filters: an allow list as containers have it, and filters that refuse or
 * kill on the calls that getting in needs.  A filter that kills must be read, never tried.
 */
#define _GNU_SOURCE
#include "call.h"
#include "filter.h"

#include <sys/syscall.h>
#include <unistd.h>

static _Atomic bool is_filtered;

static void filtered_run(const void *data)
{
	filter_install(data);
	workload_ready();
	workload_idle();
}

static void *filtered_thread(void *rules)
{
	int fds[2];
	char byte;

	filter_install(rules);
	if (pipe(fds) < 0)
		workload_skip("pipe");
	atomic_store(&is_filtered, true);
	while (read(fds[0], &byte, 1) < 0)
		result_count("read", -errno);
	return NULL;
}

/* Each thread has filters of its own.  This one waits in a call that makes it the best choice. */
static void filtered_thread_run(const void *data)
{
	thread_start(filtered_thread, (void *)(uintptr_t)data, 0);
	while (!atomic_load(&is_filtered))
		sleep_ns(NS_PER_MS);
	workload_ready();
	workload_idle();
}

static void *free_thread(void *unused)
{
	(void)unused;
	workload_idle();
}

/* Here the first thread has the filter, and waits in such a call; the other one does the turns. */
static void filtered_leader_run(const void *data)
{
	thread_start(free_thread, NULL, 0);
	workload_ready();
	filtered_thread((void *)(uintptr_t)data);
}

/* Kills whoever asks for the counter, and lets all other calls and questions pass. */
static void counter_run(const void *data)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_GET_TSC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, ACTION_KILL),
		BPF_STMT(BPF_RET | BPF_K, ACTION_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	(void)data;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		workload_skip("seccomp");
	workload_ready();
	for (;;) {
		usleep(1000);
		atomic_fetch_add(&stats->turns, 1);
	}
}

#define ALLOW(name)                      \
	{                                \
		SYS_##name, ACTION_ALLOW \
	}

/* What a container engine lets through, as far as a program like ours and libc need it. */
static const struct rule container_list[] = {
	/* Engines answer ENOSYS here, so that libc falls back to clone, whose flags they can see.
	 */
	{ SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS },
	ALLOW(accept4),
	ALLOW(bind),
	ALLOW(brk),
	ALLOW(capget),
	ALLOW(chdir),
	ALLOW(clock_getres),
	ALLOW(clock_gettime),
	ALLOW(clock_nanosleep),
	ALLOW(clone),
	ALLOW(close),
	ALLOW(connect),
	ALLOW(dup),
	ALLOW(dup3),
	ALLOW(epoll_create1),
	ALLOW(epoll_ctl),
	ALLOW(epoll_pwait),
	ALLOW(eventfd2),
	ALLOW(execve),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(faccessat),
	ALLOW(fchdir),
	ALLOW(fcntl),
	ALLOW(fstat),
	ALLOW(fstatfs),
	ALLOW(fsync),
	ALLOW(ftruncate),
	ALLOW(futex),
	ALLOW(getcwd),
	ALLOW(getdents64),
	ALLOW(getegid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(getpriority),
	ALLOW(getrandom),
	ALLOW(getsockname),
	ALLOW(getsockopt),
	ALLOW(gettid),
	ALLOW(gettimeofday),
	ALLOW(getuid),
	ALLOW(ioctl),
	ALLOW(kill),
	ALLOW(lseek),
	ALLOW(madvise),
	ALLOW(membarrier),
	ALLOW(memfd_create),
	ALLOW(mmap),
	ALLOW(mprotect),
	ALLOW(mremap),
	ALLOW(msync),
	ALLOW(munmap),
	ALLOW(nanosleep),
	ALLOW(openat),
	ALLOW(pipe2),
	ALLOW(ppoll),
	ALLOW(prctl),
	ALLOW(pread64),
	ALLOW(prlimit64),
	ALLOW(pselect6),
	ALLOW(pwrite64),
	ALLOW(read),
	ALLOW(readlinkat),
	ALLOW(readv),
	ALLOW(recvfrom),
	ALLOW(recvmsg),
	ALLOW(restart_syscall),
	ALLOW(rseq),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigqueueinfo),
	ALLOW(rt_sigreturn),
	ALLOW(rt_sigtimedwait),
	ALLOW(sched_getaffinity),
	ALLOW(sched_yield),
	ALLOW(sendmsg),
	ALLOW(sendto),
	ALLOW(set_robust_list),
	ALLOW(set_tid_address),
	ALLOW(setsockopt),
	ALLOW(shutdown),
	ALLOW(sigaltstack),
	ALLOW(socket),
	ALLOW(socketpair),
	ALLOW(statx),
	ALLOW(sysinfo),
	ALLOW(tgkill),
	ALLOW(uname),
	ALLOW(unshare),
	ALLOW(wait4),
	ALLOW(write),
	ALLOW(writev),
	ALLOW(newfstatat),
#ifdef __x86_64__
	ALLOW(arch_prctl),
	ALLOW(access),
	ALLOW(epoll_wait),
	ALLOW(getrlimit),
	ALLOW(lstat),
	ALLOW(open),
	ALLOW(poll),
	ALLOW(readlink),
	ALLOW(select),
	ALLOW(stat),
	ALLOW(time),
#endif
	END,
};

static const struct rule mmap_kill[] = { { SYS_mmap, ACTION_KILL }, END };
static const struct rule mmap_errno[] = { { SYS_mmap, ACTION_ERRNO }, END };
static const struct rule clone_kill[] = { { SYS_clone, ACTION_KILL },
					  { SYS_clone3, ACTION_KILL },
					  END };
static const struct rule clone_errno[] = { { SYS_clone, ACTION_ERRNO },
					   { SYS_clone3, ACTION_ERRNO },
					   END };
static const struct rule socket_kill[] = { { SYS_socketpair, ACTION_KILL },
					   { SYS_recvmsg, ACTION_KILL },
					   END };
static const struct rule open_kill[] = { { SYS_openat, ACTION_KILL }, END };
static const struct rule clock_errno[] = { { SYS_clock_gettime, ACTION_ERRNO }, END };
static const struct rule harmless[] = { { SYS_reboot, ACTION_KILL }, END };

const struct workload workloads[] = {
	{ "container", filtered_run, &(const struct rules){ ACTION_ERRNO, container_list } },
	{ "harmless", filtered_run, &(const struct rules){ ACTION_ALLOW, harmless } },
	{ "mmap_kill", filtered_run, &(const struct rules){ ACTION_ALLOW, mmap_kill } },
	{ "mmap_errno", filtered_run, &(const struct rules){ ACTION_ALLOW, mmap_errno } },
	{ "clone_kill", filtered_run, &(const struct rules){ ACTION_ALLOW, clone_kill } },
	{ "clone_errno", filtered_run, &(const struct rules){ ACTION_ALLOW, clone_errno } },
	{ "socket_kill", filtered_run, &(const struct rules){ ACTION_ALLOW, socket_kill } },
	{ "open_kill", filtered_run, &(const struct rules){ ACTION_ALLOW, open_kill } },
	{ "clock_errno", filtered_run, &(const struct rules){ ACTION_ALLOW, clock_errno } },
	{ "counter_kill", counter_run, NULL },
	{ "thread_kill", filtered_thread_run, &(const struct rules){ ACTION_ALLOW, mmap_kill } },
	{ "leader_kill", filtered_leader_run, &(const struct rules){ ACTION_ALLOW, mmap_kill } },
	{ NULL, NULL, NULL },
};
