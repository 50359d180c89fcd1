/*
 * Runs on threads of ours, one at a time.
 */
#include "target/hooks/table.h"

#include <errno.h>

#define NO_MODULE 0

int table_hook_owned(uint64_t *entry, uint64_t owner, const struct traced *traced, const char *name,
		     const char *library)
{
	uint64_t original = __atomic_load_n(entry, __ATOMIC_RELAXED);
	struct function_name known_as = { name, library };
	struct hook *hook;

	if (!original)
		return -ENOENT;
	if (hook_is_stub(original))
		return -EEXIST;
	hook = hook_get(original, traced, &known_as);
	if (!hook || !hook_announce(hook, &known_as))
		return -ENOSPC;
	return word_change(&(struct word){ entry, original, hook_stub(hook), owner });
}

int table_hook(uint64_t *entry, const struct traced *traced, const char *name, const char *library)
{
	uint64_t original = __atomic_load_n(entry, __ATOMIC_RELAXED);

	if (original && !hook_is_stub(original) && !word_is_writable(entry))
		return -EACCES;
	return table_hook_owned(entry, NO_MODULE, traced, name, library);
}

void table_restore(struct words_left *left)
{
	words_restore(NO_MODULE, 0, UINT64_MAX, left);
}
