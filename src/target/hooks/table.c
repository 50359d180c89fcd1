/*
 * Runs on limpet's threads, one at a time.
 */
#include "target/hooks/table.h"

#include "target/hooks/protection.h"

#include <errno.h>

#define NO_MODULE 0

/* In a batch, the range made writable for one entry stays so for its neighbours. */
static struct protection opened;
static bool is_batch;

static void close_opened(void)
{
	protection_close(&opened);
	opened = (struct protection){ 0 };
}

void table_begin(void)
{
	is_batch = true;
}

void table_end(void)
{
	close_opened();
	is_batch = false;
}

static int open_entry(uint64_t *entry)
{
	if ((uint64_t)entry >= opened.start && (uint64_t)entry < opened.end)
		return 0;
	close_opened();
	return protection_open(entry, &opened);
}

/* Stores a value into an entry that holds `old`; it is restored like the others. */
static int table_store(uint64_t *entry, uint64_t old, uint64_t now)
{
	int r = open_entry(entry);

	if (!r)
		r = patch_apply(&(struct patch){ entry, old, now, NO_MODULE });
	if (!is_batch)
		close_opened();
	return r;
}

int table_hook(uint64_t *entry, const struct traced *traced, const char *name, const char *library)
{
	return table_hook_empty(entry, 0, traced, &(struct function_name){ name, library });
}

int table_hook_empty(uint64_t *entry, uint64_t absent, const struct traced *traced,
		     const struct function_name *name)
{
	uint64_t old = __atomic_load_n(entry, __ATOMIC_RELAXED), original = old ? old : absent;
	struct hook *hook;

	if (!original)
		return -ENOENT;
	if (hook_is_stub(original))
		return -EEXIST;
	hook = hook_get(original, traced, name);
	if (!hook)
		return -ENOSPC;
	hook->is_of_table = 1;
	if (!hook_announce(hook, name))
		return -ENOSPC;
	return table_store(entry, old, hook_stub(hook));
}

void table_report(int r, struct hooks_report *report)
{
	report->hooked += !r;
	report->unwritable += r == -EACCES || r == -EFAULT;
	report->refused += r == -ENOSPC;
}

static void restore_one(struct patch *patch, struct patches_left *left)
{
	int r = open_entry(patch->at);

	if (r == -EFAULT) {
		left->foreign++; /* unmapped with its module */
		patch->at = NULL;
	} else {
		patch_restore(patch, !r, left);
	}
}

void table_restore(struct patches_left *left)
{
	table_begin();
	patches_each(NO_MODULE, restore_one, left);
	table_end();
}
