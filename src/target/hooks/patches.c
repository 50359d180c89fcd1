/*
 * Runs on limpet's threads, one at a time.
 */
#include "target/hooks/patches.h"

#include "target/runtime/mapping.h"

#include <errno.h>
#include <linux/futex.h>

#ifndef PATCHES_MAX
#define PATCHES_MAX 131072u
#endif
#define SLOTS_MAX  (2 * PATCHES_MAX)
#define PAGE_BYTES 4096u

struct tables {
	struct patch patches[PATCHES_MAX];
	uint32_t slots[SLOTS_MAX]; /* by address; number of the patch plus one */
};

static struct tables *tables;
static struct patch *patches;
static uint32_t count;

int patches_open(void)
{
	struct tables *made = memory_map(sizeof(*made), MAP_NORESERVE);

	if (!made)
		return -ENOMEM;
	tables = made;
	patches = tables->patches;
	count = 0;
	return 0;
}

void patches_close(void)
{
	memory_unmap(tables, sizeof(*tables));
	tables = NULL;
	patches = NULL;
	count = 0;
}

/* Lets the kernel atomically add 0 to the word, which needs write access. */
bool word_is_writable(uint64_t *at)
{
	uint32_t unused = 0;

	return raw6(SYS_futex, &unused, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, at,
		    FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static bool patch_store(uint64_t *at, uint64_t old, uint64_t now)
{
	/* One 8-byte store. Release: a call through the word sees the complete hook. */
	return __atomic_compare_exchange_n(at, &old, now, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

/* Finds the slot of a word's patch, or a free one. Forgotten patches keep their slots. */
static uint32_t *slot_of(const uint64_t *at)
{
	uint32_t first = (uint32_t)((uint64_t)at / sizeof(*at) * 0x9e3779b97f4a7c15u >> 40);

	for (;; first++) {
		uint32_t *slot = &tables->slots[first % SLOTS_MAX];

		if (!*slot || patches[*slot - 1].at == at)
			return slot;
	}
}

int patch_apply(const struct patch *patch)
{
	uint32_t *slot = slot_of(patch->at);

	if (!*slot) {
		if (count == PATCHES_MAX)
			return -ENOSPC;
		*slot = ++count;
	}
	/* Noted before the word is changed. */
	patches[*slot - 1] = *patch;
	if (patch_store(patch->at, patch->old, patch->now))
		return 0;
	patches[*slot - 1].at = NULL;
	return -EAGAIN;
}

static bool is_held(const struct patch *patch)
{
	return __atomic_load_n(patch->at, __ATOMIC_RELAXED) == patch->now;
}

static bool is_between(const struct patch *patch, uint64_t start, uint64_t end)
{
	return patch->at && (uint64_t)patch->at >= start && (uint64_t)patch->at < end;
}

static bool store_old(const struct patch *patch)
{
	return (is_held(patch) && patch_store(patch->at, patch->now, patch->old)) ||
	       __atomic_load_n(patch->at, __ATOMIC_RELAXED) == patch->old;
}

void patch_restore(struct patch *patch, bool is_writable, struct patches_left *left)
{
	if (is_writable && store_old(patch)) {
		left->restored++;
	} else {
		left->foreign += is_writable;
		left->unwritable += !is_writable;
		left->owner = patch->owner;
	}
	patch->at = NULL;
}

void patches_restore(uint64_t owner, uint64_t start, uint64_t end, struct patches_left *left)
{
	uint64_t page = 0;
	bool is_writable = false;

	for (uint32_t i = 0; i < count; i++) {
		struct patch *patch = &patches[i];

		if (patch->owner != owner || !is_between(patch, start, end))
			continue;
		if ((uint64_t)patch->at / PAGE_BYTES != page)
			is_writable = word_is_writable(patch->at);
		page = (uint64_t)patch->at / PAGE_BYTES;
		patch_restore(patch, is_writable, left);
	}
}

void patches_each(uint64_t owner, void (*visit)(struct patch *, struct patches_left *),
		  struct patches_left *left)
{
	for (uint32_t i = 0; i < count; i++)
		if (patches[i].owner == owner && patches[i].at)
			visit(&patches[i], left);
}

uint32_t patches_held(uint64_t owner, uint64_t start, uint64_t end)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < count; i++)
		held += patches[i].owner == owner && is_between(&patches[i], start, end) &&
			is_held(&patches[i]);
	return held;
}

void patches_forget(uint64_t owner)
{
	for (uint32_t i = 0; i < count; i++)
		if (patches[i].owner == owner)
			patches[i].at = NULL;
}

bool patches_has(uint64_t owner)
{
	for (uint32_t i = 0; i < count; i++)
		if (patches[i].owner == owner && patches[i].at)
			return true;
	return false;
}
