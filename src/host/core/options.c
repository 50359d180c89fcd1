/*
 * The option parser; prints nothing but the requested help text.
 */
#include "host/core/options.h"

#include <errno.h>
#include <string.h>

#include "host/core/text/nearest.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

static int usage_error(struct err *err, const char *before, const char *name, const char *after)
{
	err_set(err, -EINVAL, "%s%s%s", before, name, after);
	return err_exit(err, EXIT_USAGE);
}

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
	[OPTION_DURATION] = { set_duration, "a time such as 10 (seconds), 0.5, 500ms or 2m" },
	[OPTION_SPAN] = { set_span, "a time above 0, such as 10 (seconds), 0.5, 500ms or 2m" },
	[OPTION_LIST] = { set_list, "no more than 64 of them" },
};

static int refuse_second(const struct option_desc *option, const char *text, struct err *err)
{
	err_set(err, -EINVAL, "--%s is given more than once ('%s')", option->long_name, text);
	err_fix(err, "run limpet once for each, at the same time if need be");
	return err_exit(err, EXIT_USAGE);
}

static int option_set(const struct option_desc *option, void *values, const char *text,
		      struct err *err)
{
	const struct option_setter *setter = &setters[option->kind];
	int r;

	if (option->kind == OPTION_BITS) {
		*(uint32_t *)((char *)values + option->offset) |= option->bits;
		return 0;
	}
	r = setter->set((char *)values + option->offset, text);
	if (r == 0)
		return 0;
	if (r == -EEXIST)
		return refuse_second(option, text, err);
	err_set(err, -EINVAL, "invalid value '%s' for --%s", text, option->long_name);
	err_why(err, "expected %s", setter->expects);
	return err_exit(err, EXIT_USAGE);
}

static const struct option_desc *find_short(const struct option_desc *table, char name)
{
	for (; table->long_name; table++)
		if (table->short_name == name && name)
			return table;
	return NULL;
}

static const struct option_desc *find_long(const struct option_desc *table, struct text name)
{
	for (; table->long_name; table++)
		if (text_equals(name, table->long_name))
			return table;
	return NULL;
}

static int unknown_long(const struct option_desc *table, struct text name, struct err *err)
{
	char typed[64];
	struct nearest nearest = { .wanted = typed };

	text_copy(name, typed, sizeof(typed));
	for (; table->long_name; table++)
		nearest_offer(&nearest, table->long_name);
	usage_error(err, "unknown option --", typed, "");
	if (nearest.best)
		err_fix(err, "--%s", nearest.best);
	return err->code;
}

/* The state of the parser: the next word to read, and the slot of the next operand. */
struct cursor {
	char **next;
	char **operand;
};

/* The argument: after "=" or in the same word, else the next word. */
static int option_take(const struct option_desc *option, const char *attached,
		       struct cursor *cursor, void *values, struct err *err)
{
	if (!option->arg)
		return attached ? usage_error(err, "option --", option->long_name,
					      " takes no argument")
				: option_set(option, values, NULL, err);
	if (!attached && *cursor->next)
		attached = *cursor->next++;
	if (!attached)
		return usage_error(err, "option --", option->long_name, " needs an argument");
	return option_set(option, values, attached, err);
}

static int parse_long(const struct option_desc *table, const char *word, struct cursor *cursor,
		      void *values, struct err *err)
{
	const char *equals = strchr(word, '=');
	struct text name = { word, equals ? equals : word + strlen(word) };
	const struct option_desc *option = find_long(table, name);

	if (!option)
		return unknown_long(table, name, err);
	return option_take(option, equals ? equals + 1 : NULL, cursor, values, err);
}

/* "-ab" is -a -b; "-d5" is -d 5. */
static int parse_short(const struct option_desc *table, const char *word, struct cursor *cursor,
		       void *values, struct err *err)
{
	int r = 0;

	for (; r == 0 && *word; word++) {
		const struct option_desc *option = find_short(table, *word);
		char name[] = { *word, '\0' };

		if (!option)
			return usage_error(err, "unknown option -", name, "");
		if (option->arg)
			return option_take(option, word[1] ? word + 1 : NULL, cursor, values, err);
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

bool options_ask_for_help(char *const *argv)
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
