/*
 * The functions of libc, and the system calls behind them where a program makes those through
 * syscall().  Runs on threads of the program's: looks at arguments only.
 */
#include "target/tool/confine.h"

#include "shared/wire/boot.h"

#include <asm/unistd.h>
#include <linux/sched.h>
#include <sys/prctl.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP | CLONE_NEWTIME)

#define NOTICE(name)                                                       \
	{                                                                  \
		name, NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 \
	}

/* In the order of checks[]: those first that look at their arguments. */
const struct traced confine_notices[] = {
	NOTICE("prctl"),    NOTICE("syscall"),   NOTICE("unshare"),    NOTICE("setuid"),
	NOTICE("setgid"),   NOTICE("seteuid"),   NOTICE("setegid"),    NOTICE("setreuid"),
	NOTICE("setregid"), NOTICE("setresuid"), NOTICE("setresgid"),  NOTICE("setfsuid"),
	NOTICE("setfsgid"), NOTICE("setgroups"), NOTICE("initgroups"), NOTICE("capset"),
	NOTICE("setns"),
};
const size_t confine_notice_count = ARRAY_SIZE(confine_notices);

static const int options[] = {
	PR_SET_SECUREBITS, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP,
};

/* To compare with, not to make: so not by the names that tools/check-needs.py looks for. */
static const long calls[] = {
	__NR_setuid,
	__NR_setgid,
	__NR_setreuid,
	__NR_setregid,
	__NR_setresuid,
	__NR_setresgid,
	__NR_setfsuid,
	__NR_setfsgid,
	__NR_setgroups,
	__NR_capset,
	__NR_seccomp,
	__NR_setns,
	__NR_landlock_restrict_self,
};

static bool is_option(uint64_t option)
{
	for (unsigned i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i] == (int)option)
			return true;
	return false;
}

static bool is_call(long number)
{
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i] == number)
			return true;
	return false;
}

static bool prctl_changes(uint64_t option, uint64_t unused)
{
	(void)unused;
	return is_option(option);
}

static bool unshare_changes(uint64_t flags, uint64_t unused)
{
	(void)unused;
	return flags & NAMESPACES;
}

static bool syscall_changes(uint64_t number, uint64_t first)
{
	return is_call((long)number) || (number == __NR_prctl && is_option(first)) ||
	       (number == __NR_unshare && first & NAMESPACES);
}

static bool (*const checks[])(uint64_t, uint64_t) = { prctl_changes, syscall_changes,
						      unshare_changes };

bool confine_is_change(const struct traced *traced, uint64_t first, uint64_t second)
{
	size_t i = (size_t)(traced - confine_notices);

	if (i >= confine_notice_count)
		return false;
	return i >= ARRAY_SIZE(checks) || checks[i](first, second);
}
