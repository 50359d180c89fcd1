/*
 * The control protocol between host and agent: datagrams on a socket pair, a header and a body.
 * Each side checks every byte with control_check() first.  The host sends requests, the agent
 * replies once to each.  An agent that detaches by itself because the program gives up rights sends
 * a farewell: a reply to CONTROL_FAREWELL.
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/page.h"

#define CONTROL_MAGIC     0x4c504354u /* "LPCT" */
#define CONTROL_VERSION   6u
#define CONTROL_MAX_BYTES 16384u
#define CONTROL_TEXT_MAX  512u
#define CONTROL_FAREWELL  UINT32_MAX /* as the sequence; no question has it */

/* The version that two copies of the agent, or a host and an agent of another limpet, must share;
 * the agent library exports it under this name, and its page begins with it. */
#define AGENT_VERSION \
	(AGENT_PAGE_VERSION << 24 | CONTROL_VERSION << 16 | sizeof(struct boot_context))
#define AGENT_VERSION_SYMBOL "limpet_agent_version"

/* Variables by which a tool knows that it was attached, under both of AMD's names; as pairs of
 * CONTROL_ENVIRON. */
#define ATTACHED_MARKERS                       \
	"ROCPROFILER_REGISTER_TOOL_ATTACHED\0" \
	"1\0"                                  \
	"ROCP_REGISTERED_TOOL_ATTACH\0"        \
	"1\0"
#define ATTACHED_MARKER_COUNT 2

enum control_kind {
	CONTROL_HELLO = 1, /* the host that holds the agent now; with it comes a file that the host
			      has locked while it lives */
	CONTROL_LOAD,      /* load a tool library; its bytes may come as a descriptor */
	CONTROL_ENVIRON,   /* publish variables */
	CONTROL_STEP,      /* one step of one tool */
	CONTROL_TABLES,    /* request the tables of a register library */
	CONTROL_FOUND,     /* tables that the host has found by itself */
	CONTROL_QUIET,     /* detach the tools; finalize them too when they are to go */
	CONTROL_DETACH,
	CONTROL_REPLY,
	CONTROL_RINGS,    /* memory for records comes as a descriptor */
	CONTROL_ALIKE,    /* no thread of the target has a filter that limpet's threads lack */
	CONTROL_NOTICE,   /* notice calls that change rights, where nothing is traced */
	CONTROL_COUNTERS, /* devices' counters, as a descriptor, or a request for tools' own */
};

enum control_flags {
	CONTROL_UNLOAD = 1,      /* of DETACH */
	CONTROL_FINALIZE = 1,    /* of QUIET */
	CONTROL_BY_CONTENT = 1,  /* of LOAD: a descriptor comes with it */
	CONTROL_DIRECTORY = 2,   /* of LOAD: that is of a directory which holds the library */
	CONTROL_PLAIN = 4,       /* of LOAD: any library, its constructor is all */
	CONTROL_APART = 8,       /* of LOAD: it opens nothing that the target's threads use */
	CONTROL_DEFINITIONS = 1, /* of COUNTERS: which definitions tools have brought */
	CONTROL_AGAIN = 2,       /* of COUNTERS, with that: sent again, tools may bring some */
	CONTROL_CALLBACK = 1, /* of TABLES: the function takes a callback (limpet's own register) */
	CONTROL_LOOK = 2,     /* of TABLES: only check whether AMD's has unknown ones */
};

struct control_header {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t size; /* of the whole message */
	uint32_t sequence;
	uint32_t flags;
	uint32_t reserved;
};

struct control_hello {
	struct control_header header;
	int32_t holder_pid;
	int32_t reserved;
	uint64_t holder_start;
	char holder_name[32];
};

/* The reply's value is the tool's index in the page. */
struct control_load {
	struct control_header header;
	uint32_t timeout_ms;
	uint32_t reserved;
	struct tool_identity identity;
	char path[TOOL_PATH_MAX];
};

/* Followed by count pairs name\0value\0. */
struct control_environ {
	struct control_header header;
	uint32_t count;
	uint32_t bytes;
};

/* In this order, each for all tools before the next. */
enum tool_step {
	STEP_CONFIGURE,
	STEP_INITIALIZE,
	STEP_ATTACH,
	TOOL_STEPS,
};

struct control_step {
	struct control_header header;
	uint32_t tool; /* its index in the page */
	uint32_t step; /* enum tool_step */
	uint32_t timeout_ms;
	uint32_t reserved;
};

/* Symbols of register libraries: limpet's calls back for each table; AMD's hands over all, and
 * lists its tables. */
#define REGISTER_EACH   "limpet_register_each"
#define REGISTER_INVOKE "rocprofiler_register_invoke_all_registrations"
#define REGISTER_LIST   "rocprofiler_register_iterate_registration_info"

struct control_tables {
	struct control_header header;
	uint64_t function; /* in the register library */
	uint64_t list;     /* AMD's list of its tables: no request if all are known here; 0: none */
	uint32_t timeout_ms;
	uint32_t reserved;
};

struct control_found {
	struct control_header header;
	char name[TABLE_NAME_MAX];
	uint32_t part_count;
	uint32_t timeout_ms; /* for tools that are shown it */
	uint64_t parts[TABLE_PARTS_MAX];
};

/* The reply's text names the tools that did not obey. */
struct control_quiet {
	struct control_header header;
	uint32_t timeout_ms; /* for each call */
	uint32_t reserved;
};

struct control_detach {
	struct control_header header;
};

struct control_rings {
	struct control_header header;
	uint64_t size; /* of the memory */
};

struct control_alike {
	struct control_header header;
	uint64_t reserved[2]; /* no other message has its size */
};

struct control_notice {
	struct control_header header;
	uint32_t timeout_ms;
	uint32_t reserved;
};

/* The memory is a catalog (catalog.h); or, with CONTROL_DEFINITIONS, room for a text in YAML, whose
 * size is the reply's value. */
#define COUNTERS_TEXT_MAX ((uint64_t)8 << 20)
#define COUNTERS_REPLACE  0x80000000u /* in that value: instead of the machine's own */
#define COUNTERS_WAIT     0x40000000u /* in that value: tools wait for counters */
struct control_counters {
	struct control_header header;
	uint64_t bytes;
	uint64_t reserved[2]; /* no other message has its size */
};

struct control_reply {
	struct control_header header;
	int32_t code; /* 0 or negative errno */
	uint32_t value;
	char text[CONTROL_TEXT_MAX];
};

/* Fills in a header. */
void control_header_init(struct control_header *header, enum control_kind kind, size_t size);

/* 0 when the message is whole, every text in it ends and a reply's code is one; -EPROTO otherwise.
 */
int control_check(const void *message, size_t size) MUST_CHECK;

/* Steps through the pairs of a checked CONTROL_ENVIRON; cursor starts at NULL.  False at the end.
 */
_Bool control_environ_next(const struct control_environ *message, const char **cursor,
			   const char **name, const char **value);
