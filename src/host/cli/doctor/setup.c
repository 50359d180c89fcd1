/*
 * Prints the commands that give a group a copy of limpet with capabilities, and their meaning.
 */
#include "host/cli/doctor/doctor.h"

#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/core/users.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COPY         "/usr/local/bin/limpet-attach"
#define CAPABILITIES "cap_sys_ptrace,cap_dac_override,cap_sys_nice,cap_perfmon,cap_bpf"
#define WARNING      "any user who may run this file can become root on this machine"
#define WHAT_IT_MEANS                                                                                 \
	"It writes into any process and opens any file: do not add users to the group who\n"          \
	"may not be root. Its members log in again and use limpet-attach in place of limpet. Their\n" \
	"variables, such as XDG_CACHE_HOME and DEBUGINFOD_URLS, do not count there.\n"
#define COMMANDS 4

struct setup {
	struct rights rights;
	const char *attach; /* what is allowed without the setup */
	char commands[COMMANDS][PATH_MAX + 128];
};

static const char *const removal[] = { "sudo rm " COPY, "sudo groupdel limpet" };

static const char *const always[] = {
	"ps, status, doctor",
	"record, dump and top of your own processes: stacks of running threads where "
	"kernel.perf_event_paranoid is 2 or less, of waiting ones where memory may be read",
};

/* Of Yama's four. */
static const char *const attaches[] = {
	"attach to your own processes",
	"attach to what limpet itself starts; to your other processes with "
	"kernel.yama.ptrace_scope=0 only",
	"no attach: kernel.yama.ptrace_scope is 2",
	"no attach, not even for root: kernel.yama.ptrace_scope is 3",
};

/* Needs no quoting in a shell. */
static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_./+-")];
}

static void doctor_setup_prepare(struct setup *ret)
{
	char program[PATH_MAX], user[64];
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
	struct users users;

	rights_read(&ret->rights);
	ret->attach = attaches[ret->rights.yama_scope > 0 ? MIN(ret->rights.yama_scope, 3) : 0];
	program[size > 0 ? size : 0] = '\0';
	if (!is_plain(program))
		snprintf(program, sizeof(program), "\"$(command -v limpet)\"");
	/* Root needs no setup: for root, and for names that need quoting, writes "USER". */
	users_init(&users);
	users_name(&users, ret->rights.uid, user, sizeof(user));
	users_done(&users);
	if (!ret->rights.uid || !is_plain(user))
		snprintf(user, sizeof(user), "USER");
	snprintf(ret->commands[0], sizeof(ret->commands[0]), "sudo groupadd --system limpet");
	snprintf(ret->commands[1], sizeof(ret->commands[1]),
		 "sudo install -o root -g limpet -m 0750 %s " COPY, program);
	snprintf(ret->commands[2], sizeof(ret->commands[2]),
		 "sudo setcap " CAPABILITIES "+ep " COPY);
	snprintf(ret->commands[3], sizeof(ret->commands[3]), "sudo usermod -aG limpet %s", user);
}

static void print_text(const struct setup *self)
{
	print(stdout, "Without any right of its own limpet does:\n");
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		print(stdout, "  %s\n", always[i]);
	print(stdout, "  %s\n", self->attach);
	print(stdout, "\nAs root (sudo limpet ...) it does everything. In between, a group can be "
		      "given a copy with capabilities:\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		print(stdout, "  %s\n", self->commands[i]);
	print(stdout, "\nBeware: %s.\n" WHAT_IT_MEANS "\nTo take it back:\n\n", WARNING);
	for (size_t i = 0; i < ARRAY_SIZE(removal); i++)
		print(stdout, "  %s\n", removal[i]);
	print(stdout, "\nNothing of this was done.\n");
}

static void print_json(const struct setup *self)
{
	const char *works[ARRAY_SIZE(always) + 1], *commands[COMMANDS];
	struct json json = json_event(stdout, "setup");

	memcpy(works, always, sizeof(always));
	works[ARRAY_SIZE(always)] = self->attach;
	for (size_t i = 0; i < COMMANDS; i++)
		commands[i] = self->commands[i];
	json_text_list(&json, "works_without", works, ARRAY_SIZE(works));
	json_text_list(&json, "commands", commands, COMMANDS);
	json_text(&json, "warning", WARNING);
	json_text_list(&json, "removal", removal, ARRAY_SIZE(removal));
	json_object_end(&json);
}

void doctor_setup(bool is_json)
{
	struct setup setup;

	doctor_setup_prepare(&setup);
	(is_json ? print_json : print_text)(&setup);
}
