/*
 * From values back to words, by the same table.
 */
#include "host/cli/fleet/option_words.h"

#include <string.h>

static void flag_add(struct words *ret, const struct option_desc *option, const void *value,
		     const void *usual)
{
	if (*(const bool *)value && !*(const bool *)usual)
		words_add(ret, "--%s", option->long_name);
}

static void text_add(struct words *ret, const struct option_desc *option, const void *value,
		     const void *usual)
{
	const char *text = *(const char *const *)value;

	(void)usual;
	if (text)
		words_add(ret, "--%s=%s", option->long_name, text);
}

static void number_add(struct words *ret, const struct option_desc *option, const void *value,
		       const void *usual)
{
	if (*(const uint64_t *)value != *(const uint64_t *)usual)
		words_add(ret, "--%s=%llu", option->long_name,
			  (unsigned long long)*(const uint64_t *)value);
}

static void duration_add(struct words *ret, const struct option_desc *option, const void *value,
			 const void *usual)
{
	uint64_t time_ns = *(const uint64_t *)value;

	if (time_ns != *(const uint64_t *)usual)
		words_add(ret, "--%s=%llu.%09llus", option->long_name,
			  (unsigned long long)(time_ns / 1000000000u),
			  (unsigned long long)(time_ns % 1000000000u));
}

static void list_add(struct words *ret, const struct option_desc *option, const void *value,
		     const void *usual)
{
	const struct option_list *list = value;

	(void)usual;
	for (size_t i = 0; i < list->count; i++)
		words_add(ret, "--%s=%s", option->long_name, list->items[i]);
}

/* An option for several others is written as those. */
static void bits_add(struct words *ret, const struct option_desc *option, const void *value,
		     const void *usual)
{
	(void)usual;
	if ((*(const uint32_t *)value & option->bits) == option->bits)
		words_add(ret, "--%s", option->long_name);
}

static void (*const adders[])(struct words *ret, const struct option_desc *option,
			      const void *value, const void *usual) = {
	[OPTION_FLAG] = flag_add,         [OPTION_TEXT] = text_add,     [OPTION_ONCE] = text_add,
	[OPTION_NUMBER] = number_add,     [OPTION_LIST] = list_add,     [OPTION_BITS] = bits_add,
	[OPTION_DURATION] = duration_add, [OPTION_SPAN] = duration_add,
};

void option_words(struct words *ret, const struct option_desc *table, const void *values,
		  const void *defaults)
{
	for (; table->long_name; table++)
		adders[table->kind](ret, table, (const char *)values + table->offset,
				    (const char *)defaults + table->offset);
}
