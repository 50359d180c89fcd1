/*
 * The command line, and the help about it.
 */
#include "arguments.h"
#include "host/core/text/nearest.h"
#include "host/core/text/print.h"
#include "host/counters/amd/devices.h"
#include "host/rocprofv3/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int option_refuse(const char *word, struct err *err)
{
	struct nearest nearest = { .wanted = word + 2 };

	for (size_t i = 0; i < setting_count; i++)
		nearest_offer(&nearest, settings[i].name);
	err_usage(err, NULL, "unknown option %s", word);
	return nearest.best ? err_fix(err, "--%s", nearest.best) : err->code;
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

static void print_option(FILE *out, const struct setting *setting)
{
	char left[64], letter[8] = "    ";

	if (setting->letter)
		snprintf(letter, sizeof(letter), "-%c, ", setting->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, setting->name,
		 setting->takes == TAKES_SWITCH ? "" : " ",
		 setting->argument ? setting->argument : "");
	print(out, "  %-36s %s\n", left, setting->help);
}

static void print_refused(FILE *out)
{
	for (size_t i = 0; i < setting_count; i++)
		if (setting_is_refused(&settings[i]))
			print(out, "  %-36s %s\n", settings[i].name, settings[i].help);
}

void help_print(FILE *out)
{
	fputs("usage: rocprofv3 --attach PID [options]\n"
	      "       rocprofv3 [options] -- PROGRAM [ARGUMENTS]\n\n"
	      "Traces a running process, which needs no preparation, or a program from its first\n"
	      "call on, and leaves AMD's files.  Detaches at Enter, SIGINT, SIGTERM, after the\n"
	      "duration, or when the process ends.  A program that was started gets the terminal\n"
	      "and the signals; rocprofv3 ends when it does, with its status.\n"
	      "Switches take true or false; without either they mean true.\n\n",
	      out);
	for (size_t i = 0; i < setting_count; i++)
		if (!setting_is_refused(&settings[i]))
			print_option(out, &settings[i]);
	fputs("\nOptions of AMD's that are refused (with false they are allowed):\n", out);
	print_refused(out);
	fputs("\nexamples:\n"
	      "  rocprofv3 --attach 4711 --hip-trace --kernel-trace --attach-duration-msec 5000\n"
	      "  rocprofv3 --sys-trace -f csv -- ./program argument\n"
	      "  rocprofv3 -p 4711 --runtime-trace -f csv rocpd -d out -o app_%pid%\n",
	      out);
}

void help_list(FILE *out, const char *folder)
{
	struct err err = { 0 };

	fputs("Traces:\n", out);
	for (size_t i = 0; i < setting_count; i++)
		if (settings[i].bits)
			print(out, "  %-36s %s\n", settings[i].name, settings[i].help);
	fputs("\nCounters:\n", out);
	/* A missing part is reported, and is no failure. */
	if (amd_counters_list(out, folder, &err))
		print(out, "  none: %s\n  %s\n  %s\n", err.what, err.why, err.fix);
	fputs("\nPC sampling, thread trace: none\n", out);
	fputs("\nNot served:\n", out);
	print_refused(out);
}
