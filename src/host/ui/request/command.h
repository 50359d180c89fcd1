/*
 * The requests of the HTTP process to the privileged one: a closed set of commands, each a datagram
 * of one size without pointers, and no file name in it.  The answer is a datagram with a memory
 * file beside it.  Both are checked: the sender may have been taken over.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define UI_MAGIC       0x3149554cu /* "LUI1" */
#define UI_THREADS_MAX 1024u
#define UI_NAME_MAX    1024u
#define UI_MODULE_MAX  256u
#define UI_FORMAT_MAX  32u
#define UI_WIDTH_MAX   16384u
#define UI_HZ_MAX      5000u
#define UI_CELL_MS_MAX 60000u
/* A hundred years in ns: sums of two stay in 64 bits. */
#define UI_TIME_MAX   (UINT64_C(3153600000) * 1000000000u)
#define UI_TRACES_MAX 16u
#define UI_TRACE_MAX  24u

enum ui_verb {
#define ROUTE(VERB, ...) UI_##VERB,
#include "host/ui/request/routes.def"
	UI_VERBS,
};

enum ui_kind {
	UI_CPU,
	UI_OFF_CPU,
	UI_RUNNABLE,
	UI_WALL,
	UI_ALLOC,
	UI_GPU,
	UI_LOCK,
	UI_IO,
	UI_KINDS
};

/* A part of a session. */
struct ui_range {
	uint32_t session;
	uint32_t thread_count; /* 0: all threads */
	uint64_t from_ns, to_ns;
	uint32_t threads[UI_THREADS_MAX]; /* numbers */
};

/* The options of a recording. */
struct ui_wish {
	int32_t pid;
	uint32_t hz; /* 0: no samples */
	uint64_t start_tick;
	uint8_t has_start, off_cpu, children, trace_count;
	uint8_t is_recorded; /* into a file that is kept */
	uint8_t padding[3];
	char traces[UI_TRACES_MAX][UI_TRACE_MAX];
};

struct ui_command {
	uint32_t magic, verb;
	uint64_t tag; /* returned with the answer */
	uint32_t kind, width, limit, cell_ms, thread;
	uint8_t is_json, is_inverted, is_by_thread, is_size_only;
	uint8_t is_hidden; /* requested by a hidden page, whose timers browsers slow down */
	uint8_t padding[7];
	uint64_t time_ns, since, correlation;
	struct ui_range range, other; /* other: of UI_COMPARE */
	struct ui_wish wish;
	char name[UI_NAME_MAX], module[UI_MODULE_MAX], format[UI_FORMAT_MAX];
};

enum ui_type { UI_TYPE_JSON, UI_TYPE_COLUMNS, UI_TYPE_FILE, UI_TYPES };

#define UI_FILE_NAME_MAX 64u

struct ui_answer {
	uint32_t magic, status;
	uint64_t tag, size; /* of the memory file in the same message */
	uint32_t type;
	uint32_t padding;
	char file[UI_FILE_NAME_MAX]; /* UI_TYPE_FILE: how it is to be called */
};

/* 0, or -EPROTO: it is none that may be carried out. */
int ui_command_check(const void *bytes, size_t size, struct ui_command *ret) MUST_CHECK;
int ui_answer_check(const void *bytes, size_t size, struct ui_answer *ret) MUST_CHECK;

/* "cpu", "off-cpu", ...; -1: there is no such kind. */
const char *ui_kind_name(enum ui_kind kind);
int ui_kind_find(const char *name);
