/*
 * Patches: the words of the program that we have changed, each with what it held before.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct patch {
	uint64_t *at;
	uint64_t old, now;
	uint64_t owner; /* by which its module is known; 0: none */
};

struct patches_left {
	uint32_t restored;
	uint32_t foreign;    /* changed by somebody else meanwhile, and left so */
	uint32_t unwritable; /* still ours: they cannot be written any more */
	uint64_t owner;      /* of one that is foreign or cannot be written */
};

/* Room for patches; -ENOMEM. */
int patches_open(void) MUST_CHECK;
void patches_close(void);

/* May the word be written now?  Nothing is changed by asking. */
bool word_is_writable(uint64_t *at);

/* Patches a word that holds `old`; -EAGAIN when it does not any more, -ENOSPC. */
int patch_apply(const struct patch *patch) MUST_CHECK;

/* Puts back the words of one owner that lie between the two addresses. */
void patches_restore(uint64_t owner, uint64_t start, uint64_t end, struct patches_left *left);

/* Was this word patched by us? */
bool patch_is_known(const uint64_t *at);
/* What it held before; 0 for a word that we do not know. */
uint64_t patch_old(const uint64_t *at);

/* Every patch of an owner; to put one back. */
void patches_each(uint64_t owner, void (*visit)(struct patch *patch, struct patches_left *left),
		  struct patches_left *left);
void patch_restore(struct patch *patch, bool is_writable, struct patches_left *left);

/* How many of an owner's words that lie between the two addresses still hold what we stored. */
uint32_t patches_held(uint64_t owner, uint64_t start, uint64_t end);

/* They are gone with their owner. */
void patches_forget(uint64_t owner);

/* How many words are patched, and how many of this owner's. */
uint32_t patches_count(void);
bool patches_has(uint64_t owner);
