/*
 * Commands that give limpet a missing right.
 */
#pragma once

#include "host/core/err.h"

/* Where a right is missing.  File capabilities make root of every user who may run the file: a
 * message that recommends them must warn of that. */
#define RIGHTS_SETUP "limpet doctor --setup"

/* How limpet gets the rights of root: a text for err_fix().  Root in a container needs
 * capabilities. */
const char *rights_fix(void);

/* The same for one capability, by the kernel's name without CAP_; or an alternative, which may be
 * NULL. */
int rights_fix_with(struct err *err, const char *capability, const char *otherwise);

/* The engine whose container limpet runs in: "docker", "podman", "kubernetes", "container"; NULL:
 * none. */
const char *container_engine(void);
