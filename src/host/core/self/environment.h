/*
 * Variables of a limpet that has more rights than whoever started it (capabilities of its file,
 * AT_SECURE).  That user's variables must not lead it to files, servers or settings; programs that
 * it starts for the user, with the user's rights, get them all the same.
 *
 * Libraries cannot do this to their callers: they ask secure_getenv().
 */
#pragma once

/* Where the kernel says so, leaves only variables that mean no more than how to speak.  Called
 * once, first of all. */
void environment_distrust(void);

/* As they were given. */
char **environment_given(void);
