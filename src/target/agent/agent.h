/*
 * The agent: one control thread inside the target that obeys the host and leaves when the host is
 * gone.
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

/* Exported under this one name; called by the bootstrap code on the control thread.  Returns enum
 * agent_verdict. */
int limpet_agent_run(struct boot_context *boot, int socket);

/* From hello to the end; the same. */
int agent_reside(struct boot_context *boot, int socket);

/* The copy that the loader knows first is not ours to unmap, nor anybody's once it has work: the
 * program may close the library that brought it, while exit() and threads of ours are to come. */
void agent_stay(void);

/* Copies of the library work together only when this is the same in both: AGENT_VERSION. */
extern const uint32_t limpet_agent_version;

/* Publishes the target's environment with these variables added; -ENOMEM leaves it as it was. */
int environment_publish(const struct control_environ *list);
/* Takes them back; what the application itself changed meanwhile stays. */
void environment_restore(void);
