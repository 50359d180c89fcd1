/*
 * Options in the syntax of AMD's program: "--name value", "--name=value", several values up to the
 * next option, "-VVV".
 */
#include "options.h"

#include "host/core/text/nearest.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum takes { TAKES_NOTHING, TAKES_MAYBE, TAKES_ONE, TAKES_SOME, TAKES_REFUSAL };

struct compute_option {
	const char *letter, *name, *further; /* "": none */
	enum takes takes;
	size_t offset;               /* of a text, of texts, or of a flag */
	size_t is_there;             /* of a flag that TAKES_MAYBE sets; 0: none */
	const char *argument, *help; /* of a refused one: the reason */
};

#define FIELD(name) offsetof(struct compute_options, name)

static const struct compute_option profile_options[] = {
	{ "n", "name", "", TAKES_ONE, FIELD(name), 0, "NAME",
	  "of the workload: workloads/NAME/MODEL" },
	{ "p", "path", "output-directory", TAKES_ONE, FIELD(path), 0, "FOLDER",
	  "the workload's folder, instead" },
	{ "b", "block", "", TAKES_SOME, FIELD(blocks), 0, "ID ...", "metrics: 12, 12.1 or 12.1.1" },
	{ "", "set", "", TAKES_ONE, FIELD(set), 0, "NAME", "a set of metrics of one pass" },
	{ "", "list-sets", "", TAKES_NOTHING, FIELD(lists_sets), 0, "", "sets, and end" },
	{ "", "list-metrics", "", TAKES_MAYBE, FIELD(list_metrics), FIELD(lists_metrics), "[ARCH]",
	  "metrics by their ids, and end" },
	{ "k", "kernel", "", TAKES_SOME, FIELD(kernels), 0, "NAME ...",
	  "only kernels with this in their names" },
	{ "d", "dispatch", "", TAKES_SOME, FIELD(dispatches), 0, "N ...",
	  "only these runs of each kernel, from 0; 4:7 for 4, 5 and 6" },
	{ "", "attach-pid", "pid", TAKES_ONE, FIELD(pid), 0, "PID",
	  "attach to a process that runs" },
	{ "", "attach-duration-msec", "", TAKES_ONE, FIELD(duration_ms), 0, "MS",
	  "detach after this time; else at Enter" },
	{ "", "all-descendants", "", TAKES_NOTHING, FIELD(all_descendants), 0, "",
	  "allow any number of descendants, of any user (limpet's own option)" },
	{ "", "config-dir", "", TAKES_ONE, FIELD(config_folder), 0, "FOLDER",
	  "definitions: rocprof-compute's analysis_configs" },
	{ "", "no-roof", "", TAKES_NOTHING, FIELD(has_no_roof), 0, "", "no roofline (never made)" },
	{ "", "rocprofiler-sdk-library-path", "rocprofiler-sdk-tool-path", TAKES_ONE,
	  FIELD(ignored), 0, "FILE", "not used: limpet needs none of AMD's libraries" },
	{ "", "join-type", "format-rocprof-output", TAKES_ONE, FIELD(ignored), 0, "NAME",
	  "not used: there is one form, rocpd" },
	{ "", "roof-only", "", TAKES_REFUSAL, 0, 0, "",
	  "a roofline is measured by programs of AMD's on a device that does nothing else" },
	{ "", "iteration-multiplexing", "", TAKES_REFUSAL, 0, 0, "",
	  "each kernel would be counted for other things than the one before" },
	{ "", "spatial-multiplexing", "", TAKES_REFUSAL, 0, 0, "",
	  "one process is profiled, on one machine" },
	{ "", "pc-sampling-method", "pc-sampling-interval", TAKES_REFUSAL, 0, 0, "",
	  "samples of a device's program counter are made for AMD's library only" },
	{ "", "hip-trace", "kokkos-trace", TAKES_REFUSAL, 0, 0, "",
	  "rocprofv3 --attach PID --hip-trace writes such a file by itself" },
	{ 0 },
};

static const struct compute_option analyze_options[] = {
	{ "p", "path", "", TAKES_ONE, FIELD(path), 0, "FOLDER", "the folder of a workload" },
	{ "b", "block", "", TAKES_SOME, FIELD(blocks), 0, "ID ...",
	  "only these panels, tables, metrics" },
	{ "k", "kernel", "", TAKES_SOME, FIELD(kernels), 0, "N ...",
	  "only these kernels, by their numbers in the first table" },
	{ "d", "dispatch", "", TAKES_SOME, FIELD(dispatches), 0, "N ...", "only these dispatches" },
	{ "", "gpu-id", "", TAKES_ONE, FIELD(gpu), 0, "N", "only this device" },
	{ "n", "normal-unit", "", TAKES_ONE, FIELD(unit), 0, "UNIT",
	  "per_wave, per_cycle, per_second or per_kernel (default)" },
	{ "", "list-stats", "", TAKES_NOTHING, FIELD(lists_stats), 0, "",
	  "kernels and dispatches only" },
	{ "", "max-stat-num", "", TAKES_ONE, FIELD(rows), 0, "N", "rows of the first tables (10)" },
	{ "", "config-dir", "", TAKES_ONE, FIELD(config_folder), 0, "FOLDER", "definitions" },
	{ "", "native", "", TAKES_NOTHING, FIELD(is_native), 0, "",
	  "limpet's own analysis, also where AMD's program is installed" },
	{ 0 },
};

struct option_words {
	char **next;
	const struct compute_option *table;
};

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && (word[1] < '0' || word[1] > '9');
}

static bool names_it(const char *name, const char *word, size_t length)
{
	return name[0] && strlen(name) == length && !strncmp(name, word, length);
}

static const struct compute_option *option_find(const struct compute_option *table,
						const char *word, size_t length, bool is_letter)
{
	for (; table->name; table++)
		if (is_letter ? names_it(table->letter, word, length)
			      : names_it(table->name, word, length) ||
					names_it(table->further, word, length))
			return table;
	return NULL;
}

static int option_unknown(const struct option_words *words, const char *word, struct err *err)
{
	struct nearest nearest = { .wanted = word };

	for (const struct compute_option *option = words->table; option->name; option++)
		nearest_offer(&nearest, option->name);
	err_usage(err, NULL, "unknown option '%s'", word);
	return nearest.best ? err_fix(err, "--%s", nearest.best) : err->code;
}

static int option_lack(const struct compute_option *option, struct err *err)
{
	return err_usage(err, NULL, "--%s needs %s", option->name, option->argument);
}

static int texts_take(struct texts *texts, const struct compute_option *option, const char *first,
		      struct option_words *words, struct err *err)
{
	while (first || (*words->next && !is_option(*words->next))) {
		if (texts->count == TEXTS_MAX) {
			err_set(err, -E2BIG, "--%s takes at most %u", option->name, TEXTS_MAX);
			return err_exit(err, EXIT_USAGE);
		}
		texts->items[texts->count++] = first ? first : *words->next++;
		first = NULL;
	}
	return texts->count ? 0 : option_lack(option, err);
}

/* `value` stands in the same word, or is NULL. */
static int option_take(struct compute_options *ret, const struct compute_option *option,
		       const char *value, struct option_words *words, struct err *err)
{
	char *field = (char *)ret + option->offset;
	bool has_next = *words->next && !is_option(*words->next);

	if (option->takes == TAKES_REFUSAL) {
		err_usage(err, NULL, "--%s is not supported", option->name);
		return err_why(err, "%s", option->help);
	}
	if (option->takes == TAKES_SOME)
		return texts_take((struct texts *)field, option, value, words, err);
	if (option->is_there)
		*((bool *)((char *)ret + option->is_there)) = true;
	if (option->takes == TAKES_NOTHING) {
		*(bool *)field = true;
		return 0;
	}
	if (!value && has_next)
		value = *words->next++;
	if (!value && option->takes == TAKES_ONE)
		return option_lack(option, err);
	*(const char **)field = value;
	return 0;
}

static bool common_take(struct compute_options *ret, const char *word)
{
	size_t letters = strspn(word + 1, "V");

	if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		ret->shows_help = true;
	else if (!strcmp(word, "-v") || !strcmp(word, "--version"))
		ret->shows_version = true;
	else if (!strcmp(word, "-q") || !strcmp(word, "--quiet"))
		ret->is_quiet = true;
	else if (!strcmp(word, "--verbose"))
		ret->verbosity++;
	else if (letters && !word[1 + letters])
		ret->verbosity += (unsigned)letters;
	else
		return false;
	return true;
}

static int word_take(struct compute_options *ret, const char *word, struct option_words *words,
		     struct err *err)
{
	bool is_long = word[1] == '-';
	const char *name = word + 1 + is_long, *equals = is_long ? strchr(name, '=') : NULL;
	size_t length = equals ? (size_t)(equals - name) : is_long ? strlen(name) : 1;
	const struct compute_option *option = option_find(words->table, name, length, !is_long);
	const char *value = equals ? equals + 1 : NULL;

	if (!option)
		return option_unknown(words, word, err);
	if (!is_long && name[1])
		value = name + 1;
	return option_take(ret, option, value, words, err);
}

static int words_read(struct compute_options *ret, struct option_words *words, struct err *err)
{
	int r = 0;

	while (!r && *words->next) {
		const char *word = *words->next++;

		if (!strcmp(word, "--")) {
			ret->command = *words->next ? words->next : NULL;
			return 0;
		}
		if (!is_option(word)) {
			return err_usage(err,
					 "a program to start stands behind --:\n"
					 "rocprof-compute profile -n NAME -- PROGRAM ...",
					 "unexpected argument '%s'", word);
		}
		if (!common_take(ret, word))
			r = word_take(ret, word, words, err);
	}
	return r;
}

int compute_options_read(struct compute_options *ret, char **argv, struct err *err)
{
	struct option_words words = { argv + 1, NULL };

	*ret = (struct compute_options){ .mode = MODE_NONE };
	if (argv[0] && !strcmp(argv[0], "profile"))
		ret->mode = MODE_PROFILE;
	else if (argv[0] && !strcmp(argv[0], "analyze"))
		ret->mode = MODE_ANALYZE;
	if (ret->mode != MODE_NONE) {
		words.table = ret->mode == MODE_PROFILE ? profile_options : analyze_options;
		return words_read(ret, &words, err);
	}
	if (!argv[0] || common_take(ret, argv[0])) {
		ret->shows_help = !ret->shows_version;
		return 0;
	}
	return err_usage(err, "rocprof-compute profile ..., or: rocprof-compute analyze -p FOLDER",
			 "unknown mode '%s'", argv[0]);
}

static void options_print(FILE *out, const struct compute_option *table, bool is_refused)
{
	char left[64];

	for (; table->name; table++) {
		if ((table->takes == TAKES_REFUSAL) != is_refused)
			continue;
		print_into(left, sizeof(left), "%s%s%s--%s %s", table->letter[0] ? "-" : "",
			   table->letter, table->letter[0] ? ", " : "", table->name,
			   table->argument);
		print(out, "  %-36s %s\n", left, table->help);
	}
}

void compute_options_help(FILE *out)
{
	fputs("usage: rocprof-compute profile -n NAME [options] --attach-pid PID\n"
	      "       rocprof-compute profile -n NAME [options] -- PROGRAM [ARGUMENTS]\n"
	      "       rocprof-compute analyze -p FOLDER [options]\n\n"
	      "Counts what AMD's metrics are made of, for each kernel of a process that runs, or of\n"
	      "a program, and shows them.  Metrics are defined by the files of AMD's program.\n\n"
	      "profile:\n",
	      out);
	options_print(out, profile_options, false);
	fputs("\nanalyze (by AMD's program where it is installed):\n", out);
	options_print(out, analyze_options, false);
	fputs("\nboth: -V, -VV, -VVV: say more; -q: say less; -h; -v\n\nrefused:\n", out);
	options_print(out, profile_options, true);
}
