/*
 * Names of users from /etc/passwd, read once.  No NSS: a static executable must not load libraries.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct users {
	char *text; /* NULL when there is no such file */
	size_t size;
};

void users_init(struct users *ret);
void users_done(struct users *users);

/* The user's name, or the number when no user has it. */
void users_name(const struct users *users, uid_t uid, char *buffer, size_t capacity);
