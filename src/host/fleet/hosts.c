/*
 * Parses lists of hosts, which come from users and from job managers.
 */
#include "host/fleet/hosts.h"

#include "host/core/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

bool host_name_is_sound(const char *name)
{
	if (!*name || *name == '-' || strlen(name) >= HOST_NAME_MAX_BYTES)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-:@", *name))
			return false;
	return true;
}

int hosts_add(struct hosts *hosts, const char *name)
{
	if (pool_add(&hosts->pool, name) == POOL_NONE)
		return -ENOMEM;
	hosts->names = hosts->pool.texts;
	hosts->count = hosts->pool.count;
	return 0;
}

void hosts_done(struct hosts *hosts)
{
	pool_done(&hosts->pool);
	*hosts = (struct hosts){ 0 };
}

/* A host, or several that differ by a number: before, [ranges], behind. */
struct host_pattern {
	struct text before, ranges, behind;
};

/* Up to the next comma outside of brackets. */
static bool pattern_take(struct text *text, struct host_pattern *ret)
{
	const char *open = NULL, *close = NULL, *at = text->at;

	for (; at < text->end && (*at != ',' || (open && !close)); at++) {
		if (*at == '[' && !open)
			open = at;
		else if (*at == ']' && open && !close)
			close = at;
		else if (*at == '[' || *at == ']')
			return false;
	}
	if (open && !close)
		return false;
	*ret = (struct host_pattern){ { text->at, open ? open : at },
				      { open ? open + 1 : at, open ? close : at },
				      { open ? close + 1 : at, at } };
	text->at = at;
	return at > ret->before.at;
}

static int name_add(struct hosts *hosts, const char *name)
{
	if (!host_name_is_sound(name))
		return -EINVAL;
	return hosts->count >= HOSTS_MAX ? -E2BIG : hosts_add(hosts, name);
}

static int size_of(struct text text)
{
	return (int)(text.end - text.at);
}

static int numbers_add(struct hosts *hosts, const struct host_pattern *pattern, struct text range)
{
	const char *digits = range.at;
	uint64_t first, last;
	int width, r = 0;

	if (!text_take_number(&range, 10, &first))
		return -EINVAL;
	width = (int)(range.at - digits);
	last = first;
	if (text_take_char(&range, '-') && !text_take_number(&range, 10, &last))
		return -EINVAL;
	if (range.at != range.end || last < first || last - first >= HOSTS_MAX || width > 20)
		return -EINVAL;
	for (uint64_t i = first; !r && i <= last; i++) {
		char name[HOST_NAME_MAX_BYTES];

		snprintf(name, sizeof(name), "%.*s%0*llu%.*s", size_of(pattern->before),
			 pattern->before.at, width, (unsigned long long)i, size_of(pattern->behind),
			 pattern->behind.at);
		r = name_add(hosts, name);
	}
	return r;
}

static int pattern_add(struct hosts *hosts, struct host_pattern *pattern)
{
	char name[HOST_NAME_MAX_BYTES];
	struct text range;
	int r = 0;

	if (size_of(pattern->before) + size_of(pattern->behind) > 200)
		return -EINVAL;
	if (pattern->ranges.at == pattern->behind.at) {
		text_copy(pattern->before, name, sizeof(name));
		return name_add(hosts, name);
	}
	if (pattern->ranges.at == pattern->ranges.end)
		return -EINVAL;
	while (!r && text_take_field(&pattern->ranges, ',', &range))
		r = numbers_add(hosts, pattern, range);
	return r;
}

#define HOSTS_FIX "n1,n2 or n[1-4,7]; letters, digits and ._-:@"

int hosts_parse(struct hosts *ret, const char *string, struct err *err)
{
	struct text text = text_of(string);
	struct host_pattern pattern;
	struct hosts hosts = { 0 };
	int r;

	do {
		r = pattern_take(&text, &pattern) ? pattern_add(&hosts, &pattern) : -EINVAL;
	} while (!r && text_take_char(&text, ','));
	if (!r && text.at == text.end) {
		*ret = hosts;
		return 0;
	}
	hosts_done(&hosts);
	if (r == -ENOMEM)
		return err_set(err, r, "hosts: no memory");
	if (r == -E2BIG)
		return err_usage(err, HOSTS_FIX, "more than %u hosts", HOSTS_MAX);
	return err_usage(err, HOSTS_FIX, "'%s' is no list of hosts", string);
}
