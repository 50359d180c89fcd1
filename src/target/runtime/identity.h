/*
 * Has the program given up rights that a thread of ours still has?  Identity, capabilities,
 * filters, root and namespaces belong to a thread, and ours are not told when the program changes
 * its own (broadcast.h): they look, and end when they have more, or are elsewhere.
 */
#pragma once

#include "target/runtime/place.h"

#include <stdbool.h>

/* How often to look.  No thread of ours keeps rights for longer than this and the time that its
 * end takes. */
#define IDENTITY_GLANCE_MS 200

#define IDENTITY_FIELDS 11

/* What /proc says of one thread, field by field of the table in identity.c. */
struct identity {
	uint64_t fields[IDENTITY_FIELDS];
	struct place place;
};

enum identity_state {
	IDENTITY_UNSEEN, /* there is no /proc to look at, or no descriptor for it */
	IDENTITY_WATCHED,
	IDENTITY_EXCEEDED,
};

struct identity_watch {
	enum identity_state state;
	int32_t origin;
	struct identity own; /* of the thread that began, and of those that it makes */
	int32_t reference; /* the thread of the program's that it is compared with; 0: the first */
};

/* Begins, on the thread whose rights are meant; `origin` is the thread of the program's that it
 * came from, 0 when that is not known. */
void identity_begin(struct identity_watch *self, int32_t origin);

/* Has the calling thread none? */
bool identity_thread_is_unfiltered(void);
/* Has no thread a filter?  False also where it cannot be seen. */
bool identity_is_unfiltered(void);

/* Do that thread and its like have more than the program?  On one thread at a time. */
bool identity_exceeds(struct identity_watch *self);
