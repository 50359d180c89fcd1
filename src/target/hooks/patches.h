/*
 * Patches: the words of the target that limpet has changed, each with its old value.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct patch {
	uint64_t *at;
	uint64_t old, now;
	uint64_t owner; /* identifies its module; 0: none */
};

struct patches_left {
	uint32_t restored;
	uint32_t foreign;    /* changed by another tool meanwhile, and left unchanged */
	uint32_t unwritable; /* still patched: no longer writable */
	uint64_t owner;      /* of a patch that is foreign or unwritable */
};

/* Maps memory for patches; -ENOMEM. */
int patches_open(void) MUST_CHECK;
void patches_close(void);

/* True if the word is writable now; the test does not change the word. */
bool word_is_writable(uint64_t *at);

/* Patches a word that holds `old`; -EAGAIN if it no longer does, -ENOSPC. */
int patch_apply(const struct patch *patch) MUST_CHECK;

/* Restores the words of one owner between two addresses. */
void patches_restore(uint64_t owner, uint64_t start, uint64_t end, struct patches_left *left);

/* Visits every patch of an owner; restores one. */
void patches_each(uint64_t owner, void (*visit)(struct patch *patch, struct patches_left *left),
		  struct patches_left *left);
void patch_restore(struct patch *patch, bool is_writable, struct patches_left *left);

/* Counts an owner's words between two addresses that still hold limpet's value. */
uint32_t patches_held(uint64_t owner, uint64_t start, uint64_t end);

/* Drops the patches of an owner that was unloaded. */
void patches_forget(uint64_t owner);

/* True if this owner has patched words. */
bool patches_has(uint64_t owner);
