/*
 * The option parser; prints nothing but the requested help text.
 */
#include "host/core/options.h"

#include <errno.h>
#include <string.h>

#include "host/core/text/nearest.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

static int set_flag(void *value, const char *text)
{
	(void)text;
	*(bool *)value = true;
	return 0;
}

static int set_text(void *value, const char *text)
{
	*(const char **)value = text;
	return 0;
}

static int set_once(void *value, const char *text)
{
	return *(const char **)value ? -EEXIST : set_text(value, text);
}

static int set_number(void *value, const char *text)
{
	return text_parse_number(text, UINT64_MAX, value);
}

/* Suffixes are powers of 1024; there is no other unit. */
static int set_size(void *value, const char *text)
{
	static const char suffixes[] = "KMG";
	struct text rest = text_of(text);
	const char *suffix;
	uint64_t number;
	unsigned shift = 0;

	if (!text_take_number(&rest, 10, &number) || !number)
		return -EINVAL;
	suffix = memchr(suffixes, *rest.at & ~0x20, strlen(suffixes));
	if (suffix) {
		shift = 10 * (unsigned)(suffix - suffixes + 1);
		rest.at++;
	}
	if (rest.at != rest.end || number > UINT64_MAX >> shift)
		return -EINVAL;
	*(uint64_t *)value = number << shift;
	return 0;
}

static int set_duration(void *value, const char *text)
{
	return text_parse_duration(text, value);
}

static int set_span(void *value, const char *text)
{
	uint64_t time_ns;
	int r = text_parse_duration(text, &time_ns);

	if (r || !time_ns)
		return r ? r : -EINVAL;
	*(uint64_t *)value = time_ns;
	return 0;
}

static int set_list(void *value, const char *text)
{
	struct option_list *list = value;

	if (list->count == OPTION_LIST_MAX)
		return -E2BIG;
	list->items[list->count++] = text;
	return 0;
}

static const struct option_setter {
	int (*set)(void *value, const char *text);
	const char *expects;
} setters[] = {
	[OPTION_FLAG] = { set_flag, "" },
	[OPTION_TEXT] = { set_text, "a text" },
	[OPTION_ONCE] = { set_once, "" },
	[OPTION_NUMBER] = { set_number, "a whole number" },
	[OPTION_SIZE] = { set_size, "a number of bytes, or with K, M or G, such as 512K" },
	[OPTION_DURATION] = { set_duration, "a time such as 10 (seconds), 0.5, 500ms or 2m" },
	[OPTION_SPAN] = { set_span, "a time above 0, such as 10 (seconds), 0.5, 500ms or 2m" },
	[OPTION_LIST] = { set_list, "no more than 64 of them" },
};

static int option_set(const struct option_desc *option, void *values, const char *text,
		      struct err *err)
{
	const struct option_setter *setter = &setters[option->kind];
	void *value = (char *)values + option->offset;
	int r;

	if (option->kind == OPTION_BITS) {
		*(uint32_t *)value |= option->bits;
		return 0;
	}
	r = setter->set(value, text);
	if (r == 0)
		return 0;
	if (r == -EEXIST)
		return err_usage(err, "run limpet once for each, at the same time if need be",
				 "--%s is given more than once ('%s')", option->long_name, text);
	err_usage(err, NULL, "invalid value '%s' for --%s", text, option->long_name);
	return err_why(err, "expected %s", setter->expects);
}

/* The state of the parser: the next word to read, and the slot of the next operand. */
struct cursor {
	char **next;
	char **operand;
};

/* The argument: after "=" or in the same word, else the next word. */
static int option_read(const struct option_desc *option, const char *attached,
		       struct cursor *cursor, void *values, struct err *err)
{
	if (!option->arg)
		return attached ? err_usage(err, NULL, "option --%s takes no argument",
					    option->long_name)
				: option_set(option, values, NULL, err);
	if (!attached && *cursor->next)
		attached = *cursor->next++;
	return attached ? option_set(option, values, attached, err)
			: err_usage(err, NULL, "option --%s needs an argument", option->long_name);
}

static int parse_long(const struct option_desc *table, const char *word, struct cursor *cursor,
		      void *values, struct err *err)
{
	const char *equals = strchr(word, '=');
	struct text name = { word, equals ? equals : word + strlen(word) };
	char typed[64];
	struct nearest nearest = { .wanted = typed };

	for (const struct option_desc *option = table; option->long_name; option++)
		if (text_equals(name, option->long_name))
			return option_read(option, equals ? equals + 1 : NULL, cursor, values, err);
	text_copy(name, typed, sizeof(typed));
	for (; table->long_name; table++)
		nearest_offer(&nearest, table->long_name);
	err_usage(err, NULL, "unknown option --%s", typed);
	return nearest.best ? err_fix(err, "--%s", nearest.best) : err->code;
}

/* "-ab" is -a -b; "-d5" is -d 5. */
static int parse_short(const struct option_desc *table, const char *word, struct cursor *cursor,
		       void *values, struct err *err)
{
	int r = 0;

	for (; r == 0 && *word; word++) {
		const struct option_desc *option = table;

		while (option->long_name && option->short_name != *word)
			option++;
		if (!option->long_name)
			return err_usage(err, NULL, "unknown option -%c", *word);
		if (option->arg)
			return option_read(option, word[1] ? word + 1 : NULL, cursor, values, err);
		r = option_set(option, values, NULL, err);
	}
	return r;
}

int options_parse(const struct option_desc *table, char **argv, void *values, struct err *err)
{
	struct cursor cursor = { argv, argv };
	bool only_operands = false;

	while (*cursor.next) {
		char *word = *cursor.next++;
		int r = 0;

		if (only_operands || word[0] != '-' || word[1] == '\0')
			*cursor.operand++ = word;
		else if (strcmp(word, "--") == 0)
			only_operands = true;
		else if (word[1] == '-')
			r = parse_long(table, word + 2, &cursor, values, err);
		else
			r = parse_short(table, word + 1, &cursor, values, err);
		if (r < 0)
			return r;
	}
	*cursor.operand = NULL;
	return (int)(cursor.operand - argv);
}

bool options_want_help(char *const *argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	return false;
}

void options_print_help(const struct option_desc *table, FILE *out)
{
	for (; table->long_name; table++) {
		char left[64], dash[] = { '-', table->short_name, ',', ' ', '\0' };

		if (!table->help)
			continue;
		snprintf(left, sizeof(left), "%s--%s%s%s", table->short_name ? dash : "    ",
			 table->long_name, table->arg ? " " : "", table->arg ? table->arg : "");
		print(out, "  %-26s %s\n", left, table->help);
	}
}
