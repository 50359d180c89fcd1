/*
 * Checks libc's functions, and the system calls behind these if a program makes them through
 * syscall(). Runs on application threads: reads only arguments, never memory. A call that sets what
 * limpet's threads have anyway is no change.
 */
#include "target/tool/confine.h"

#include "shared/wire/boot.h"
#include "target/tool/standing.h"

#include <asm/unistd.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP | CLONE_NEWTIME)

#define KEEP         UINT32_MAX /* as an ID: unchanged */
#define CAPABILITIES 64

#define NOTICE(name)                                                       \
	{                                                                  \
		name, NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 \
	}

typedef bool check_function(const uint64_t *arguments);

static struct standing ours;
static bool is_known;

void confine_begin(void)
{
	is_known = standing_read(&ours);
}

static bool id_is_kept(uint64_t id, const uint32_t *own, enum id_kind kind)
{
	return (uint32_t)id == KEEP || (uint32_t)id == own[kind];
}

/* The filesystem ID; each of these calls also sets it to the effective one. */
static bool is_of_files(const uint32_t *own)
{
	return own[ID_FILES] == own[ID_EFFECTIVE];
}

/* setuid: sets all IDs if the caller has the right, else the effective one. */
static bool all_change(const uint32_t *own, const uint64_t *ids)
{
	for (unsigned i = 0; i < ID_KINDS; i++)
		if ((uint32_t)ids[0] != own[i])
			return true;
	return !is_known;
}

static bool effective_changes(const uint32_t *own, const uint64_t *ids)
{
	return !is_known || !id_is_kept(ids[0], own, ID_EFFECTIVE) || !is_of_files(own);
}

/* setreuid: sets the saved ID to the effective one. */
static bool pair_changes(const uint32_t *own, const uint64_t *ids)
{
	return !is_known || !id_is_kept(ids[0], own, ID_REAL) ||
	       !id_is_kept(ids[1], own, ID_EFFECTIVE) || !is_of_files(own) ||
	       own[ID_SAVED] != own[ID_EFFECTIVE];
}

static bool three_change(const uint32_t *own, const uint64_t *ids)
{
	return !is_known || !id_is_kept(ids[0], own, ID_REAL) ||
	       !id_is_kept(ids[1], own, ID_EFFECTIVE) || !id_is_kept(ids[2], own, ID_SAVED) ||
	       !is_of_files(own);
}

static bool files_change(const uint32_t *own, const uint64_t *ids)
{
	return (uint32_t)ids[0] != KEEP && (!is_known || (uint32_t)ids[0] != own[ID_FILES]);
}

#define OF_USERS_AND_GROUPS(name)                           \
	static bool user_##name(const uint64_t *arguments)  \
	{                                                   \
		return name(ours.users, arguments);         \
	}                                                   \
	static bool group_##name(const uint64_t *arguments) \
	{                                                   \
		return name(ours.groups, arguments);        \
	}

OF_USERS_AND_GROUPS(all_change)
OF_USERS_AND_GROUPS(effective_changes)
OF_USERS_AND_GROUPS(pair_changes)
OF_USERS_AND_GROUPS(three_change)
OF_USERS_AND_GROUPS(files_change)

/* setgroups: no change if it clears an empty list. */
static bool groups_change(const uint64_t *arguments)
{
	return !is_known || (uint32_t)arguments[0] || ours.has_other_groups;
}

static bool bounding_changes(const uint64_t *arguments)
{
	return !is_known || arguments[1] >= CAPABILITIES || ours.bounding >> arguments[1] & 1;
}

/* Raising a capability leaves limpet's threads with fewer. */
static bool ambient_changes(const uint64_t *arguments)
{
	return (arguments[1] == PR_CAP_AMBIENT_LOWER || arguments[1] == PR_CAP_AMBIENT_CLEAR_ALL) &&
	       (!is_known || ours.ambient);
}

static bool modesty_changes(const uint64_t *arguments)
{
	(void)arguments;
	return !is_known || !ours.is_modest;
}

/* Without a filter, the call only finds out whether the kernel supports filters. */
static bool mode_changes(const uint64_t *arguments)
{
	return arguments[1] != SECCOMP_MODE_FILTER || arguments[2];
}

/* Likewise. */
static bool seccomp_changes(const uint64_t *arguments)
{
	return (uint32_t)arguments[0] == SECCOMP_SET_MODE_STRICT ||
	       ((uint32_t)arguments[0] == SECCOMP_SET_MODE_FILTER && arguments[2]);
}

static bool always_changes(const uint64_t *arguments)
{
	(void)arguments;
	return true;
}

/* A root of its own is the same root, until the thread changes it. */
static bool unshare_changes(const uint64_t *arguments)
{
	return arguments[0] & NAMESPACES;
}

static const struct {
	int option;
	check_function *changes;
} options[] = {
	{ PR_SET_SECUREBITS, always_changes }, { PR_CAPBSET_DROP, bounding_changes },
	{ PR_CAP_AMBIENT, ambient_changes },   { PR_SET_NO_NEW_PRIVS, modesty_changes },
	{ PR_SET_SECCOMP, mode_changes },
};

static bool prctl_changes(const uint64_t *arguments)
{
	for (unsigned i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].option == (int)arguments[0])
			return options[i].changes(arguments);
	return false;
}

/* __NR_ numbers, because no call is made: tools/check-needs.py searches for the SYS_ names. */
static const struct {
	long number;
	check_function *changes;
} calls[] = {
	{ __NR_prctl, prctl_changes },
	{ __NR_unshare, unshare_changes },
	{ __NR_setuid, user_all_change },
	{ __NR_setgid, group_all_change },
	{ __NR_setreuid, user_pair_changes },
	{ __NR_setregid, group_pair_changes },
	{ __NR_setresuid, user_three_change },
	{ __NR_setresgid, group_three_change },
	{ __NR_setfsuid, user_files_change },
	{ __NR_setfsgid, group_files_change },
	{ __NR_setgroups, groups_change },
	{ __NR_capset, always_changes },
	{ __NR_seccomp, seccomp_changes },
	{ __NR_setns, always_changes },
	{ __NR_chroot, always_changes },
	{ __NR_pivot_root, always_changes },
	{ __NR_landlock_restrict_self, always_changes },
};

static bool syscall_changes(const uint64_t *arguments)
{
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number == (long)arguments[0])
			return calls[i].changes(arguments + 1);
	return false;
}

const struct traced confine_notices[] = {
	NOTICE("prctl"),    NOTICE("syscall"),   NOTICE("unshare"),    NOTICE("setuid"),
	NOTICE("setgid"),   NOTICE("seteuid"),   NOTICE("setegid"),    NOTICE("setreuid"),
	NOTICE("setregid"), NOTICE("setresuid"), NOTICE("setresgid"),  NOTICE("setfsuid"),
	NOTICE("setfsgid"), NOTICE("setgroups"), NOTICE("initgroups"), NOTICE("capset"),
	NOTICE("setns"),    NOTICE("chroot"),    NOTICE("pivot_root"),
};
const size_t confine_notice_count = ARRAY_SIZE(confine_notices);

/* In the same order. */
static check_function *const checks[ARRAY_SIZE(confine_notices)] = {
	prctl_changes,      syscall_changes,        unshare_changes,         user_all_change,
	group_all_change,   user_effective_changes, group_effective_changes, user_pair_changes,
	group_pair_changes, user_three_change,      group_three_change,      user_files_change,
	group_files_change, groups_change,          always_changes,          always_changes,
	always_changes,     always_changes,         always_changes,
};

bool confine_is_change(const struct traced *traced, const uint64_t *arguments)
{
	size_t i = (size_t)(traced - confine_notices);

	return i < confine_notice_count && checks[i](arguments);
}
