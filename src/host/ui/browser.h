/*
 * Opens the page in a browser, as the person who started limpet, and never as root.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* Who started limpet: the user behind sudo where there is one. */
void invoker_find(uid_t *ret_user, gid_t *ret_group);

/* A page that leads to the address, readable by the user alone: the address has the token in it,
 * and a command line is visible to every user.  "": there is none. */
struct browser {
	char page[64];
};

/* Nothing where there is no screen, for root, and where xdg-open is missing: the address was
 * printed. */
void browser_open(struct browser *ret, const char *url, uid_t user, gid_t group);

/* Removes the page. */
void browser_close(struct browser *browser);
