/*
 * Options in the syntax of Python's argparse in AMD's program: "--name value", "--name=value", "-n
 * value", "-nvalue", several values up to the next option, and booleans without a value.
 */
#include "arguments.h"

#include "host/core/text/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int option_refuse(const char *word, struct err *err)
{
	struct nearest nearest = { .wanted = word + 2 };

	for (size_t i = 0; i < setting_count; i++)
		nearest_offer(&nearest, settings[i].name);
	err_set(err, -EINVAL, "unknown option %s", word);
	if (nearest.best)
		err_fix(err, "--%s", nearest.best);
	return err_exit(err, EXIT_USAGE);
}

/* Negative numbers are no options. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && (word[1] < '0' || word[1] > '9');
}

static size_t count_values(const struct setting *setting, const char *const *words)
{
	size_t count = 0;

	if (setting->takes == TAKES_SWITCH)
		return *words && setting_truth(*words) >= 0;
	while (words[count] && !is_option(words[count]) && (setting->takes != TAKES_ONE || !count))
		count++;
	return count;
}

/* `attached` stands in the same word, or is NULL. */
static int argument_make(struct profile *profile, const struct setting *setting,
			 const char *attached, char ***words, struct err *err)
{
	const char *const *values = (const char *const *)*words;
	size_t count = count_values(setting, values);

	if (attached)
		return setting_make(profile, setting, &attached, 1, err);
	if (!count && (setting->takes == TAKES_ONE || setting->takes == TAKES_SOME))
		return err_usage(err, NULL, "--%s needs %s", setting->name, setting->argument);
	*words += count;
	return setting_make(profile, setting, values, count, err);
}

static int long_read(struct profile *profile, const char *word, char ***words, struct err *err)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct setting *setting =
		memchr(name, '_', length) ? NULL : setting_find(name, length);
	int r;

	if (!setting)
		return option_refuse(word, err);
	r = argument_make(profile, setting, equals ? equals + 1 : NULL, words, err);
	if (r && setting_is_refused(setting)) /* by the name that was typed */
		snprintf(err->what, sizeof(err->what), "%s is not supported", word);
	return r;
}

/* "-ST" is -S -T; "-oNAME" is -o NAME. */
static int short_read(struct profile *profile, const char *word, char ***words, struct err *err)
{
	int r = 0;

	for (const char *letter = word + 1; !r && *letter; letter++) {
		const struct setting *setting = setting_by_letter(*letter);
		bool is_last = !letter[1];

		if (!setting)
			return err_usage(err, NULL, "unknown option -%c", *letter);
		if (setting->takes != TAKES_SWITCH && !is_last)
			return argument_make(profile, setting, letter + 1, words, err);
		r = is_last ? argument_make(profile, setting, NULL, words, err)
			    : setting_make(profile, setting, NULL, 0, err);
	}
	return r;
}

int arguments_read(struct profile *profile, char **argv, struct err *err)
{
	int r = 0;

	while (!r && *argv) {
		const char *word = *argv++;

		if (!strcmp(word, "--")) {
			profile->command = *argv ? argv : NULL;
			return 0;
		}
		if (!is_option(word)) {
			err_usage(err,
				  "rocprofv3 --attach PID [options], or: rocprofv3 [options] -- "
				  "PROGRAM ...",
				  "unexpected argument '%s'", word);
			return err_why(err, "no option takes it");
		}
		r = word[1] == '-' ? long_read(profile, word, &argv, err)
				   : short_read(profile, word, &argv, err);
	}
	return r;
}
