/*
 * The agent: a control thread inside the target that executes the host's orders, and ends with the
 * host.
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

/* Exported under this one name; the bootstrap calls it on the control thread. Returns enum
 * agent_verdict. */
int limpet_agent_run(struct boot_context *boot, int socket);

/* Runs one residence, from HELLO to its end; returns enum agent_verdict. */
int agent_reside(struct boot_context *boot, int socket);

/* Pins the copy of the library that the loader knows first: the target may close the library that
 * brought it, while exit handlers and limpet's threads are still to run. */
void agent_stay(void);

/* Copies of the library cooperate only if this is the same in both: AGENT_VERSION. */
extern const uint32_t limpet_agent_version;

/* Publishes the target's environment with these variables added; -ENOMEM: nothing has changed. */
int environment_publish(const struct control_environ *list);
/* Removes these variables; what the application has changed meanwhile stays. */
void environment_restore(void);
