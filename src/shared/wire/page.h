/*
 * The agent's page: what `limpet status` reads from outside without stopping anything.  It is in
 * the data segment of the agent library; the host finds it by its magic.  Only the agent writes it.
 */
#pragma once

#include "shared/base/macros.h"

#define AGENT_PAGE_MAGIC   "limpet-agent-01"
#define AGENT_PAGE_VERSION 6
#define AGENT_STAYS_MAX    160
#define AGENT_MEMFD_NAME   "limpet-agent"
#define AGENT_SONAME       "librocprofiler-sdk.so.1" /* what tools link with */
#define AGENT_TOOLS_MAX    16
#define AGENT_TABLES_MAX   32
#define TOOL_PATH_MAX      240
#define TOOL_REASON_MAX    160
#define TABLE_NAME_MAX     24
#define TABLE_PARTS_MAX    4

enum agent_state {
	AGENT_STATE_LOADED, /* in memory, never attached */
	AGENT_STATE_ATTACHED,
	AGENT_STATE_DETACHING,
	AGENT_STATE_RESTING,
};

enum agent_end {
	AGENT_END_NONE,
	AGENT_END_ASKED,     /* on the host's request */
	AGENT_END_HOST_DIED, /* the connection was closed without one */
	AGENT_END_PROTOCOL,  /* the host sent an invalid message */
	AGENT_END_ALONE,     /* no thread of the program is left */
	AGENT_END_IDENTITY,  /* the program has given up rights that limpet's threads would keep */
};

/* Where a tool stands; docs/lifecycle.md draws it. */
enum tool_state {
	TOOL_IDLE, /* loaded; not configured, or takes no part */
	TOOL_ATTACHING,
	TOOL_ATTACHED,
	TOOL_DETACHING,
	TOOL_DETACHED,
	TOOL_FAILED,
	TOOL_STATES,
};

/* Identifies a tool's file, so that it is not loaded twice. */
struct tool_identity {
	uint64_t device, inode, size, modified_ns;
};

struct agent_tool {
	struct tool_identity identity;
	uint64_t handle; /* of dlopen; 0: the slot is free */
	uint32_t by_content;
	uint32_t state;               /* enum tool_state */
	uint32_t is_plain;            /* a library without rocprofiler_configure, loaded as such */
	uint32_t attaches;            /* how often tool_attach was called, or stood for */
	uint32_t contexts;            /* that it has made */
	uint32_t is_inside;           /* a call of it has not returned */
	char path[TOOL_PATH_MAX];     /* as the host gave it */
	char reason[TOOL_REASON_MAX]; /* why it is idle or failed */
};

/* A live API table of a runtime: writes take effect with the next call. */
struct agent_table {
	char name[TABLE_NAME_MAX]; /* "hip" */
	uint64_t version, instance;
	uint32_t part_count;
	uint32_t reserved;
	uint64_t parts[TABLE_PARTS_MAX]; /* addresses */
};

struct agent_page {
	char magic[16];
	uint32_t version, size; /* AGENT_VERSION (control.h): includes the protocol's */
	uint32_t state;         /* enum agent_state */
	uint32_t end_reason;    /* enum agent_end of the last residence */
	uint32_t attaches;
	int32_t pid; /* the process as it counts itself: a forked child has its parent's page */
	int32_t control_tid; /* as the target counts it, 0 while resting */
	int32_t holder_pid;  /* as the host counts it */
	uint64_t holder_start;
	uint64_t since_ns;  /* CLOCK_REALTIME of the last change of state */
	uint64_t loaded_ns; /* CLOCK_BOOTTIME of the first attach: threads from before cannot be in
			       a tool */
	uint64_t dropped;   /* records lost since the first attach */
	uint64_t context;   /* address of the boot_context */
	uint32_t tool_count;
	uint32_t environment_changed; /* limpet's variables are published now */
	char holder_name[32];
	uint32_t table_count;
	uint32_t is_final;     /* the program is ending: the tools have been finalized */
	uint32_t has_hooked;   /* the target's threads may have come through this library */
	uint32_t is_unloading; /* tools are being closed: no code of the target leads to them */
	char tracer_stays[AGENT_STAYS_MAX]; /* why the tracer must not be unloaded; "": it may */
	struct agent_tool tools[AGENT_TOOLS_MAX];
	struct agent_table tables[AGENT_TABLES_MAX];
};
