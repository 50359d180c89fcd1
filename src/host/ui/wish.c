/*
 * As much of a JSON reader as a wish needs: objects of known members, one list of words, numbers
 * without fractions, true, false and null.
 */
#include "host/ui/wish.h"

#include <errno.h>
#include <string.h>

#define KEY_MAX    16u
#define NUMBER_MAX UINT64_C(9007199254740991) /* JavaScript's largest exact integer */

struct wish_reader {
	const char *at, *end;
	struct ui_wish *wish;
};

typedef bool member_reader(struct wish_reader *self);

struct member {
	const char *key;
	member_reader *read;
};

static void blanks_skip(struct wish_reader *self)
{
	while (self->at < self->end && strchr(" \t\r\n", *self->at) && *self->at)
		self->at++;
}

static bool sign_take(struct wish_reader *self, char sign)
{
	blanks_skip(self);
	if (self->at == self->end || *self->at != sign)
		return false;
	self->at++;
	return true;
}

static bool word_take(struct wish_reader *self, const char *word)
{
	size_t size = strlen(word);

	blanks_skip(self);
	if ((size_t)(self->end - self->at) < size || memcmp(self->at, word, size) != 0)
		return false;
	self->at += size;
	return true;
}

/* Without escapes: no word that means something has one. */
static bool string_take(struct wish_reader *self, char *ret, size_t room)
{
	size_t used = 0;

	if (!sign_take(self, '"'))
		return false;
	for (; self->at < self->end && *self->at != '"'; self->at++) {
		if (*self->at < ' ' || *self->at > '~' || *self->at == '\\' || used + 1 >= room)
			return false;
		ret[used++] = *self->at;
	}
	ret[used] = '\0';
	return sign_take(self, '"');
}

static bool number_take(struct wish_reader *self, uint64_t max, uint64_t *ret)
{
	const char *begin;

	blanks_skip(self);
	begin = self->at;
	for (*ret = 0; self->at < self->end && *self->at >= '0' && *self->at <= '9'; self->at++) {
		*ret = *ret * 10 + (uint64_t)(*self->at - '0');
		if (*ret > max)
			return false;
	}
	return self->at > begin && (*begin != '0' || self->at == begin + 1);
}

static bool flag_take(struct wish_reader *self, uint8_t *ret)
{
	*ret = word_take(self, "true");
	return *ret || word_take(self, "false");
}

static const struct member *member_find(const struct member *members, const char *key)
{
	for (; members->key; members++)
		if (strcmp(members->key, key) == 0)
			return members;
	return NULL;
}

/* Each member at most once. */
static bool object_read(struct wish_reader *self, const struct member *members)
{
	unsigned seen = 0;
	char key[KEY_MAX];

	if (!sign_take(self, '{'))
		return false;
	if (sign_take(self, '}'))
		return true;
	do {
		const struct member *member =
			string_take(self, key, sizeof(key)) ? member_find(members, key) : NULL;

		if (!member || seen >> (member - members) & 1 || !sign_take(self, ':') ||
		    !member->read(self))
			return false;
		seen |= 1u << (member - members);
	} while (sign_take(self, ','));
	return sign_take(self, '}');
}

static bool pid_read(struct wish_reader *self)
{
	uint64_t number;

	if (!number_take(self, INT32_MAX, &number))
		return false;
	self->wish->pid = (int32_t)number;
	return number > 0;
}

static bool start_read(struct wish_reader *self)
{
	self->wish->has_start = 1;
	return number_take(self, NUMBER_MAX, &self->wish->start_tick);
}

static bool hz_read(struct wish_reader *self)
{
	uint64_t number;

	if (!number_take(self, UI_HZ_MAX, &number))
		return false;
	self->wish->hz = (uint32_t)number;
	return number > 0;
}

static bool off_cpu_read(struct wish_reader *self)
{
	return flag_take(self, &self->wish->off_cpu);
}

static const struct member sample_members[] = {
	{ "hz", hz_read },
	{ "off_cpu", off_cpu_read },
	{ 0 },
};

static bool sample_read(struct wish_reader *self)
{
	if (!word_take(self, "null"))
		return object_read(self, sample_members);
	self->wish->hz = 0;
	self->wish->off_cpu = 0;
	return true;
}

static bool traces_read(struct wish_reader *self)
{
	struct ui_wish *wish = self->wish;

	if (!sign_take(self, '['))
		return false;
	if (sign_take(self, ']'))
		return true;
	do {
		if (wish->trace_count == UI_TRACES_MAX ||
		    !string_take(self, wish->traces[wish->trace_count++], UI_TRACE_MAX))
			return false;
	} while (sign_take(self, ','));
	return sign_take(self, ']');
}

static bool children_read(struct wish_reader *self)
{
	return flag_take(self, &self->wish->children);
}

static bool record_read(struct wish_reader *self)
{
	return flag_take(self, &self->wish->is_recorded);
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

static int text_read_object(struct wish_reader *self, const struct member *members)
{
	bool is_read = object_read(self, members);

	blanks_skip(self);
	return is_read && self->at == self->end ? 0 : -EINVAL;
}

int wish_parse(const char *text, size_t size, struct ui_wish *ret)
{
	struct wish_reader self = { .at = text, .end = text + size, .wish = ret };

	*ret = (struct ui_wish){ .hz = WISH_HZ_USUAL, .off_cpu = 1 };
	return text_read_object(&self, wish_members) || !ret->pid ? -EINVAL : 0;
}

int wish_parse_start(const char *text, size_t size, struct ui_wish *ret)
{
	struct wish_reader self = { .at = text, .end = text + size, .wish = ret };

	*ret = (struct ui_wish){ .off_cpu = 1 };
	return text_read_object(&self, start_members);
}

int wish_parse_empty(const char *text, size_t size)
{
	struct wish_reader self = { .at = text, .end = text + size };

	return text_read_object(&self, no_members);
}
