/*
 * Fuzzes control messages: what passes the check can be read without looking at its size again.
 */
#include "fuzz.h"

#include <string.h>

#include "host/core/cleanup.h"
#include "shared/wire/control.h"

static void walk_environ(const struct control_environ *list, const char *end)
{
	const char *cursor = NULL, *name, *value;
	uint32_t count = 0;

	while (control_environ_next(list, &cursor, &name, &value)) {
		must(name + strlen(name) < value && value + strlen(value) < cursor);
		must(cursor <= end);
		count++;
	}
	must(count == list->count && (!count || cursor == end));
}

static void check(const uint8_t *bytes, size_t size)
{
	const struct control_header *header = (const void *)bytes;

	if (control_check(bytes, size))
		return;
	must(size <= CONTROL_MAX_BYTES && header->size == size);
	switch (header->kind) {
	case CONTROL_HELLO:
		must(strlen(((const struct control_hello *)header)->holder_name) < 32);
		break;
	case CONTROL_LOAD:
		must(strlen(((const struct control_load *)header)->path) < TOOL_PATH_MAX);
		break;
	case CONTROL_REPLY:
		must(strlen(((const struct control_reply *)header)->text) < CONTROL_TEXT_MAX);
		break;
	case CONTROL_ENVIRON:
		walk_environ((const void *)bytes, (const char *)bytes + size);
		break;
	default:
		must(header->kind == CONTROL_DETACH);
	}
}

/* As it is, and once more with sizes that fit, so that the rest is looked at too. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(free) struct control_environ *copy = malloc(MAX(size, sizeof(*copy)));

	if (!copy)
		abort();
	check(bytes, size);
	if (size < sizeof(*copy))
		return 0;
	memcpy(copy, bytes, size);
	copy->header.size = (uint32_t)size;
	if (copy->header.kind == CONTROL_ENVIRON)
		copy->bytes = (uint32_t)(size - sizeof(*copy));
	check((const uint8_t *)copy, size);
	return 0;
}
