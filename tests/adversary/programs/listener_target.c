/*
 * A program with the register library preloaded that changes who it is in one of several ways, says
 * "ready", and sleeps.
 */
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HER 1234

static void become_nobody(void)
{
}

/* A daemon that is her for a while, and dumps core for its developers. */
static void become_her_for_a_while(void)
{
	if (setegid(HER) || seteuid(HER) || prctl(PR_SET_DUMPABLE, 1))
		_exit(1);
}

static void become_private(void)
{
	if (prctl(PR_SET_DUMPABLE, 0))
		_exit(1);
}

/* As systemd, dbus and capsh do it: capabilities belong to a thread, ids to the process. */
static void drop_rights(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	data[0].effective = data[0].permitted = 1u << CAP_SETGID;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(HER, HER, HER) ||
	    syscall(SYS_capset, &header, data) || setresgid(HER, HER, HER))
		_exit(1);
}

/* Without libc's knowledge: its other threads stay as they were. */
static void drop_rights_of_one_thread(void)
{
	if (syscall(SYS_setresgid, HER, HER, HER) || syscall(SYS_setresuid, HER, HER, HER) ||
	    prctl(PR_SET_DUMPABLE, 1))
		_exit(1);
}

/* When told to, by a line. */
static void drop_rights_later(void)
{
	puts("ready");
	fflush(stdout);
	while (getchar() != '\n')
		;
	drop_rights_of_one_thread();
}

static const struct {
	const char *name;
	void (*become)(void);
} ways[] = {
	{ "plain", become_nobody },
	{ "her for a while", become_her_for_a_while },
	{ "private", become_private },
	{ "drop", drop_rights },
	{ "drop one", drop_rights_of_one_thread },
	{ "drop one later", drop_rights_later },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].become();
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
