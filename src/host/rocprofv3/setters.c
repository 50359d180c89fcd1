/*
 * From texts to values.  A text that makes no sense is refused by the name of its setting.
 */
#include "host/rocprofv3/setters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int value_refuse(const struct setting *setting, const char *value, const char *expects,
			struct err *err)
{
	err_usage(err, NULL, "invalid value '%s' for --%s", value, setting->name);
	return err_why(err, "expected %s", expects);
}

static void *field_of(struct profile *profile, const struct setting *setting)
{
	return (char *)profile + setting->offset;
}

int setting_truth(const char *word)
{
	static const char *const words[][6] = { { "0", "false", "off", "no", "n", "f" },
						{ "1", "true", "on", "yes", "y", "t" } };

	for (int truth = 0; truth < 2; truth++)
		for (size_t i = 0; i < ARRAY_SIZE(words[truth]); i++)
			if (!strcasecmp(word, words[truth][i]))
				return truth;
	return -1;
}

/* 1, 0, or -EINVAL and the error is set. */
static int read_switch(const struct setting *setting, const char *const *values, size_t count,
		       struct err *err)
{
	int truth = count ? setting_truth(values[0]) : 1;

	return truth < 0 ? value_refuse(setting, values[0], "true or false", err) : truth;
}

int set_switch(struct profile *profile, const struct setting *setting, const char *const *values,
	       size_t count, struct err *err)
{
	int truth = read_switch(setting, values, count, err);

	if (truth < 0)
		return truth;
	*(bool *)field_of(profile, setting) = truth;
	return 0;
}

static enum trace_rank rank_of(const struct setting *setting)
{
	if (setting->offset)
		return RANK_SET;
	return setting->bits & (setting->bits - 1) ? RANK_GROUP : RANK_ONE;
}

int set_domains(struct profile *profile, const struct setting *setting, const char *const *values,
		size_t count, struct err *err)
{
	struct traces *traces = &profile->traces[rank_of(setting)];
	int truth = read_switch(setting, values, count, err);

	if (truth < 0)
		return truth;
	if (setting->offset) {
		*(bool *)field_of(profile, setting) |= truth;
		if (!truth) /* an unwanted set removes nothing from others */
			return 0;
	}
	traces->wanted = truth ? traces->wanted | setting->bits : traces->wanted & ~setting->bits;
	traces->unwanted =
		truth ? traces->unwanted & ~setting->bits : traces->unwanted | setting->bits;
	return 0;
}

int set_text(struct profile *profile, const struct setting *setting, const char *const *values,
	     size_t count, struct err *err)
{
	if (count != 1)
		return value_refuse(setting, count ? values[1] : "", "one value", err);
	*(const char **)field_of(profile, setting) = values[0];
	return 0;
}

int set_list(struct profile *profile, const struct setting *setting, const char *const *values,
	     size_t count, struct err *err)
{
	struct profile_list *list = field_of(profile, setting);

	for (size_t i = 0; i < count; i++) {
		if (list->count == PROFILE_LIST_MAX)
			return value_refuse(setting, values[i], "no more than 64 of them", err);
		list->items[list->count++] = values[i];
	}
	return 0;
}

/* "SQ_WAVES,GRBM_COUNT"; variables have "pmc: " in front. */
int set_counters(struct profile *profile, const struct setting *setting, const char *const *values,
		 size_t count, struct err *err)
{
	profile->counter_passes++;
	for (size_t i = 0; i < count; i++) {
		const char *at = values[i];

		if (!strncmp(at, "pmc:", 4))
			at += 4;
		while (*(at += strspn(at, ", \t\n"))) {
			size_t length = strcspn(at, ", \t\n");
			const char *name = profile_keep(profile, at, length);
			int r;

			if (!name)
				return err_set(err, -ENOMEM, "no memory for options");
			r = set_list(profile, setting, &name, 1, err);
			if (r)
				return r;
			at += length;
		}
	}
	return 0;
}

int set_ranges(struct profile *profile, const struct setting *setting, const char *const *values,
	       size_t count, struct err *err)
{
	const char **ranges = field_of(profile, setting);
	char text[1024];

	for (size_t i = 0; i < count; i++) {
		int length = snprintf(text, sizeof(text), "%s%s%s", *ranges ? *ranges : "",
				      *ranges ? "," : "", values[i]);

		if (length >= (int)sizeof(text))
			return value_refuse(setting, values[i], "fewer ranges", err);
		*ranges = profile_keep(profile, text, sizeof(text));
		if (!*ranges)
			return err_set(err, -ENOMEM, "no memory for options");
	}
	return 0;
}

/* The index of a word in a list, or -1. */
static int find_word(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(word, words[i]))
			return (int)i;
	return -1;
}

int set_formats(struct profile *profile, const struct setting *setting, const char *const *values,
		size_t count, struct err *err)
{
	static const char *const names[] = { "rocpd", "csv", "json", "pftrace", "limpet" };

	for (size_t i = 0; i < count; i++) {
		int index = find_word(names, ARRAY_SIZE(names), values[i]);

		if (index < 0 && !strcasecmp(values[i], "otf2")) {
			err_set(err, -ENOTSUP, "--%s otf2 is not supported", setting->name);
			err_why(err, "limpet does not write OTF2");
			err_fix(err, "rocpd, csv, json, pftrace or limpet");
			return err_exit(err, EXIT_USAGE);
		}
		if (index < 0)
			return value_refuse(setting, values[i],
					    "rocpd, csv, json, pftrace or limpet", err);
		profile->output.formats |= 1u << index;
	}
	return 0;
}

/* The index of the one value, or the error. */
static int choice_read(const struct setting *setting, const char *const *values, size_t count,
		       const char *const *words, size_t word_count, const char *expects,
		       struct err *err)
{
	int index = count == 1 ? find_word(words, word_count, values[0]) : -1;

	return index < 0 ? value_refuse(setting, count ? values[0] : "", expects, err) : index;
}

int set_index(struct profile *profile, const struct setting *setting, const char *const *values,
	      size_t count, struct err *err)
{
	static const char *const names[] = { [AGENT_RELATIVE] = "relative",
					     [AGENT_ABSOLUTE] = "absolute",
					     [AGENT_TYPE_RELATIVE] = "type-relative" };
	int index = choice_read(setting, values, count, names, ARRAY_SIZE(names),
				"absolute, relative or type-relative", err);

	if (index < 0)
		return index;
	profile->output.agent_index = (enum agent_index)index;
	return 0;
}

int set_unit(struct profile *profile, const struct setting *setting, const char *const *values,
	     size_t count, struct err *err)
{
	static const char *const names[] = { "sec", "msec", "usec", "nsec" };
	int index = choice_read(setting, values, count, names, ARRAY_SIZE(names),
				"sec, msec, usec or nsec", err);

	if (index < 0)
		return index;
	profile->output.summary.unit = names[index];
	return 0;
}

int set_level(struct profile *profile, const struct setting *setting, const char *const *values,
	      size_t count, struct err *err)
{
	static const char *const names[] = { "fatal", "error", "warning", "info",
					     "trace", "env",   "config" };
	int index = choice_read(setting, values, count, names, ARRAY_SIZE(names),
				"fatal, error, warning, info, trace or env", err);

	if (index < 0)
		return index;
	profile->log_level = names[index];
	return 0;
}

int set_always(struct profile *profile, const struct setting *setting, const char *const *values,
	       size_t count, struct err *err)
{
	int truth = read_switch(setting, values, count, err);

	(void)profile;
	return truth < 0 ? truth : 0;
}

int set_refused(struct profile *profile, const struct setting *setting, const char *const *values,
		size_t count, struct err *err)
{
	(void)profile;
	if (!setting->argument && count == 1 && setting_truth(values[0]) == 0)
		return 0;
	err_set(err, -ENOTSUP, "--%.*s is not supported", (int)strcspn(setting->name, "*"),
		setting->name);
	err_why(err, "%s", setting->help);
	return err_exit(err, EXIT_USAGE);
}
