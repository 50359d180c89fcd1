/*
 * The rights and surroundings of limpet itself; which users may use perf events.
 */
#pragma once

#include "host/process/rights_fix.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum capability {
	CAPABILITY_DAC_OVERRIDE = 1,
	CAPABILITY_SYS_PTRACE = 19,
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_SYS_NICE = 23,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
};

struct rights {
	pid_t pid;
	uid_t uid;              /* effective */
	gid_t gid;              /* effective */
	uint64_t capabilities;  /* effective */
	int yama_scope;         /* kernel.yama.ptrace_scope; -1 without Yama */
	int memfd_noexec;       /* vm.memfd_noexec; 0 on kernels without it */
	bool is_user_namespace; /* uids are mapped: root here is not root of the machine */
	const char *container;  /* "docker", "podman", "kubernetes", "container", or NULL */
	char modules[128];      /* security modules, as the kernel lists them; "" when hidden */
};

void rights_read(struct rights *ret);

bool rights_have(const struct rights *rights, enum capability capability);

/* Whether a process lives in the same namespaces as limpet. */
enum sameness {
	SAME_UNKNOWN, /* not enough rights to read */
	SAME_YES,
	SAME_NO,
};

struct namespaces {
	enum sameness mnt, pid, user, net;
};

void namespaces_read(pid_t pid, struct namespaces *ret);

/* Whether the process executes a program that gets rights which its user does not have: setuid,
 * setgid, capabilities. */
bool program_is_privileged(pid_t pid);

/* kernel.perf_event_paranoid; INT_MAX where it cannot be read. */
int perf_access_level(void);

/* Turns the answer of perf_event_open(), a negative errno, into the error; returns it. */
int perf_access_explain(int code, struct err *err);
