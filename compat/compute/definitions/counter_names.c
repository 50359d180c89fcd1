/*
 * A counter begins with the name of its block, has capital letters, digits and underscores, and may
 * end with "_sum" or, for one channel of a cache, with a bracket.  AMD's rule.
 */
#include "counter_names.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define COUNTER_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define WORD_LETTERS    COUNTER_LETTERS "abcdefghijklmnopqrstuvwxyz"

static const char *const blocks[] = { "SQ",  "SQC", "TA",  "TD",  "TCP",
				      "TCC", "CPC", "CPF", "SPI", "GRBM" };

/* Of all that a metric may be divided by, so that each can be chosen when it is shown. */
static const char divisors[] = "SQ_WAVES $GRBM_GUI_ACTIVE_PER_XCD";

static const struct {
	const char *name, *formula;
} variables[] = {
	{ "GRBM_GUI_ACTIVE_PER_XCD", "(GRBM_GUI_ACTIVE / $num_xcd)" },
	{ "GRBM_COUNT_PER_XCD", "(GRBM_COUNT / $num_xcd)" },
	{ "GRBM_SPI_BUSY_PER_XCD", "(GRBM_SPI_BUSY / $num_xcd)" },
	{ "numActiveCUs",
	  "TO_INT(MIN(((ROUND(AVG(4 * SQ_BUSY_CU_CYCLES / $GRBM_GUI_ACTIVE_PER_XCD), 0) / "
	  "$max_waves_per_cu) * 8) + MIN(MOD(ROUND(AVG(4 * SQ_BUSY_CU_CYCLES / "
	  "$GRBM_GUI_ACTIVE_PER_XCD), 0), $max_waves_per_cu), 8), $cu_per_gpu))" },
	{ "kernelBusyCycles",
	  "ROUND(AVG(((End_Timestamp - Start_Timestamp) / 1000) * $max_sclk), 0)" },
	{ "hbmBandwidth", "($max_mclk / 1000 * 32 * $num_hbm_channels)" },
};

const char *variable_at(size_t index)
{
	return index < ARRAY_SIZE(variables) ? variables[index].name : NULL;
}

const char *variable_formula(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (strlen(variables[i].name) == length &&
		    !strncmp(variables[i].name, name, length))
			return variables[i].formula;
	return NULL;
}

bool counter_name_is_channel(const char *name)
{
	return strchr(name, '[') != NULL;
}

/* The length of the block and its underscore; 0: none begins here. */
static size_t block_length(const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		size_t length = strlen(blocks[i]);

		if (!strncmp(at, blocks[i], length) && at[length] == '_')
			return length + 1;
	}
	return 0;
}

/* The length of the counter that begins here; 0: none does. */
static size_t counter_length(const char *at)
{
	size_t block = block_length(at), length = block;

	if (block)
		length += strspn(at + length, COUNTER_LETTERS);
	while (length > block && at[length - 1] == '_')
		length--;
	if (length == block)
		return 0;
	if (!strncmp(at + length, "_sum", 4))
		return length + 4;
	return length + (at[length] == '[');
}

static int counter_add(struct pool *counters, const char *at, size_t length)
{
	char name[128];

	if (length >= sizeof(name))
		return 0; /* no device has such a one */
	memcpy(name, at, length);
	name[length] = '\0';
	return pool_add(counters, name) == POOL_NONE ? -ENOMEM : 0;
}

/* A variable's name may have a counter's form. */
static int text_find(const char *text, struct pool *counters, unsigned depth)
{
	int r = 0;

	while (!r && *text) {
		bool is_variable = *text == '$';
		size_t length = is_variable ? strspn(text + 1, WORD_LETTERS) : counter_length(text);
		const char *formula = is_variable ? variable_formula(text + 1, length) : NULL;

		if (formula && depth < ARRAY_SIZE(variables))
			r = text_find(formula, counters, depth + 1);
		else if (!is_variable && length)
			r = counter_add(counters, text, length);
		text += length ? length + is_variable : 1;
	}
	return r;
}

int counter_names_find(const char *text, struct pool *counters)
{
	int r = text_find(text, counters, 0);

	return r ? r : text_find(divisors, counters, 0);
}
