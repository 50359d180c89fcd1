/*
 * Times of a collection period are numbers of one unit; parts of them are allowed.
 */
#include "periods.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_NS 1e18

static const struct {
	const char *name;
	double ns;
} units[] = {
	{ "sec", 1e9 },  { "hour", 3.6e12 }, { "min", 6e10 },
	{ "msec", 1e6 }, { "usec", 1e3 },    { "nsec", 1 },
};

static double unit_ns(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!name || !strcasecmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

/* A number up to the character `end`; moves behind that. */
static bool take_number(const char **text, char end, double *ret)
{
	char *behind;

	if ((**text < '0' || **text > '9') && **text != '.')
		return false;
	*ret = strtod(*text, &behind);
	if (behind == *text || *behind != end)
		return false;
	*text = behind + (end != 0);
	return true;
}

static bool period_read(const char *text, double unit, struct period *ret)
{
	double delay, time, repeat;

	if (!take_number(&text, ':', &delay) || !take_number(&text, ':', &time) ||
	    !take_number(&text, 0, &repeat))
		return false;
	if (delay * unit > LONGEST_NS || time * unit > LONGEST_NS || time * unit < 1 ||
	    repeat > 1e15 || repeat != (double)(uint64_t)repeat)
		return false;
	*ret = (struct period){ (uint64_t)(delay * unit), (uint64_t)(time * unit),
				(uint64_t)repeat };
	return true;
}

static int period_refuse(const char *text, struct err *err)
{
	err_set(err, -EINVAL, "'%s' is not a collection period", text);
	err_fix(err, "DELAY:TIME:REPEAT, for example 5:10:3 (REPEAT 0: for ever), with "
		     "--collection-period-unit hour, min, sec, msec, usec or nsec");
	return err_exit(err, EXIT_USAGE);
}

int periods_parse(struct periods *ret, const char *const *texts, size_t count, const char *unit,
		  struct err *err)
{
	double ns = unit_ns(unit);

	ret->items = calloc(MAX(count, (size_t)1), sizeof(*ret->items));
	if (!ret->items)
		return err_set(err, -ENOMEM, "no memory for the collection periods");
	if (ns == 0)
		return period_refuse(unit, err);
	ret->count = MAX(count, (size_t)1);
	ret->items[0] = PERIOD_ALWAYS;
	for (size_t i = 0; i < count; i++)
		if (!period_read(texts[i], ns, &ret->items[i]))
			return period_refuse(texts[i], err);
	return 0;
}

void periods_done(struct periods *periods)
{
	free(periods->items);
	*periods = (struct periods){ 0 };
}
