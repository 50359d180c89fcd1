/*
 * Reads queries: "from=0&to=1000&threads=1,2".  Each parameter at most once, each value whole, each
 * number within the bounds of its parameter: the result passes ui_command_check().
 */
#include "host/ui/request/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VALUE_MAX   16384u
#define WIDTH_USUAL 2000u
#define LIMIT_USUAL 1000u
#define CELL_USUAL  20u

#define LIMIT_MAX 1000000u
/* Of a thread: one less is the largest number, the largest stands for none. */
#define THREAD_MAX (UINT32_MAX - 1)

struct parameter;
typedef bool parameter_reader(const struct parameter *parameter, struct http_text value,
			      void *field);

struct parameter {
	const char *name;
	unsigned set;
	parameter_reader *read;
	size_t offset, room;
	uint64_t least, most; /* of a number; 0, 0: it is none */
};

/* Nineteen digits never overflow. */
static bool digits_read(struct http_text text, const struct parameter *parameter, uint64_t *ret)
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
	return number >= parameter->least && number <= parameter->most;
}

/* A field of any size: all machines that limpet runs on are little-endian. */
static bool number_read(const struct parameter *parameter, struct http_text value, void *field)
{
	uint64_t number;

	if (!digits_read(value, parameter, &number))
		return false;
	memcpy(field, &number, parameter->room);
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

/* Decodes the byte at the beginning; returns the bytes consumed, 0: invalid. */
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

static bool text_decode(struct http_text value, char *out, size_t room)
{
	size_t used = 0, step;

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

static bool text_read(const struct parameter *parameter, struct http_text value, void *field)
{
	return text_decode(value, field, parameter->room);
}

static bool kind_read(const struct parameter *parameter, struct http_text value, void *field)
{
	char name[16];
	int kind = text_decode(value, name, sizeof(name)) ? ui_kind_find(name) : -1;

	(void)parameter;
	if (kind < 0)
		return false;
	*(uint32_t *)field = (uint32_t)kind;
	return true;
}

static bool json_read(const struct parameter *parameter, struct http_text value, void *field)
{
	(void)parameter;
	*(uint8_t *)field = 1;
	return http_text_is(value, "json");
}

/* The field is the whole range.  Commas may be plain or encoded; "" is all. */
static bool threads_read(const struct parameter *parameter, struct http_text value, void *field)
{
	struct ui_range *range = field;
	char text[VALUE_MAX];
	uint64_t number;

	if (value.size >= sizeof(text) || !text_decode(value, text, sizeof(text)))
		return false;
	for (char *at = text; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");

		if (range->thread_count == UI_THREADS_MAX ||
		    !digits_read((struct http_text){ at, size }, parameter, &number))
			return false;
		range->threads[range->thread_count++] = (uint32_t)number;
		at += size;
	}
	return true;
}

#define FIELD(member)  offsetof(struct ui_command, member)
#define MEMBER(member) FIELD(member), sizeof(((struct ui_command *)0)->member)

#define NUMBER 0, INT32_MAX
#define TIME   0, UI_TIME_MAX
#define FLAG   0, 1

static const struct parameter parameters[] = {
	{ "format", PARAMETER_FORMAT, json_read, MEMBER(is_json) },
	{ "format", PARAMETER_EXPORT, text_read, MEMBER(format) },
	{ "session", PARAMETER_SESSION, number_read, MEMBER(range.session), NUMBER },
	{ "from", PARAMETER_RANGE, number_read, MEMBER(range.from_ns), TIME },
	{ "to", PARAMETER_RANGE, number_read, MEMBER(range.to_ns), TIME },
	{ "threads", PARAMETER_THREADS, threads_read, MEMBER(range), 0, THREAD_MAX },
	{ "kind", PARAMETER_KIND, kind_read, MEMBER(kind) },
	{ "width", PARAMETER_WIDTH, number_read, MEMBER(width), 0, UI_WIDTH_MAX },
	{ "invert", PARAMETER_TREE, number_read, MEMBER(is_inverted), FLAG },
	{ "by_thread", PARAMETER_TREE, number_read, MEMBER(is_by_thread), FLAG },
	{ "limit", PARAMETER_LIMIT, number_read, MEMBER(limit), 0, LIMIT_MAX },
	{ "name", PARAMETER_FUNCTION, text_read, MEMBER(name) },
	{ "module", PARAMETER_FUNCTION, text_read, MEMBER(module) },
	{ "cell_ms", PARAMETER_CELL, number_read, MEMBER(cell_ms), 1, UI_CELL_MS_MAX },
	{ "thread", PARAMETER_MOMENT, number_read, MEMBER(thread), 0, THREAD_MAX },
	{ "time", PARAMETER_MOMENT, number_read, MEMBER(time_ns), TIME },
	{ "since", PARAMETER_SINCE, number_read, MEMBER(since), TIME },
	{ "correlation", PARAMETER_CORRELATION, number_read, MEMBER(correlation), 0, INT64_MAX },
	{ "session_b", PARAMETER_OTHER, number_read, MEMBER(other.session), NUMBER },
	{ "from_b", PARAMETER_OTHER, number_read, MEMBER(other.from_ns), TIME },
	{ "to_b", PARAMETER_OTHER, number_read, MEMBER(other.to_ns), TIME },
	{ "threads_b", PARAMETER_OTHER, threads_read, MEMBER(other), 0, THREAD_MAX },
	{ "size", PARAMETER_SIZE, number_read, MEMBER(is_size_only), FLAG },
	{ "pid", PARAMETER_PID, number_read, MEMBER(wish.pid), NUMBER },
	{ "hidden", PARAMETER_HIDDEN, number_read, MEMBER(is_hidden), FLAG },
};

static const struct parameter *parameter_find(struct http_text name, unsigned set)
{
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		if (set & parameters[i].set && http_text_is(name, parameters[i].name))
			return &parameters[i];
	return NULL;
}

/* Removes "name=value" from the query. */
static void pair_next(struct http_text *query, struct http_text *ret_name,
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

/* Names come from the client: those of the table are quoted, others if they are short. */
static void refusal_explain(const struct parameter *parameter, struct http_text name,
			    bool is_second, char ret_why[PARAMETER_WHY_MAX])
{
	if (!parameter)
		snprintf(ret_why, PARAMETER_WHY_MAX, "the parameter '%.*s' makes no sense here",
			 (int)MIN(name.size, 63u), name.at);
	else if (is_second)
		snprintf(ret_why, PARAMETER_WHY_MAX, "the parameter '%s' comes twice",
			 parameter->name);
	else if (parameter->most)
		snprintf(ret_why, PARAMETER_WHY_MAX,
			 "the parameter '%s' takes numbers from %" PRIu64 " to %" PRIu64,
			 parameter->name, parameter->least, parameter->most);
	else
		snprintf(ret_why, PARAMETER_WHY_MAX, "the parameter '%s' cannot have this value",
			 parameter->name);
}

int parameters_parse(struct http_text query, unsigned set, struct ui_command *ret,
		     char ret_why[PARAMETER_WHY_MAX])
{
	uint64_t seen = 0;

	while (query.size) {
		struct http_text name, value;
		const struct parameter *parameter;
		bool is_second;

		pair_next(&query, &name, &value);
		parameter = parameter_find(name, set);
		is_second = parameter && seen >> (parameter - parameters) & 1;
		if (!parameter || is_second ||
		    !parameter->read(parameter, value, (char *)ret + parameter->offset)) {
			refusal_explain(parameter, name, is_second, ret_why);
			return -EINVAL;
		}
		seen |= UINT64_C(1) << (parameter - parameters);
	}
	return 0;
}
