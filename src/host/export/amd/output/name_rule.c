/*
 * Replaces keys in names.  A user typed the pattern, and values come from a target: both may be any
 * bytes.  A value of a variable never makes a folder: its slashes become underscores.
 */
#include "host/export/amd/output/name_rule.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/core/bytes.h"
#include "host/core/text/text.h"

#define VARIABLE_MAX 128u

/* The first of each list that is set counts. */
#define RANK_VARIABLES                                                                         \
	"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "MPI_RANK", "PMI_RANK", \
		"PMIX_RANK"
#define SIZE_VARIABLES \
	"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "MPI_SIZE", "PMI_SIZE", "SLURM_NTASKS"
#define JOB_VARIABLES    "SLURM_JOB_ID"
#define FORMAT_VARIABLES "ROCPROF_DATE_FORMAT", "ROCPROF_TIME_FORMAT"

const char *const name_rule_variables[] = { RANK_VARIABLES, SIZE_VARIABLES, JOB_VARIABLES,
					    FORMAT_VARIABLES, NULL };
static const char *const rank_variables[] = { RANK_VARIABLES, NULL };
static const char *const size_variables[] = { SIZE_VARIABLES, NULL };
static const char *const job_variables[] = { JOB_VARIABLES, NULL };

static const char *variable_of(const struct name_facts *facts, const char *name)
{
	return facts->variable ? facts->variable(facts->context, name) : NULL;
}

static const char *first_set(const struct name_facts *facts, const char *const *names)
{
	const char *value = NULL;

	for (; *names && !value; names++) {
		value = variable_of(facts, *names);
		if (value && !value[0])
			value = NULL;
	}
	return value;
}

static void put_text(struct bytes *out, const char *text)
{
	bytes_put(out, text ? text : "", text ? strlen(text) : 0);
}

static void put_number(struct bytes *out, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	put_text(out, text);
}

/* Blanks, slashes and control characters become underscores; leading ones are dropped.  A name of
 * dots alone would be an existing folder. */
static void put_tame(struct bytes *out, const char *value)
{
	if (!value)
		return;
	value += strspn(value, "\t /");
	if (value[0] && value[strspn(value, ".")] == '\0') {
		put_text(out, "_");
		return;
	}
	for (; *value; value++) {
		bool is_wild = *value == '/' || *value == ' ' || iscntrl((unsigned char)*value);

		bytes_put(out, is_wild ? "_" : value, 1);
	}
}

/* An argument as part of a name: no slashes, no dots or underscores in front. */
static void put_argument(struct bytes *out, struct text word)
{
	while (word.at < word.end && (*word.at == '.' || *word.at == '_' || *word.at == '/'))
		word.at++;
	for (; word.at < word.end; word.at++) {
		bool is_wild = *word.at == '/' || iscntrl((unsigned char)*word.at);

		bytes_put(out, is_wild ? "_" : word.at, 1);
	}
}

/* From argument `first` on, underscores between; `last` ends it. */
static void put_arguments(struct bytes *out, const struct name_facts *facts, unsigned long first,
			  unsigned long last)
{
	struct text rest = text_of(facts->command ? facts->command : ""), word;
	unsigned long index = 0;

	for (; index <= last && text_take_word(&rest, &word); index++) {
		if (index < first)
			continue;
		if (index > first)
			put_text(out, "_");
		put_argument(out, word);
	}
}

static bool has_argument(const struct name_facts *facts, unsigned long wanted)
{
	struct text rest = text_of(facts->command ? facts->command : ""), word;
	unsigned long index = 0;

	while (text_take_word(&rest, &word))
		if (index++ == wanted)
			return true;
	return false;
}

/* The time format is the user's choice; its result is limited to its room. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_time(struct bytes *out, const struct name_facts *facts, const char *variable,
		     const char *usual)
{
	const char *format = variable_of(facts, variable);
	time_t when = facts->launched_s;
	struct tm parts;
	char text[256];

	if (localtime_r(&when, &parts) &&
	    strftime(text, sizeof(text), format && format[0] ? format : usual, &parts))
		put_tame(out, text);
}
#pragma GCC diagnostic pop

static void put_hostname(struct bytes *out, const struct name_facts *facts)
{
	put_tame(out, facts->hostname);
}

static void put_pid(struct bytes *out, const struct name_facts *facts)
{
	put_number(out, facts->pid);
}

static void put_parent(struct bytes *out, const struct name_facts *facts)
{
	put_number(out, facts->parent);
}

static void put_group(struct bytes *out, const struct name_facts *facts)
{
	put_number(out, facts->group);
}

static void put_session(struct bytes *out, const struct name_facts *facts)
{
	put_number(out, facts->session);
}

static void put_siblings(struct bytes *out, const struct name_facts *facts)
{
	put_number(out, facts->siblings);
}

static void put_first_set(struct bytes *out, const struct name_facts *facts,
			  const char *const *names, const char *otherwise)
{
	const char *value = first_set(facts, names);

	put_tame(out, value ? value : otherwise);
}

static void put_rank(struct bytes *out, const struct name_facts *facts)
{
	put_first_set(out, facts, rank_variables, "0");
}

static void put_size(struct bytes *out, const struct name_facts *facts)
{
	put_first_set(out, facts, size_variables, "1");
}

static void put_job(struct bytes *out, const struct name_facts *facts)
{
	put_first_set(out, facts, job_variables, "0");
}

/* Writes what distinguishes processes. */
static void put_unique(struct bytes *out, const struct name_facts *facts)
{
	if (first_set(facts, rank_variables) || first_set(facts, size_variables))
		put_rank(out, facts);
	else
		put_pid(out, facts);
}

static void put_folder(struct bytes *out, const struct name_facts *facts)
{
	put_text(out, facts->folder);
}

static void put_date(struct bytes *out, const struct name_facts *facts)
{
	put_time(out, facts, "ROCPROF_DATE_FORMAT", "%F");
}

static void put_launch(struct bytes *out, const struct name_facts *facts)
{
	put_time(out, facts, "ROCPROF_TIME_FORMAT", "%F_%H.%M");
}

static void put_all_words(struct bytes *out, const struct name_facts *facts)
{
	put_arguments(out, facts, 0, ULONG_MAX - 1);
}

static void put_further_words(struct bytes *out, const struct name_facts *facts)
{
	put_arguments(out, facts, 1, ULONG_MAX - 1);
}

/* The program without its folder. */
static void put_tag(struct bytes *out, const struct name_facts *facts)
{
	struct text rest = text_of(facts->command ? facts->command : ""), word;

	if (!text_take_word(&rest, &word))
		return;
	for (const char *at = word.at; at < word.end; at++)
		if (*at == '/')
			word.at = at + 1;
	put_argument(out, word);
}

static void put_tag_and_words(struct bytes *out, const struct name_facts *facts)
{
	put_tag(out, facts);
	put_further_words(out, facts);
}

typedef void key_putter(struct bytes *out, const struct name_facts *facts);

static const struct name_key {
	const char *name;
	char letter; /* of the short form, 0: it has none */
	key_putter *put;
} keys[] = {
	{ "argv", 0, put_all_words },      { "argt", 0, put_tag_and_words },
	{ "args", 0, put_further_words },  { "tag", 0, put_tag },
	{ "hostname", 'h', put_hostname }, { "pid", 'p', put_pid },
	{ "ppid", 0, put_parent },         { "pgid", 0, put_group },
	{ "psid", 0, put_session },        { "psize", 0, put_siblings },
	{ "job", 'j', put_job },           { "rank", 'r', put_rank },
	{ "size", 's', put_size },         { "nid", 0, put_unique },
	{ "cwd", 0, put_folder },          { "launch_date", 0, put_date },
	{ "launch_time", 0, put_launch },
};

/* If the text at `at` begins with these words: the text after them, else NULL. */
static const char *text_behind(const char *at, const char *words)
{
	size_t length = strlen(words);

	return strncmp(at, words, length) == 0 ? at + length : NULL;
}

/* "%name%" or "{name}". */
static const char *take_long_key(const char *at, const struct name_facts *facts, struct bytes *out)
{
	const char close[] = { *at == '%' ? '%' : '}', '\0' };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *end = text_behind(at + 1, keys[i].name);

		end = end ? text_behind(end, close) : NULL;
		if (!end)
			continue;
		keys[i].put(out, facts);
		return end;
	}
	return NULL;
}

/* "%arg3%"; a missing argument drops the separator from the next one, too. */
static const char *take_argument(const char *at, const struct name_facts *facts, struct bytes *out)
{
	const char *digits = text_behind(at + 1, "arg"), *end;
	char *stop;
	unsigned long index;

	if (!digits || !isdigit((unsigned char)digits[0]))
		return NULL;
	index = strtoul(digits, &stop, 10);
	end = text_behind(stop, *at == '%' ? "%" : "}");
	if (!end)
		return NULL;
	if (index >= ULONG_MAX - 1 || !has_argument(facts, index))
		return end + strspn(end, "-/_");
	put_arguments(out, facts, index, index);
	return end;
}

/* The three ways in which variables are named. */
static const struct variable_form {
	const char *open, *close;
} forms[] = {
	{ "%env{", "}%" }, { "%ENV{", "}%" }, { "$env{", "}" }, { "$ENV{", "}" }, { "%q{", "}" }
};

/* Parses a variable: its name, and the text after it. */
static const char *read_variable(const char *at, char *ret, size_t room)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *name = text_behind(at, forms[i].open);
		size_t length = name ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;
		const char *end = length ? text_behind(name + length, forms[i].close) : NULL;

		if (!end || length >= room)
			continue;
		memcpy(ret, name, length);
		ret[length] = '\0';
		return end;
	}
	return NULL;
}

static const char *take_variable(const char *at, const struct name_facts *facts, struct bytes *out)
{
	char name[VARIABLE_MAX];
	const char *end = read_variable(at, name, sizeof(name));

	if (end)
		put_tame(out, variable_of(facts, name));
	return end;
}

static const char *take_letter(const char *at, const struct name_facts *facts, struct bytes *out)
{
	for (size_t i = 0; *at == '%' && i < ARRAY_SIZE(keys); i++)
		if (keys[i].letter && keys[i].letter == at[1]) {
			keys[i].put(out, facts);
			return at + 2;
		}
	return NULL;
}

typedef const char *key_taker(const char *at, const struct name_facts *facts, struct bytes *out);

static key_taker *const takers[] = { take_long_key, take_argument, take_variable, take_letter };

/* Writes a key or a character; returns the text after it. */
static const char *name_rule_take(const char *at, const struct name_facts *facts, struct bytes *out)
{
	const char *end = NULL;

	for (size_t i = 0; strchr("%{$", *at) && !end && i < ARRAY_SIZE(takers); i++)
		end = takers[i](at, facts, out);
	if (end)
		return end;
	bytes_put(out, at, 1);
	return at + 1;
}

int name_rule_expand(const char *pattern, const struct name_facts *facts, char **ret)
{
	struct bytes out = { 0 };

	while (*pattern)
		pattern = name_rule_take(pattern, facts, &out);
	bytes_put(&out, "", 1);
	if (out.has_failed) {
		bytes_done(&out);
		return -ENOMEM;
	}
	*ret = (char *)out.data;
	return 0;
}

const char *name_rule_next_variable(const char *pattern, char *ret, size_t room)
{
	for (; *pattern; pattern++) {
		const char *end = read_variable(pattern, ret, room);

		if (end)
			return end;
	}
	return NULL;
}
