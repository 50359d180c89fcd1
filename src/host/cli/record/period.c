/*
 * Times are parsed as in all options: bare numbers are seconds, as in AMD's tools.
 */
#include "host/cli/record/period.h"

#include "host/core/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One part; true when it is one. */
static bool parse_time(const char *text, size_t length, uint64_t *ret)
{
	char part[24];

	if (!length || length >= sizeof(part))
		return false;
	memcpy(part, text, length);
	part[length] = 0;
	return !text_parse_duration(part, ret);
}

static bool period_read(const char *text, struct period *ret)
{
	const char *time = strchr(text, ':'), *repeat = time ? strchr(time + 1, ':') : NULL;
	char *end;

	if (!repeat || repeat[1] < '0' || repeat[1] > '9')
		return false;
	ret->repeat = strtoull(repeat + 1, &end, 10);
	return !*end && parse_time(text, (size_t)(time - text), &ret->delay_ns) &&
	       parse_time(time + 1, (size_t)(repeat - time - 1), &ret->time_ns) && ret->time_ns;
}

int period_parse(const char *text, struct period *ret, struct err *err)
{
	*ret = PERIOD_ALWAYS;
	if (!text || period_read(text, ret))
		return 0;
	err_set(err, -EINVAL, "'%s' is not a collection period", text);
	err_fix(err, "DELAY:TIME:REPEAT, for example 5s:10s:3 (REPEAT 0: for ever)");
	return err_exit(err, EXIT_USAGE);
}
