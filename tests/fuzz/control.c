/*
 * Fuzzes control messages: what passes the check can be read without looking at its size again.
 */
#include "fuzz.h"

#include <string.h>

#include "host/core/cleanup.h"
#include "shared/wire/control.h"

static void read_hello(const void *message)
{
	const struct control_hello *hello = message;

	must(strlen(hello->holder_name) < sizeof(hello->holder_name));
}

static void read_load(const void *message)
{
	const struct control_load *load = message;

	must(load->path[0] && strlen(load->path) < sizeof(load->path));
}

static void read_environ(const void *message)
{
	const struct control_environ *list = message;
	const char *cursor = NULL, *name, *value, *end = (const char *)(list + 1) + list->bytes;
	uint32_t count = 0;

	must(end == (const char *)message + list->header.size);
	while (control_environ_next(list, &cursor, &name, &value)) {
		must(name + strlen(name) < value && value + strlen(value) < cursor);
		must(cursor <= end);
		count++;
	}
	must(count == list->count && (!count || cursor == end));
}

static void read_step(const void *message)
{
	const struct control_step *step = message;

	must(step->tool < AGENT_TOOLS_MAX && step->step < TOOL_STEPS);
}

static void read_found(const void *message)
{
	const struct control_found *found = message;

	must(found->name[0] && strlen(found->name) < sizeof(found->name));
	must(found->part_count && found->part_count <= TABLE_PARTS_MAX);
}

static void read_reply(const void *message)
{
	const struct control_reply *reply = message;

	must(strlen(reply->text) < sizeof(reply->text));
	must(reply->code <= 0 && reply->code > -4096);
}

/* Any value will do: whoever obeys it asks the kernel. */
static void read_numbers(const void *message)
{
	(void)message;
}

static const struct {
	size_t size; /* ENVIRON: at least */
	void (*read)(const void *message);
} kinds[] = {
	[CONTROL_HELLO] = { sizeof(struct control_hello), read_hello },
	[CONTROL_LOAD] = { sizeof(struct control_load), read_load },
	[CONTROL_ENVIRON] = { sizeof(struct control_environ), read_environ },
	[CONTROL_STEP] = { sizeof(struct control_step), read_step },
	[CONTROL_TABLES] = { sizeof(struct control_tables), read_numbers },
	[CONTROL_FOUND] = { sizeof(struct control_found), read_found },
	[CONTROL_QUIET] = { sizeof(struct control_quiet), read_numbers },
	[CONTROL_DETACH] = { sizeof(struct control_detach), read_numbers },
	[CONTROL_REPLY] = { sizeof(struct control_reply), read_reply },
	[CONTROL_RINGS] = { sizeof(struct control_rings), read_numbers },
	[CONTROL_ALIKE] = { sizeof(struct control_alike), read_numbers },
	[CONTROL_NOTICE] = { sizeof(struct control_notice), read_numbers },
	[CONTROL_COUNTERS] = { sizeof(struct control_counters), read_numbers },
};

static void check(const void *bytes, size_t size)
{
	const struct control_header *header = bytes;

	if (control_check(bytes, size))
		return;
	must(size <= CONTROL_MAX_BYTES && header->size == size);
	must(header->kind < ARRAY_SIZE(kinds) && kinds[header->kind].read);
	must(header->kind == CONTROL_ENVIRON ? size >= kinds[header->kind].size
					     : size == kinds[header->kind].size);
	kinds[header->kind].read(bytes);
}

/* The same bytes with a head that is right, so that the rest is looked at too; in a block of their
 * exact size. */
static void check_as(enum control_kind kind, const uint8_t *bytes, size_t size)
{
	size_t wanted = kind == CONTROL_ENVIRON ? MAX(size, kinds[kind].size) : kinds[kind].size;
	CLEANUP(free) struct control_environ *copy = calloc(1, wanted);

	if (!copy)
		abort();
	memcpy(copy, bytes, MIN(size, wanted));
	control_header_init(&copy->header, kind, wanted);
	if (kind == CONTROL_ENVIRON)
		copy->bytes = (uint32_t)(wanted - sizeof(*copy));
	check(copy, wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check(bytes, size);
	for (unsigned kind = CONTROL_HELLO; kind < ARRAY_SIZE(kinds); kind++)
		check_as(kind, bytes, size);
	return 0;
}
