/*
 * Checks control messages.  Runs in the host and in the target, on bytes that the other side wrote:
 * no libc, no allocation, every access inside the size that was received.
 */
#include "shared/wire/control.h"

#include <errno.h>
#include <stdbool.h>

#define ERROR_MAX 4095 /* the kernel's largest */

void control_header_init(struct control_header *header, enum control_kind kind, size_t size)
{
	*header = (struct control_header){
		.magic = CONTROL_MAGIC,
		.version = CONTROL_VERSION,
		.kind = (uint16_t)kind,
		.size = (uint32_t)size,
	};
}

static bool text_ends(const char *text, size_t room)
{
	for (size_t i = 0; i < room; i++)
		if (!text[i])
			return true;
	return false;
}

static bool hello_is_sound(const void *message)
{
	const struct control_hello *hello = message;

	return text_ends(hello->holder_name, sizeof(hello->holder_name));
}

static bool load_is_sound(const void *message)
{
	const struct control_load *load = message;

	return load->path[0] && text_ends(load->path, sizeof(load->path));
}

static bool environ_is_sound(const void *message)
{
	const struct control_environ *list = message;
	const char *text = (const char *)(list + 1);
	uint32_t ends = 0;

	if (list->bytes != list->header.size - sizeof(*list) || list->count > list->bytes / 2)
		return false;
	for (uint32_t i = 0; i < list->bytes; i++)
		ends += !text[i];
	return ends == 2 * list->count && (!list->bytes || !text[list->bytes - 1]);
}

static bool step_is_sound(const void *message)
{
	const struct control_step *step = message;

	return step->tool < AGENT_TOOLS_MAX && step->step < TOOL_STEPS;
}

static bool found_is_sound(const void *message)
{
	const struct control_found *found = message;

	return found->name[0] && text_ends(found->name, sizeof(found->name)) &&
	       found->part_count >= 1 && found->part_count <= TABLE_PARTS_MAX;
}

static bool reply_is_sound(const void *message)
{
	const struct control_reply *reply = message;

	return text_ends(reply->text, sizeof(reply->text)) && reply->code <= 0 &&
	       reply->code >= -ERROR_MAX;
}

struct control_shape {
	size_t size; /* 0: there is no such kind */
	bool is_open_ended;
	bool (*is_sound)(const void *message); /* NULL: its size is all that is checked */
};

static const struct control_shape shapes[] = {
	[CONTROL_HELLO] = { sizeof(struct control_hello), false, hello_is_sound },
	[CONTROL_LOAD] = { sizeof(struct control_load), false, load_is_sound },
	[CONTROL_ENVIRON] = { sizeof(struct control_environ), true, environ_is_sound },
	[CONTROL_STEP] = { sizeof(struct control_step), false, step_is_sound },
	[CONTROL_TABLES] = { sizeof(struct control_tables) },
	[CONTROL_FOUND] = { sizeof(struct control_found), false, found_is_sound },
	[CONTROL_QUIET] = { sizeof(struct control_quiet) },
	[CONTROL_DETACH] = { sizeof(struct control_detach) },
	[CONTROL_REPLY] = { sizeof(struct control_reply), false, reply_is_sound },
	[CONTROL_RINGS] = { sizeof(struct control_rings) },
	[CONTROL_ALIKE] = { sizeof(struct control_alike) },
	[CONTROL_NOTICE] = { sizeof(struct control_notice) },
	[CONTROL_COUNTERS] = { sizeof(struct control_counters) },
};

int control_check(const void *message, size_t size)
{
	const struct control_header *header = message;
	const struct control_shape *shape;

	if (size < sizeof(*header) || size > CONTROL_MAX_BYTES)
		return -EPROTO;
	if (header->magic != CONTROL_MAGIC || header->version != CONTROL_VERSION ||
	    header->size != size)
		return -EPROTO;
	if (header->kind >= ARRAY_SIZE(shapes) || !shapes[header->kind].size)
		return -EPROTO;
	shape = &shapes[header->kind];
	if (shape->is_open_ended ? size < shape->size : size != shape->size)
		return -EPROTO;
	return !shape->is_sound || shape->is_sound(message) ? 0 : -EPROTO;
}

static const char *after_end(const char *text)
{
	while (*text)
		text++;
	return text + 1;
}

bool control_environ_next(const struct control_environ *message, const char **cursor,
			  const char **name, const char **value)
{
	const char *text = (const char *)(message + 1);

	if (!*cursor)
		*cursor = text;
	if (*cursor >= text + message->bytes)
		return false;
	*name = *cursor;
	*value = after_end(*name);
	*cursor = after_end(*value);
	return true;
}
