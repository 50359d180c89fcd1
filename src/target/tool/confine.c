/*
 * Checks libc's functions, and the system calls behind these if a program makes them through
 * syscall(). Runs on application threads: reads only arguments, never memory. A call that sets what
 * limpet's threads have anyway, as /proc shows it, is no change.
 */
#include "target/tool/confine.h"

#include "shared/arch/syscall.h"
#include "target/hooks/wants.h"
#include "target/runtime/descriptor.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP | CLONE_NEWTIME)

#define KEEP         UINT32_MAX /* as an ID: unchanged */
#define CAPABILITIES 64
#define STATUS_BYTES 4096 /* a longer file (many groups) cannot be read */

#define NOTICE(name, changes)                                                           \
	{                                                                               \
		{ name, NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 }, changes \
	}

typedef bool check_function(const uint64_t *arguments);

/* The rights of a thread. */
enum id_kind {
	ID_REAL,
	ID_EFFECTIVE,
	ID_SAVED,
	ID_FILES,
	ID_KINDS,
};

struct standing {
	uint32_t users[ID_KINDS], groups[ID_KINDS];
	bool has_other_groups;
	bool is_modest; /* no_new_privs is set */
	uint64_t bounding, ambient;
};

static struct standing ours; /* of limpet's threads */
static bool is_known;

static const char *find_line(const char *text, const char *name)
{
	while (*text) {
		const char *at = text, *letter = name;

		while (*letter && *at == *letter) {
			at++;
			letter++;
		}
		if (!*letter)
			return at;
		while (*text && *text++ != '\n')
			;
	}
	return NULL;
}

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

static const char *read_number(const char *at, unsigned base, uint64_t *ret)
{
	*ret = 0;
	while (*at == '\t' || *at == ' ')
		at++;
	for (; digit_of(*at) < (int)base; at++)
		*ret = *ret * base + (uint64_t)digit_of(*at);
	return at;
}

static bool read_ids(const char *text, const char *name, uint32_t ret[ID_KINDS])
{
	const char *at = find_line(text, name);
	uint64_t number;

	for (unsigned i = 0; at && i < ID_KINDS; i++) {
		at = read_number(at, 10, &number);
		ret[i] = (uint32_t)number;
	}
	return at;
}

static bool read_value(const char *text, const char *name, unsigned base, uint64_t *ret)
{
	const char *at = find_line(text, name);

	if (at)
		read_number(at, base, ret);
	return at;
}

static bool standing_parse(const char *text, struct standing *ret)
{
	const char *groups = find_line(text, "Groups:\t");
	uint64_t modest = 0;

	if (!groups || !read_ids(text, "Uid:", ret->users) ||
	    !read_ids(text, "Gid:", ret->groups) ||
	    !read_value(text, "CapBnd:", 16, &ret->bounding) ||
	    !read_value(text, "CapAmb:", 16, &ret->ambient) ||
	    !read_value(text, "NoNewPrivs:", 10, &modest))
		return false;
	ret->has_other_groups = digit_of(*groups) < 10;
	ret->is_modest = modest;
	return true;
}

/* Only by system calls that attaching makes anyway: filters were not checked for others. False:
 * unreadable. */
static bool standing_read(struct standing *ret)
{
	char text[STATUS_BYTES];
	long size = 0, r = 0;
	struct descriptor file = descriptor_own((int)raw4(
		SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0));

	if (file.fd < 0)
		return false;
	do {
		r = raw3(SYS_read, file.fd, text + size, STATUS_BYTES - 1 - size);
		size += r > 0 ? r : 0;
	} while (r > 0);
	descriptor_close(&file);
	text[size] = 0;
	return standing_parse(text, ret);
}

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

/* The calls to hook. */
static const struct notice {
	struct traced traced;
	check_function *changes; /* NULL: the loader is about to run, modules may be loaded */
} notices[] = {
	NOTICE("prctl", prctl_changes),
	NOTICE("syscall", syscall_changes),
	NOTICE("unshare", unshare_changes),
	NOTICE("setuid", user_all_change),
	NOTICE("setgid", group_all_change),
	NOTICE("seteuid", user_effective_changes),
	NOTICE("setegid", group_effective_changes),
	NOTICE("setreuid", user_pair_changes),
	NOTICE("setregid", group_pair_changes),
	NOTICE("setresuid", user_three_change),
	NOTICE("setresgid", group_three_change),
	NOTICE("setfsuid", user_files_change),
	NOTICE("setfsgid", group_files_change),
	NOTICE("setgroups", groups_change),
	NOTICE("initgroups", always_changes),
	NOTICE("capset", always_changes),
	NOTICE("setns", always_changes),
	NOTICE("chroot", always_changes),
	NOTICE("pivot_root", always_changes),
	{ { "dlopen", NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 }, NULL },
	{ { "dlmopen", NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 }, NULL },
};

bool confine_want(void)
{
	bool fits = true;

	for (size_t i = 0; i < ARRAY_SIZE(notices); i++)
		fits &= wants_add(&notices[i].traced);
	return fits;
}

static const struct notice *notice_of(const struct traced *traced)
{
	const struct notice *notice = (const struct notice *)traced;

	return notice >= notices && notice < notices + ARRAY_SIZE(notices) ? notice : NULL;
}

bool confine_is_opening(const struct traced *traced)
{
	const struct notice *notice = notice_of(traced);

	return notice && !notice->changes;
}

bool confine_is_change(const struct traced *traced, const uint64_t *arguments)
{
	const struct notice *notice = notice_of(traced);

	return notice && notice->changes && notice->changes(arguments);
}

bool confine_takes_counter(const struct traced *traced, const uint64_t *arguments)
{
	int option = (int)arguments[0];

	return traced == &notices[0].traced &&
	       ((option == PR_SET_SECCOMP && arguments[1] == SECCOMP_MODE_STRICT) ||
		(option == PR_SET_TSC && arguments[1] == PR_TSC_SIGSEGV));
}
