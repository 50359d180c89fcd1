/*
 * Reads queries: "from=0&to=1000&threads=1,2".  Each parameter at most once, each value whole.
 */
#include "host/ui/parameters.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VALUE_MAX   16384u
#define WIDTH_USUAL 2000u
#define LIMIT_USUAL 1000u
#define CELL_USUAL  20u

typedef bool parameter_reader(struct http_text value, void *field, size_t room);

static bool number_read(struct http_text text, uint64_t max, uint64_t *ret)
{
	uint64_t number = 0;

	if (!text.size || text.size > 19)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text.at[i] - '0');
	}
	*ret = number;
	return number <= max;
}

static bool u64_read(struct http_text value, void *field, size_t room)
{
	(void)room;
	return number_read(value, UINT64_MAX, field);
}

static bool u32_read(struct http_text value, void *field, size_t room)
{
	uint64_t number;

	(void)room;
	if (!number_read(value, INT32_MAX, &number))
		return false;
	*(uint32_t *)field = (uint32_t)number;
	return true;
}

static bool flag_read(struct http_text value, void *field, size_t room)
{
	uint64_t number;

	(void)room;
	if (!number_read(value, 1, &number))
		return false;
	*(uint8_t *)field = (uint8_t)number;
	return true;
}

static int hex_digit(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* The byte at the beginning, decoded, and how many bytes it took; 0: it is none. */
static size_t byte_decode(struct http_text text, char *ret)
{
	int high, low;

	*ret = *text.at == '+' ? ' ' : *text.at;
	if (*text.at != '%')
		return 1;
	if (text.size < 3)
		return 0;
	high = hex_digit(text.at[1]);
	low = hex_digit(text.at[2]);
	*ret = (char)(high * 16 + low);
	return high < 0 || low < 0 || !*ret ? 0 : 3;
}

static bool text_read(struct http_text value, void *field, size_t room)
{
	size_t used = 0, step;
	char *out = field;

	for (; value.size; value.at += step, value.size -= step) {
		if (used + 1 >= room)
			return false;
		step = byte_decode(value, &out[used++]);
		if (!step)
			return false;
	}
	out[used] = '\0';
	return true;
}

static bool kind_read(struct http_text value, void *field, size_t room)
{
	char name[16];
	int kind = text_read(value, name, sizeof(name)) ? ui_kind_find(name) : -1;

	(void)room;
	if (kind < 0)
		return false;
	*(uint32_t *)field = (uint32_t)kind;
	return true;
}

static bool json_read(struct http_text value, void *field, size_t room)
{
	(void)room;
	*(uint8_t *)field = 1;
	return http_text_is(value, "json");
}

/* The field is the whole range.  Commas may come as they are or encoded; "" is all. */
static bool threads_read(struct http_text value, void *field, size_t room)
{
	struct ui_range *range = field;
	char text[VALUE_MAX];
	uint64_t number;

	(void)room;
	if (value.size >= sizeof(text) || !text_read(value, text, sizeof(text)))
		return false;
	for (char *at = text; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");

		if (range->thread_count == UI_THREADS_MAX ||
		    !number_read((struct http_text){ at, size }, UINT32_MAX - 1, &number))
			return false;
		range->threads[range->thread_count++] = (uint32_t)number;
		at += size;
	}
	return true;
}

#define FIELD(member)  offsetof(struct ui_command, member)
#define MEMBER(member) FIELD(member), sizeof(((struct ui_command *)0)->member)

static const struct parameter {
	const char *name;
	unsigned set;
	parameter_reader *read;
	size_t offset, room;
} parameters[] = {
	{ "format", PARAMETER_FORMAT, json_read, MEMBER(is_json) },
	{ "format", PARAMETER_EXPORT, text_read, MEMBER(format) },
	{ "session", PARAMETER_SESSION, u32_read, MEMBER(range.session) },
	{ "from", PARAMETER_RANGE, u64_read, MEMBER(range.from_ns) },
	{ "to", PARAMETER_RANGE, u64_read, MEMBER(range.to_ns) },
	{ "threads", PARAMETER_THREADS, threads_read, MEMBER(range) },
	{ "kind", PARAMETER_KIND, kind_read, MEMBER(kind) },
	{ "width", PARAMETER_WIDTH, u32_read, MEMBER(width) },
	{ "invert", PARAMETER_TREE, flag_read, MEMBER(is_inverted) },
	{ "by_thread", PARAMETER_TREE, flag_read, MEMBER(is_by_thread) },
	{ "limit", PARAMETER_LIMIT, u32_read, MEMBER(limit) },
	{ "name", PARAMETER_FUNCTION, text_read, MEMBER(name) },
	{ "module", PARAMETER_FUNCTION, text_read, MEMBER(module) },
	{ "cell_ms", PARAMETER_CELL, u32_read, MEMBER(cell_ms) },
	{ "thread", PARAMETER_MOMENT, u32_read, MEMBER(thread) },
	{ "time", PARAMETER_MOMENT, u64_read, MEMBER(time_ns) },
	{ "since", PARAMETER_SINCE, u64_read, MEMBER(since) },
	{ "correlation", PARAMETER_CORRELATION, u64_read, MEMBER(correlation) },
	{ "session_b", PARAMETER_OTHER, u32_read, MEMBER(other.session) },
	{ "from_b", PARAMETER_OTHER, u64_read, MEMBER(other.from_ns) },
	{ "to_b", PARAMETER_OTHER, u64_read, MEMBER(other.to_ns) },
	{ "threads_b", PARAMETER_OTHER, threads_read, MEMBER(other) },
	{ "size", PARAMETER_SIZE, flag_read, MEMBER(is_size_only) },
	{ "pid", PARAMETER_PID, u32_read, MEMBER(wish.pid) },
};

static const struct parameter *parameter_find(struct http_text name, unsigned set)
{
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		if (set & parameters[i].set && http_text_is(name, parameters[i].name))
			return &parameters[i];
	return NULL;
}

/* Takes "name=value" off the query. */
static void pair_take(struct http_text *query, struct http_text *ret_name,
		      struct http_text *ret_value)
{
	const char *end = memchr(query->at, '&', query->size);
	size_t size = end ? (size_t)(end - query->at) : query->size;
	const char *sign = memchr(query->at, '=', size);

	*ret_name = (struct http_text){ query->at, sign ? (size_t)(sign - query->at) : size };
	*ret_value = (struct http_text){ query->at + size, 0 };
	if (sign)
		*ret_value = (struct http_text){ sign + 1, size - ret_name->size - 1 };
	query->at += size + (end != NULL);
	query->size -= size + (end != NULL);
}

void ui_command_init(struct ui_command *ret, enum ui_verb verb)
{
	memset(ret, 0, sizeof(*ret));
	ret->magic = UI_MAGIC;
	ret->verb = verb;
	ret->width = WIDTH_USUAL;
	ret->limit = LIMIT_USUAL;
	ret->cell_ms = CELL_USUAL;
}

int parameters_parse(struct http_text query, unsigned set, struct ui_command *ret,
		     char ret_wrong[64])
{
	uint64_t seen = 0;

	while (query.size) {
		struct http_text name, value;
		const struct parameter *parameter;

		pair_take(&query, &name, &value);
		parameter = parameter_find(name, set);
		snprintf(ret_wrong, 64, "%.*s", (int)MIN(name.size, 63u), name.at);
		if (!parameter || seen >> (parameter - parameters) & 1 ||
		    !parameter->read(value, (char *)ret + parameter->offset, parameter->room))
			return -EINVAL;
		seen |= UINT64_C(1) << (parameter - parameters);
	}
	return 0;
}
