/*
 * Puts data into the page.
 */
#include "host/export/profile/flame_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/export/exporter.h"

#define MARK "@DATA@"

extern const char blob_flamegraph[], blob_flamegraph_end[];

/* As in the page: the value of a node that stands for lost callers, and that of the first process.
 */
enum { VALUE_INCOMPLETE = -1, VALUE_PROCESS = -3 };

static int64_t value_of(const struct tree_node *node)
{
	if (node->kind == TREE_FUNCTION)
		return node->value;
	return node->kind == TREE_PROCESS ? VALUE_PROCESS - (int64_t)node->value : VALUE_INCOMPLETE;
}

void flame_page_nodes(struct json *json, const struct call_tree *tree)
{
	json_list(json, "parents");
	for (size_t i = 1; i < tree->count; i++)
		json_signed(json, NULL, (int64_t)tree->nodes[i].parent - 1);
	json_list_end(json);
	json_list(json, "values");
	for (size_t i = 1; i < tree->count; i++)
		json_signed(json, NULL, value_of(&tree->nodes[i]));
	json_list_end(json);
}

void flame_page_views(struct json *json, unsigned chosen_kinds, bool has_waits)
{
	static const unsigned views[] = { KINDS_ON_CPU,
					  KINDS_OFF_CPU,
					  KIND_BIT(SAMPLE_RUNNABLE),
					  KINDS_ALL,
					  KIND_BIT(SAMPLE_ALLOCATED),
					  KIND_BIT(SAMPLE_LIVE),
					  KIND_BIT(SAMPLE_LOCK),
					  KIND_BIT(SAMPLE_IO) };
	bool is_memory = profile_kinds_are_bytes(chosen_kinds);
	bool is_calls = profile_kinds_are_calls(chosen_kinds);

	json_text(json, "view", profile_kinds_name(chosen_kinds));
	json_list(json, "views");
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (is_calls ? views[i] == chosen_kinds ||
				       (is_memory && profile_kinds_are_bytes(views[i]))
			     : !profile_kinds_are_calls(views[i]) &&
				       (has_waits || views[i] == KINDS_ON_CPU))
			json_text(json, NULL, profile_kinds_name(views[i]));
	json_list_end(json);
}

/* In a page, text ends at "</script": where it could, it is written otherwise. */
static void write_escaped(FILE *out, const char *text, size_t size)
{
	for (const char *end = text + size, *at = text; at < end;) {
		const char *next = memchr(at, '<', (size_t)(end - at));
		size_t plain = (size_t)((next ? next : end) - at);

		fwrite(at, 1, plain, out);
		if (next)
			fputs("\\u003c", out);
		at += plain + (next != NULL);
	}
}

int flame_page_write(FILE *out, void (*data)(struct json *json, const void *context),
		     const void *context)
{
	const char *mark = memmem(blob_flamegraph, (size_t)(blob_flamegraph_end - blob_flamegraph),
				  MARK, strlen(MARK));
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	if (!json.out || !mark)
		return -ENOMEM;
	data(&json, context);
	if (fclose(json.out))
		return -ENOMEM;
	fwrite(blob_flamegraph, 1, (size_t)(mark - blob_flamegraph), out);
	write_escaped(out, text, size);
	mark += strlen(MARK);
	fwrite(mark, 1, (size_t)(blob_flamegraph_end - mark), out);
	return export_state(out);
}
