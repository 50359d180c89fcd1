/*
 * Runs on threads of ours, one at a time.
 */
#include "target/hooks/table.h"

#include "target/hooks/protection.h"

#include <errno.h>

#define NO_MODULE 0

int table_hook(uint64_t *entry, const struct traced *traced, const char *name, const char *library)
{
	uint64_t original = __atomic_load_n(entry, __ATOMIC_RELAXED);
	struct function_name known_as = { name, library };
	struct hook *hook;

	if (!original)
		return -ENOENT;
	if (hook_is_stub(original))
		return -EEXIST;
	hook = hook_get(original, traced, &known_as);
	if (!hook)
		return -ENOSPC;
	hook->is_of_table = 1;
	if (!hook_announce(hook, &known_as))
		return -ENOSPC;
	return table_store(entry, original, hook_stub(hook));
}

int table_store(uint64_t *entry, uint64_t old, uint64_t now)
{
	struct protection protection;
	int r = protection_open(entry, &protection);

	if (r)
		return r;
	r = word_change(&(struct word){ entry, old, now, NO_MODULE });
	protection_close(&protection);
	return r;
}

static void restore_one(uint64_t *at, struct words_left *left)
{
	struct protection protection;
	int r = protection_open(at, &protection);

	if (r == -EFAULT)
		left->foreign++; /* gone with its module */
	else
		words_restore(NO_MODULE, (uint64_t)at, (uint64_t)at + sizeof(*at), left);
	if (!r)
		protection_close(&protection);
}

void table_restore(struct words_left *left)
{
	words_each(NO_MODULE, restore_one, left);
}
