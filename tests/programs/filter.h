/*
 * A seccomp filter from a list of rules: what each call number gets, and what all others get.  In a
 * header, so that each program is one file beside workload.c.
 */
#pragma once

#include "workload.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILTER_MAX   512
#define ACTION_ALLOW SECCOMP_RET_ALLOW
#define ACTION_KILL  SECCOMP_RET_KILL_PROCESS
#define ACTION_ERRNO (SECCOMP_RET_ERRNO | EPERM)

#ifdef __aarch64__
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#define FILTER_ARCH AUDIT_ARCH_X86_64
#endif

struct rule {
	unsigned int number;
	unsigned int action;
};

struct rules {
	unsigned int otherwise;
	const struct rule *list; /* ended by an entry with number ~0 */
};

#define END            \
	{              \
		~0u, 0 \
	}

/* flags: of seccomp(2).  Returns the listener's descriptor with SECCOMP_FILTER_FLAG_NEW_LISTENER.
 */
static inline int filter_install_with(const struct rules *rules, unsigned int flags)
{
	struct sock_filter code[FILTER_MAX] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = 4, .filter = code };
	int r;

	for (const struct rule *rule = rules->list; rule->number != ~0u; rule++) {
		code[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->number, 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, rule->action);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, rules->otherwise);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		workload_skip("prctl");
	r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (r < 0)
		workload_skip("seccomp");
	return r;
}

static inline void filter_install(const struct rules *rules)
{
	filter_install_with(rules, 0);
}
