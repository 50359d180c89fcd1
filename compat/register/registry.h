/*
 * The runtimes that may register, and what they have registered.  Any thread adds and reads at any
 * time, without a lock: in a child of fork a lock would stay held for ever, by a thread that is not
 * there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGISTRY_INSTANCES 8 /* of one name */
#define REGISTRY_TABLES    16

/* The index of a name in the list, which is part of the binary interface, or -ENOENT. */
int names_find(const char *name);
/* Is this path that of a library which may register under the name? */
bool names_match_file(int runtime, const char *path);

enum registration_state {
	REGISTRATION_NONE,     /* being written */
	REGISTRATION_RECORDED, /* no profiler has been offered it */
	REGISTRATION_PASSING,  /* some thread is offering it now */
	REGISTRATION_PASSED,
	REGISTRATION_REFUSED,
};

struct registration {
	uint32_t state; /* enum registration_state, stored last */
	uint32_t version;
	const char *name;
	uint64_t instance;
	uint64_t count;
	void *tables[REGISTRY_TABLES];
};

/* Records tables; the entry stays for ever.  -ENOSPC when there are too many of this name. */
int registry_add(int runtime, uint32_t version, void **tables, uint64_t count,
		 struct registration **ret);

/* The entry at this index, in order of registration: NULL past the end, or while it is written. */
struct registration *registry_at(size_t index);
/* How many indexes there are; some may still be in the making. */
size_t registry_count(void);

enum registration_state registration_state(const struct registration *self);

/* Claims an entry for offering, if its state is in the mask (1 << state). */
bool registration_claim(struct registration *self, unsigned states);
void registration_settle(struct registration *self, enum registration_state state);

/* In a child of fork: drops what another thread of the parent was offering, which has no thread
 * here.  Async-signal-safe. */
void registry_forget_passing(void);
