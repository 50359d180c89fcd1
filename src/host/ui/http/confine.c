/*
 * The filter is a list of allowed calls.  There is no memory that is both written and executed:
 * mmap() and mprotect() are allowed without PROT_EXEC only.
 */
#include "host/ui/http/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_MACHINE AUDIT_ARCH_X86_64
#else
#define OWN_MACHINE AUDIT_ARCH_AARCH64
#endif

#define LOAD(member)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##number, 0, 1), RETURN(SECCOMP_RET_ALLOW)
/* Only without PROT_EXEC in the third argument. */
#define ALLOW_WITHOUT_EXEC(number)                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##number, 0, 4), LOAD(args[2]), \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),           \
		RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_MACHINE, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
#ifdef __NR_epoll_wait
	ALLOW(epoll_wait),
#endif
	ALLOW(epoll_pwait),
	ALLOW(epoll_ctl),
	ALLOW(accept4),
	ALLOW(recvfrom),
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	ALLOW(sendto),
	ALLOW(shutdown),
	ALLOW(close),
	ALLOW(fstat),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(brk),
	ALLOW(futex),
	ALLOW(getrandom),
	ALLOW(clock_gettime),
	ALLOW(rt_sigreturn),
	ALLOW(rt_sigprocmask),
	ALLOW(restart_syscall),
	ALLOW(exit_group),
	ALLOW(exit),
	ALLOW_WITHOUT_EXEC(mmap),
	ALLOW_WITHOUT_EXEC(mprotect),
	RETURN(SECCOMP_RET_KILL_PROCESS),
};

/* If limpet runs without root, the process keeps its user. */
static int user_become(uid_t user, gid_t group)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 ||
	    setresuid(user, user, user) < 0)
		return -errno;
	return 0;
}

static int capabilities_drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int confine(uid_t user, gid_t group)
{
	const struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };
	int r = user_become(user, group);

	if (!r)
		r = capabilities_drop();
	if (r)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return -errno;
	return 0;
}
