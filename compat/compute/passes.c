/*
 * Puts counters into passes, as rocprof-compute does: blocks have so many counters at once.
 */
#include "selection.h"

#include "host/core/text/print.h"
#include "host/counters/amd/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* SQC's counters are those of SQ. */
static void block_of(const char *counter, char *ret, size_t room)
{
	print_into(ret, room, "%.*s", (int)strcspn(counter, "_"), counter);
	if (!strcmp(ret, "SQC"))
		print_into(ret, room, "SQ");
}

static bool pass_has_room(const struct counter_pass *pass, const char *counter,
			  const char *architecture)
{
	char block[32], other[32];
	unsigned used = 0;

	block_of(counter, block, sizeof(block));
	for (size_t i = 0; i < pass->count; i++) {
		block_of(pass->names[i], other, sizeof(other));
		used += !strcmp(block, other);
	}
	return pass->count < PASS_MAX && used < block_counters(architecture, block);
}

static bool is_level(const char *counter)
{
	size_t length = strlen(counter);

	return strstr(counter, "LEVEL") && (length < 4 || strcmp(counter + length - 4, "_sum"));
}

static void pass_add(struct counter_pass *pass, const char *name)
{
	pass->names[pass->count++] = name;
}

static struct counter_pass *pass_new(struct counter_passes *passes)
{
	return passes->count < PASSES_MAX ? &passes->items[passes->count++] : NULL;
}

/* The sum over time of a LEVEL counter has a name of its own in AMD's definitions. */
static int level_add(struct counter_passes *passes, struct pool *names, const char *counter)
{
	struct counter_pass *pass = pass_new(passes);
	char name[160];
	const char *kept;

	print_into(name, sizeof(name), "%s_ACCUM", counter);
	kept = pool_keep(names, name);
	if (!pass || !kept)
		return -E2BIG;
	pass_add(pass, counter);
	pass_add(pass, kept);
	return 0;
}

static int counter_place(struct counter_passes *passes, const char *counter,
			 const char *architecture)
{
	struct counter_pass *pass;

	for (size_t i = 0; i < passes->count; i++)
		if (pass_has_room(&passes->items[i], counter, architecture)) {
			pass_add(&passes->items[i], counter);
			return 0;
		}
	pass = pass_new(passes);
	if (!pass)
		return -E2BIG;
	pass_add(pass, counter);
	return 0;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void tell_left(const struct counter_selection *selection, const char *counter,
		      const char *why)
{
	char text[256];

	print_into(text, sizeof(text), "counter '%s' is left out: %s", counter, why);
	selection->tell(selection->context, text);
}

/* Why it is not counted; NULL: it is. */
static const char *reason_find(const char *counter, const char *architecture)
{
	char block[32];

	block_of(counter, block, sizeof(block));
	if (counter_name_is_channel(counter))
		return "limpet counts no single channels of a cache";
	if (!block_counters(architecture, block))
		return "its block is not known for this architecture";
	return NULL;
}

/* In the order of their names, so that two runs are alike. */
static size_t names_choose(const struct counter_selection *selection, const char *architecture,
			   const char **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < selection->counters.count && count < COUNTERS_MAX; i++) {
		const char *name = pool_text(&selection->counters, (uint32_t)i);
		const char *why = reason_find(name, architecture);

		if (!strcmp(name, "SQ_ACCUM_PREV_HIRES"))
			continue; /* a LEVEL counter's sum, under its older name */
		if (why)
			tell_left(selection, name, why);
		else
			ret[count++] = name;
	}
	qsort(ret, count, sizeof(*ret), name_compare);
	return count;
}

int passes_pack(struct counter_passes *ret, struct counter_selection *selection,
		const char *architecture, struct err *err)
{
	const char *names[COUNTERS_MAX];
	size_t count = names_choose(selection, architecture, names);
	int r = 0;

	*ret = (struct counter_passes){ 0 };
	for (size_t i = 0; !r && i < count; i++)
		if (is_level(names[i]))
			r = level_add(ret, &selection->counters, names[i]);
	for (size_t i = 0; !r && i < count; i++)
		if (!is_level(names[i]))
			r = counter_place(ret, names[i], architecture);
	return r ? err_set(err, r, "more counters are asked for than %u passes hold", PASSES_MAX)
		 : 0;
}
