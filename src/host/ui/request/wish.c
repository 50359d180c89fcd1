/*
 * Bodies of requests: JSON into a wish.  Members that are not known, and those given twice, are
 * refused.
 */
#include "host/ui/request/routes.h"

#include "host/core/text/json_reader.h"

#include <errno.h>
#include <string.h>

#define KEY_MAX    16u
#define NUMBER_MAX UINT64_C(9007199254740991) /* JavaScript's largest exact integer */

struct wish_reader {
	struct json_reader json;
	struct ui_wish *wish;
};

struct member {
	const char *key;
	void (*read)(struct wish_reader *self);
};

static const struct member *member_find(const struct member *members, const char *key)
{
	for (; members->key; members++)
		if (strcmp(members->key, key) == 0)
			return members;
	return NULL;
}

static void object_read(struct wish_reader *self, const struct member *members)
{
	unsigned seen = 0;
	char key[KEY_MAX];

	if (!json_read_object(&self->json))
		return;
	while (json_read_member(&self->json, key, sizeof(key))) {
		const struct member *member = member_find(members, key);

		if (!member || seen >> (member - members) & 1) {
			self->json.has_failed = true;
			return;
		}
		seen |= 1u << (member - members);
		member->read(self);
	}
}

static uint64_t number_read(struct wish_reader *self, uint64_t least, uint64_t most)
{
	uint64_t number = json_read_number(&self->json);

	self->json.has_failed |= number < least || number > most;
	return number;
}

static void pid_read(struct wish_reader *self)
{
	self->wish->pid = (int32_t)number_read(self, 1, INT32_MAX);
}

static void start_read(struct wish_reader *self)
{
	self->wish->has_start = 1;
	self->wish->start_tick = number_read(self, 0, NUMBER_MAX);
}

static void hz_read(struct wish_reader *self)
{
	self->wish->hz = (uint32_t)number_read(self, 1, UI_HZ_MAX);
}

static void off_cpu_read(struct wish_reader *self)
{
	self->wish->off_cpu = json_read_bool(&self->json);
}

static const struct member sample_members[] = {
	{ "hz", hz_read },
	{ "off_cpu", off_cpu_read },
	{ 0 },
};

static void sample_read(struct wish_reader *self)
{
	if (json_read_kind(&self->json) != 'n') {
		object_read(self, sample_members);
		return;
	}
	json_read_past(&self->json);
	self->wish->hz = 0;
	self->wish->off_cpu = 0;
}

static void traces_read(struct wish_reader *self)
{
	struct ui_wish *wish = self->wish;

	if (!json_read_list(&self->json))
		return;
	while (json_read_item(&self->json)) {
		if (wish->trace_count == UI_TRACES_MAX) {
			self->json.has_failed = true;
			return;
		}
		json_read_text(&self->json, wish->traces[wish->trace_count++], UI_TRACE_MAX);
	}
}

static void children_read(struct wish_reader *self)
{
	self->wish->children = json_read_bool(&self->json);
}

static void record_read(struct wish_reader *self)
{
	self->wish->is_recorded = json_read_bool(&self->json);
}

static const struct member wish_members[] = {
	{ "pid", pid_read },
	{ "start", start_read },
	{ "sample", sample_read },
	{ "traces", traces_read },
	{ "children", children_read },
	{ "record", record_read },
	{ 0 },
};

static const struct member start_members[] = {
	{ "sample", sample_read },
	{ "traces", traces_read },
	{ "record", record_read },
	{ 0 },
};

static const struct member no_members[] = { { 0 } };

/* No word that means something has an escape. */
static int text_read(const char *text, size_t size, struct ui_wish *ret,
		     const struct member *members)
{
	struct wish_reader self = { json_reader_of(text, size), ret };

	if (memchr(text, '\\', size))
		return -EINVAL;
	object_read(&self, members);
	return json_read_whole(&self.json) ? 0 : -EINVAL;
}

int wish_parse(const char *text, size_t size, struct ui_wish *ret)
{
	*ret = (struct ui_wish){ .hz = WISH_HZ_USUAL, .off_cpu = 1 };
	return text_read(text, size, ret, wish_members) || !ret->pid ? -EINVAL : 0;
}

int wish_parse_start(const char *text, size_t size, struct ui_wish *ret)
{
	*ret = (struct ui_wish){ .off_cpu = 1 };
	return text_read(text, size, ret, start_members);
}

int wish_parse_empty(const char *text, size_t size)
{
	return text_read(text, size, NULL, no_members);
}
