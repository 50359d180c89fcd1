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

enum field_kind {
	FIELD_INT,
	FIELD_U64,
	FIELD_MASK,
	FIELD_FLAG,     /* "1" */
	FIELD_PRESENCE, /* of the line */
	FIELD_STATE,    /* a letter */
	FIELD_NAME,
	FIELD_IDS,      /* real, effective, saved: three neighbours in the struct */
	FIELD_FEATURES, /* "x86_Thread_features:  shstk wrss" */
	FIELD_NUMBERS,  /* in each pid namespace from limpet's inwards; the last is its own */
};

static bool read_int(struct text value, int *ret)
{
	uint64_t number;

	if (!text_take_number(&value, 10, &number) || number > INT32_MAX)
		return false;
	*ret = (int)number;
	return true;
}

static bool read_ids(struct text value, unsigned ret[3])
{
	for (size_t i = 0; i < 3; i++) {
		uint64_t id;

		text_skip_blanks(&value);
		if (!text_take_number(&value, 10, &id) || id > UINT32_MAX)
			return false;
		ret[i] = (unsigned)id;
	}
	return true;
}

static bool read_numbers(struct text value, struct process_status *ret)
{
	struct text word;
	unsigned count = 0;

	for (; text_take_word(&value, &word); count++)
		if (!read_int(word, &ret->inner_pid))
			return false;
	ret->pid_namespaces = count;
	return count > 0;
}

/* False: the value makes no sense. */
static bool read_field(enum field_kind kind, struct text value, void *ret)
{
	struct text word;

	switch (kind) {
	case FIELD_INT:
		return read_int(value, ret);
	case FIELD_U64:
		return text_take_number(&value, 10, ret);
	case FIELD_MASK:
		return text_take_number(&value, 16, ret);
	case FIELD_FLAG:
		*(bool *)ret = text_take_char(&value, '1');
		return true;
	case FIELD_PRESENCE:
		*(bool *)ret = true;
		return true;
	case FIELD_STATE:
		if (value.at < value.end)
			*(char *)ret = *value.at;
		return value.at < value.end;
	case FIELD_NAME:
		text_copy_printable(value, ret, sizeof(((struct process_status *)NULL)->name));
		return true;
	case FIELD_IDS:
		return read_ids(value, ret);
	case FIELD_FEATURES:
		while (text_take_word(&value, &word))
			*(bool *)ret |= text_equals(word, "shstk");
		return true;
	case FIELD_NUMBERS:
		return read_numbers(value, ret);
	default:
		return false;
	}
}

#define FIELD(member) offsetof(struct process_status, member)

static const struct {
	const char *key;
	enum field_kind kind;
	size_t offset;
} fields[] = {
	{ "Name:", FIELD_NAME, FIELD(name) },
	{ "State:", FIELD_STATE, FIELD(state) },
	{ "Tgid:", FIELD_INT, FIELD(tgid) },
	{ "PPid:", FIELD_INT, FIELD(parent) },
	{ "TracerPid:", FIELD_INT, FIELD(tracer) },
	{ "Uid:", FIELD_IDS, FIELD(uid) },
	{ "Gid:", FIELD_IDS, FIELD(gid) },
	{ "NSpid:", FIELD_NUMBERS, 0 },
	{ "Kthread:", FIELD_FLAG, FIELD(is_kernel_thread) },
	{ "VmSize:", FIELD_PRESENCE, FIELD(has_memory) },
	{ "CoreDumping:", FIELD_FLAG, FIELD(is_dumping_core) },
	{ "Threads:", FIELD_INT, FIELD(threads) },
	{ "SigPnd:", FIELD_MASK, FIELD(signals_pending) },
	{ "SigBlk:", FIELD_MASK, FIELD(signals_blocked) },
	{ "SigCgt:", FIELD_MASK, FIELD(signals_caught) },
	{ "CapPrm:", FIELD_MASK, FIELD(capabilities_permitted) },
	{ "CapEff:", FIELD_MASK, FIELD(capabilities) },
	{ "NoNewPrivs:", FIELD_FLAG, FIELD(no_new_privileges) },
	{ "Seccomp:", FIELD_INT, FIELD(seccomp) },
	{ "Seccomp_filters:", FIELD_INT, FIELD(seccomp_filters) },
	{ "x86_Thread_features:", FIELD_FEATURES, FIELD(has_shadow_stack) },
	{ "voluntary_ctxt_switches:", FIELD_U64, FIELD(voluntary_switches) },
};

static bool line_parse(struct text line, struct process_status *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct text value = line;

		if (!text_take_prefix(&value, fields[i].key))
			continue;
		text_skip_blanks(&value);
		return read_field(fields[i].kind, value, (char *)ret + fields[i].offset);
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
