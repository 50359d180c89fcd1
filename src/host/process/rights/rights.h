/*
 * The rights and surroundings of limpet itself.
 */
#pragma once

#include "host/core/err.h"

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

/* Where a right is missing.  File capabilities make root of every user who may run the file: a
 * message that recommends them must warn of that. */
#define RIGHTS_SETUP "limpet doctor --setup"

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

/* How limpet gets the rights of root: a text for err_fix().  Root in a container needs
 * capabilities. */
const char *rights_fix(void);

/* The same for one capability, by the kernel's name without CAP_; or an alternative, which may be
 * NULL. */
int rights_fix_with(struct err *err, const char *capability, const char *otherwise);

bool rights_have(const struct rights *rights, enum capability capability);
