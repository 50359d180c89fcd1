/*
 * Opens the page in a browser, as the person who started limpet, and never as root.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* Who started limpet: the user behind sudo where there is one. */
void invoker_find(uid_t *ret_user, gid_t *ret_group);
