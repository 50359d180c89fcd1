/*
 * The agent's page: what `limpet status` reads from outside without stopping anything.  It lies in
 * the data segment of the agent library; the host finds it by its magic.  Only the agent writes it.
 */
#pragma once

#include "shared/base/macros.h"

#define AGENT_PAGE_MAGIC   "limpet-agent-01"
#define AGENT_PAGE_VERSION 1
#define AGENT_MEMFD_NAME   "limpet-agent"
#define AGENT_TOOLS_MAX    16
#define TOOL_PATH_MAX      240

enum agent_state {
	AGENT_STATE_LOADED, /* in memory, never attached */
	AGENT_STATE_ATTACHED,
	AGENT_STATE_DETACHING,
	AGENT_STATE_RESTING,
};

enum agent_end {
	AGENT_END_NONE,
	AGENT_END_ASKED,     /* the host said so */
	AGENT_END_HOST_DIED, /* the host went away without a word */
	AGENT_END_PROTOCOL,  /* the host spoke nonsense */
};

/* Which file a tool came from, so that the same one is not loaded twice. */
struct tool_identity {
	uint64_t device, inode, size, modified_ns;
};

struct agent_tool {
	struct tool_identity identity;
	uint64_t handle; /* of dlopen; 0: the slot is free */
	uint32_t by_content;
	uint32_t reserved;
	char path[TOOL_PATH_MAX];
};

struct agent_page {
	char magic[16];
	uint32_t version, size;
	uint32_t state;      /* enum agent_state */
	uint32_t end_reason; /* enum agent_end of the last residence */
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
	uint32_t environment_changed; /* our variables are published now */
	char holder_name[32];
	struct agent_tool tools[AGENT_TOOLS_MAX];
};
