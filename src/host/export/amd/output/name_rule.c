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
#define JOB_VARIABLES  "SLURM_JOB_ID"
#define DATE_VARIABLES "ROCPROF_DATE_FORMAT"
#define TIME_VARIABLES "ROCPROF_TIME_FORMAT"

const char *const name_rule_variables[] = { RANK_VARIABLES, SIZE_VARIABLES, JOB_VARIABLES,
					    DATE_VARIABLES, TIME_VARIABLES, NULL };
static const char *const rank_variables[] = { RANK_VARIABLES, NULL };
static const char *const size_variables[] = { SIZE_VARIABLES, NULL };
static const char *const job_variables[] = { JOB_VARIABLES, NULL };
static const char *const date_variables[] = { DATE_VARIABLES, NULL };
static const char *const time_variables[] = { TIME_VARIABLES, NULL };

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
static void put_time(struct bytes *out, const struct name_facts *facts, const char *format)
{
	time_t when = facts->launched_s;
	struct tm parts;
	char text[256];

	if (localtime_r(&when, &parts) && strftime(text, sizeof(text), format, &parts))
		put_tame(out, text);
}
#pragma GCC diagnostic pop

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

#define FACT(member) offsetof(struct name_facts, member)

static const struct name_key {
	const char *name;
	char letter; /* of the short form, 0: it has none */
	enum {
		PUT_NUMBER,
		PUT_FOLDER, /* its slashes stay */
		PUT_TAME,
		PUT_VARIABLE,
		PUT_TIME,
		PUT_UNIQUE, /* what distinguishes processes: the rank, or the PID */
		PUT_TAG,
		PUT_TAG_AND_ARGUMENTS,
		PUT_ARGUMENTS,
	} put;
	size_t fact; /* the member of the facts; of arguments, the first */
	const char *const *variables;
	const char *usual; /* where no variable is set */
} keys[] = {
	{ "argv", 0, PUT_ARGUMENTS, 0 },
	{ "argt", 0, PUT_TAG_AND_ARGUMENTS, 1 },
	{ "args", 0, PUT_ARGUMENTS, 1 },
	{ "tag", 0, PUT_TAG },
	{ "hostname", 'h', PUT_TAME, FACT(hostname) },
	{ "pid", 'p', PUT_NUMBER, FACT(pid) },
	{ "ppid", 0, PUT_NUMBER, FACT(parent) },
	{ "pgid", 0, PUT_NUMBER, FACT(group) },
	{ "psid", 0, PUT_NUMBER, FACT(session) },
	{ "psize", 0, PUT_NUMBER, FACT(siblings) },
	{ "job", 'j', PUT_VARIABLE, 0, job_variables, "0" },
	{ "rank", 'r', PUT_VARIABLE, 0, rank_variables, "0" },
	{ "size", 's', PUT_VARIABLE, 0, size_variables, "1" },
	{ "nid", 0, PUT_UNIQUE, FACT(pid), rank_variables, "0" },
	{ "cwd", 0, PUT_FOLDER, FACT(folder) },
	{ "launch_date", 0, PUT_TIME, 0, date_variables, "%F" },
	{ "launch_time", 0, PUT_TIME, 0, time_variables, "%F_%H.%M" },
};

static void put_key(struct bytes *out, const struct name_facts *facts, const struct name_key *key)
{
	const void *fact = (const char *)facts + key->fact;
	const char *value = key->variables ? first_set(facts, key->variables) : NULL;
	bool has_rank = value || first_set(facts, size_variables);

	value = value ? value : key->usual;
	if (key->put == PUT_NUMBER || (key->put == PUT_UNIQUE && !has_rank))
		put_number(out, *(const int64_t *)fact);
	else if (key->put == PUT_FOLDER)
		put_text(out, *(const char *const *)fact);
	else if (key->put == PUT_TAME)
		put_tame(out, *(const char *const *)fact);
	else if (key->put == PUT_VARIABLE || key->put == PUT_UNIQUE)
		put_tame(out, value);
	else if (key->put == PUT_TIME)
		put_time(out, facts, value);
	if (key->put == PUT_TAG || key->put == PUT_TAG_AND_ARGUMENTS)
		put_tag(out, facts);
	if (key->put == PUT_ARGUMENTS || key->put == PUT_TAG_AND_ARGUMENTS)
		put_arguments(out, facts, key->fact, ULONG_MAX - 1);
}

/* If the text at `at` begins with these words: the text after them, else NULL. */
static const char *text_behind(const char *at, const char *words)
{
	size_t length = strlen(words);

	return strncmp(at, words, length) == 0 ? at + length : NULL;
}

/* Each replaces what begins at `at`, and returns the text after it; NULL: it is none.
 * "%name%" or "{name}". */
static const char *replace_long_key(const char *at, const struct name_facts *facts,
				    struct bytes *out)
{
	const char close[] = { *at == '%' ? '%' : '}', '\0' };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *end = text_behind(at + 1, keys[i].name);

		end = end ? text_behind(end, close) : NULL;
		if (!end)
			continue;
		put_key(out, facts, &keys[i]);
		return end;
	}
	return NULL;
}

/* "%arg3%"; a missing argument drops the separator from the next one, too. */
static const char *replace_argument(const char *at, const struct name_facts *facts,
				    struct bytes *out)
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

static const char *replace_variable(const char *at, const struct name_facts *facts,
				    struct bytes *out)
{
	char name[VARIABLE_MAX];
	const char *end = read_variable(at, name, sizeof(name));

	if (end)
		put_tame(out, variable_of(facts, name));
	return end;
}

static const char *replace_letter(const char *at, const struct name_facts *facts, struct bytes *out)
{
	for (size_t i = 0; *at == '%' && i < ARRAY_SIZE(keys); i++)
		if (keys[i].letter && keys[i].letter == at[1]) {
			put_key(out, facts, &keys[i]);
			return at + 2;
		}
	return NULL;
}

int name_rule_expand(const char *pattern, const struct name_facts *facts, char **ret)
{
	static const char *(*const replacers[])(const char *at, const struct name_facts *facts,
						struct bytes *out) = {
		replace_long_key, replace_argument, replace_variable, replace_letter
	};
	struct bytes out = { 0 };

	while (*pattern) {
		const char *end = NULL;

		for (size_t i = 0; strchr("%{$", *pattern) && !end && i < ARRAY_SIZE(replacers);
		     i++)
			end = replacers[i](pattern, facts, &out);
		if (!end)
			bytes_put(&out, pattern, 1);
		pattern = end ? end : pattern + 1;
	}
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
