/*
 * Functions of the loader's that take its locks.  A process that forks while one of our threads
 * holds such a lock has a child in which nobody gives it back: that child hangs in its next dlopen,
 * and, with an older libgcc, in its next exception.  So ours and the program's forks wait for each
 * other here, both for a limited time.
 */
#pragma once

#include <link.h>
#include <stdbool.h>

struct loader_libc {
	int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	void *(*open)(const char *, int);
	int (*close)(void *);
	/* NULL: the program's forks know nothing of us. */
	int (*register_fork)(void (*)(void), void (*)(void), void (*)(void), void *);
};

void loader_use(const struct loader_libc *libc);

/* As dl_iterate_phdr, dlopen and dlclose.  On threads of ours only. */
int loader_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data);
void *loader_open(const char *name, int flags);
int loader_close(void *handle);

/* The program's forks forget us, before this library goes; `finalize` is __cxa_finalize.  A thread
 * that forks just now may still come out of here. */
void loader_leave_forks(void (*finalize)(void *));

/* Do they know us? */
bool loader_is_in_forks(void);
