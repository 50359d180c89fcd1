/*
 * The tools of this process: one slot in the page for each, and its data that only the target
 * needs. One caller at a time; see lifecycle.h.
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
	struct limpet_client client;                                 /* handle 0: unknown */
	struct limpet_tool calls;
	struct limpet_tool_attach attach_calls;
	void (*reattach)(void *tool_data); /* of the experimental interface */
	bool is_configured, is_initialized, is_refused;
	bool is_apart; /* limpet's own tool, which opens no descriptor for application threads */
};

extern struct tool tools[AGENT_TOOLS_MAX];

/* For rocprofiler_is_finalized(): -1 during detaching or finalizing, 1 after exit()'s; else 0. */
extern int32_t tools_finality;
/* Set while a library is being loaded, and its constructors run. */
extern uint32_t tools_are_opening;

unsigned tools_count(void);

/* Loads a library, by its path or from the descriptor, or finds it loaded; returns its slot, or
 * -errno with the reason in text. The caller closes the descriptor as it is afterwards. */
int tools_load(const struct boot_context *boot, const struct control_load *load,
	       struct descriptor *file, char *text, size_t room);

/* Adds a tool that is part of the program, without a library of its own. */
int tools_add_function(void *configure);

/* Closes every tool that can be closed, newest first; returns how many stay. */
unsigned tools_close(const struct boot_context *boot, uint32_t timeout_ms);

/* Applies an event; false if the tool's state does not allow it. */
bool tool_move(struct tool *tool, unsigned event);
void tool_set_reason(struct tool *tool, const char *reason);

/* The last part of its path. */
const char *tool_name(const struct tool *tool);
