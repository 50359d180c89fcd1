/*
 * The tools of this process: one slot in the page each, and beside it what only the target needs.
 * One caller at a time; see lifecycle.h.
 */
#pragma once

#include "limpet/tool.h"
#include "shared/wire/boot.h"
#include "shared/wire/control.h"
#include "target/runtime/descriptor.h"

#include <stdbool.h>

struct tool {
	struct agent_tool *page;
	unsigned index;
	void *configure, *configure_attach, *configure_experimental; /* exported symbols */
	struct limpet_client client;                                 /* handle 0: not known */
	struct limpet_tool calls;
	struct limpet_tool_attach attach_calls;
	void (*reattach)(void *tool_data); /* of the older form */
	bool is_configured, is_initialized, is_refused;
	bool is_apart; /* limpet's own, and opens nothing that threads of the program's use */
};

extern struct tool tools[AGENT_TOOLS_MAX];

/* As AMD's library tells tools: -1 while they are finalized, 1 when they were; else 0. */
extern int32_t tools_finality;
/* A library is being loaded, and its constructors run. */
extern uint32_t tools_are_opening;

unsigned tools_count(void);

/* Loads a library, by its path or from the descriptor, or finds it loaded; its slot, or -errno
 * with the reason in text.  The descriptor is the caller's to close, as it is then. */
int tools_load(const struct boot_context *boot, const struct control_load *load,
	       struct descriptor *file, char *text, size_t room);

/* A tool that is part of the program: it has no library of its own. */
int tools_add_function(void *configure);

/* Closes every tool that may go, newest first; returns how many stay. */
unsigned tools_close(const struct boot_context *boot, uint32_t timeout_ms);

/* Moves a tool along; false when its state does not allow the event. */
bool tool_move(struct tool *tool, unsigned event);
void tool_set_reason(struct tool *tool, const char *reason);

/* The last part of its path. */
const char *tool_name(const struct tool *tool);
