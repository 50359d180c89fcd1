/*
 * Parses /proc/PID/status.  Unknown lines are skipped: each kernel adds some.
 */
#include "host/process/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/process/procfs.h"

struct status_field {
	const char *key;
	/* false: the value makes no sense */
	bool (*take)(struct text value, void *ret);
	size_t offset;
};

static bool take_int(struct text value, void *ret)
{
	uint64_t number;

	if (!text_take_number(&value, 10, &number) || number > INT32_MAX)
		return false;
	*(int *)ret = (int)number;
	return true;
}

static bool take_u64(struct text value, void *ret)
{
	return text_take_number(&value, 10, ret);
}

static bool take_mask(struct text value, void *ret)
{
	return text_take_number(&value, 16, ret);
}

static bool take_flag(struct text value, void *ret)
{
	*(bool *)ret = text_take_char(&value, '1');
	return true;
}

static bool take_presence(struct text value, void *ret)
{
	(void)value;
	*(bool *)ret = true;
	return true;
}

static bool take_state(struct text value, void *ret)
{
	if (value.at == value.end)
		return false;
	*(char *)ret = *value.at;
	return true;
}

static bool take_name(struct text value, void *ret)
{
	text_copy_printable(value, ret, sizeof(((struct process_status *)NULL)->name));
	return true;
}

/* "x86_Thread_features:  shstk wrss" */
static bool take_thread_features(struct text value, void *ret)
{
	struct text word;

	while (text_take_word(&value, &word))
		if (text_equals(word, "shstk"))
			*(bool *)ret = true;
	return true;
}

/* Real, effective, saved: three neighbours in the struct, for users and for groups. */
static bool take_ids(struct text value, void *ret)
{
	unsigned *ids = ret;

	for (size_t i = 0; i < 3; i++) {
		uint64_t id;

		text_skip_blanks(&value);
		if (!text_take_number(&value, 10, &id) || id > UINT32_MAX)
			return false;
		ids[i] = (unsigned)id;
	}
	return true;
}

/* One number for each pid namespace from limpet's inwards; the last is the process's own. */
static bool take_inner_pid(struct text value, void *ret)
{
	struct process_status *status = ret;
	struct text word;
	unsigned count = 0;

	for (; text_take_word(&value, &word); count++)
		if (!take_int(word, &status->inner_pid))
			return false;
	status->pid_namespaces = count;
	return count > 0;
}

#define FIELD(member) offsetof(struct process_status, member)

static const struct status_field fields[] = {
	{ "Name:", take_name, FIELD(name) },
	{ "State:", take_state, FIELD(state) },
	{ "Tgid:", take_int, FIELD(tgid) },
	{ "PPid:", take_int, FIELD(parent) },
	{ "TracerPid:", take_int, FIELD(tracer) },
	{ "Uid:", take_ids, FIELD(uid) },
	{ "Gid:", take_ids, FIELD(gid) },
	{ "NSpid:", take_inner_pid, 0 },
	{ "Kthread:", take_flag, FIELD(is_kernel_thread) },
	{ "VmSize:", take_presence, FIELD(has_memory) },
	{ "CoreDumping:", take_flag, FIELD(is_dumping_core) },
	{ "Threads:", take_int, FIELD(threads) },
	{ "SigPnd:", take_mask, FIELD(signals_pending) },
	{ "SigBlk:", take_mask, FIELD(signals_blocked) },
	{ "SigCgt:", take_mask, FIELD(signals_caught) },
	{ "CapPrm:", take_mask, FIELD(capabilities_permitted) },
	{ "CapEff:", take_mask, FIELD(capabilities) },
	{ "NoNewPrivs:", take_flag, FIELD(no_new_privileges) },
	{ "Seccomp:", take_int, FIELD(seccomp) },
	{ "Seccomp_filters:", take_int, FIELD(seccomp_filters) },
	{ "x86_Thread_features:", take_thread_features, FIELD(has_shadow_stack) },
	{ "voluntary_ctxt_switches:", take_u64, FIELD(voluntary_switches) },
};

static bool line_parse(struct text line, struct process_status *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct text value = line;

		if (!text_take_prefix(&value, fields[i].key))
			continue;
		text_skip_blanks(&value);
		return fields[i].take(value, (char *)ret + fields[i].offset);
	}
	return true;
}

int status_parse(const char *text, size_t size, struct process_status *ret, struct err *err)
{
	struct text rest = { text, text + size }, line;
	struct process_status status = { 0 };

	while (text_take_line(&rest, &line))
		if (!line_parse(line, &status))
			return err_set(err, -EBADMSG, "malformed status line: '%.*s'",
				       (int)MIN(line.end - line.at, 80), line.at);
	if (!status.state)
		return err_set(err, -EBADMSG, "status has no State line");
	*ret = status;
	return 0;
}

int status_read(pid_t pid, pid_t tid, struct process_status *ret, struct err *err)
{
	CLEANUP(free) char *text = NULL;
	char name[48];
	size_t size;
	int r;

	snprintf(name, sizeof(name), "task/%d/status", (int)tid);
	r = proc_read(pid, name, &text, &size, err);
	return r < 0 ? r : status_parse(text, size, ret, err);
}

/* The last number in its list. */
pid_t inner_number(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	const char *line, *last = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (text_read_small(path, text, sizeof(text)) <= 0)
		return tid;
	line = strstr(text, "\nNSpid:");
	for (const char *at = line ? line + 7 : ""; *at && *at != '\n'; at++)
		if (*at == '\t')
			last = at + 1;
	return last ? (pid_t)strtol(last, NULL, 10) : tid;
}
