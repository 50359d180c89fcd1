/*
 * Finds out whether the application has given up rights that a thread of limpet's still has. IDs,
 * capabilities, filters, root and namespaces belong to a thread, and limpet's threads get no
 * broadcast of changes (broadcast.h): they poll, and end if they have more rights, or other
 * namespaces.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Polling interval. limpet's threads keep rights no longer than this plus the time to end. */
#define IDENTITY_GLANCE_MS 200

#define IDENTITY_FIELDS 11

/* A thread's root and namespaces, which each thread may change for itself. */
#define PLACE_FILES 9

struct place {
	struct {
		uint64_t device, inode; /* 0: this kernel has no such namespace */
	} files[PLACE_FILES];
};

/* Reads those of the thread `folder`, "/proc/thread-self". 0; negative errno: it has ended. */
int place_read(const char *folder, struct place *ret);

bool place_is_same(const struct place *a, const struct place *b);

/* A thread's status in /proc, by the table of fields in identity.c. */
struct identity {
	uint64_t fields[IDENTITY_FIELDS];
	struct place place;
};

enum identity_state {
	IDENTITY_UNSEEN, /* /proc is missing, or no descriptor is free for it */
	IDENTITY_WATCHED,
	IDENTITY_EXCEEDED,
};

struct identity_watch {
	enum identity_state state;
	int32_t origin;
	struct identity own; /* of the thread that began, and of threads that it creates */
	int32_t reference;   /* the application thread to compare with; 0: the first */
};

/* Begins, on the thread to check; `origin` is the application thread that created it, or 0. */
void identity_begin(struct identity_watch *self, int32_t origin);

/* True if the calling thread has no filter. */
bool identity_thread_is_unfiltered(void);
/* True if no thread has a filter. False also if that is unreadable. */
bool identity_is_unfiltered(void);

/* True if that thread has more rights than the application. On one thread at a time. */
bool identity_exceeds(struct identity_watch *self);
