/*
 * The agent: one control thread inside the target that obeys the host and leaves when the host is
 * gone.
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

/* Exported under this one name; called by the bootstrap code on the control thread.  Returns enum
 * agent_verdict. `directory` is -1 or the way to name descriptors in a root without /proc. */
int limpet_agent_run(struct boot_context *boot, int socket, int directory);

/* The page that the host reads from outside. */
extern struct agent_page agent_page;

/* Nanoseconds of a CLOCK_*. */
uint64_t page_clock(int clock);

/* Stores a new state with the time of the change. */
void page_set_state(enum agent_state state);

/* Loads a tool, or finds it loaded.  0, or -errno with the reason in text. */
int tools_load(const struct boot_context *boot, const struct control_load *load, const int fds[2],
	       char *text, size_t room);
/* Closes every tool, newest first; returns how many the loader refused to close. */
unsigned tools_close(const struct boot_context *boot);

/* Publishes the target's environment with these variables added; -ENOMEM leaves it as it was. */
int environment_publish(const struct boot_context *boot, const struct control_environ *list);
/* Takes them back; what the application itself changed meanwhile stays. */
void environment_restore(void);
