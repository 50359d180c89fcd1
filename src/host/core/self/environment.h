/*
 * Variables of a limpet that has more rights than the user who started it (capabilities of its
 * file, AT_SECURE).  That user's variables must not lead it to files, servers or settings; programs
 * that it starts for the user, with the user's rights, get them all the same.
 *
 * Libraries cannot do this to their callers: they ask secure_getenv().
 */
#pragma once

/* If AT_SECURE is set, keeps only variables for language and terminal.  Called once, first of
 * all. */
void environment_distrust(void);

/* The original environment. */
char **environment_given(void);
