/*
 * Fuzzes the reader of Go's table of functions: whatever it says, functions, values, lines and what
 * is inlined stay within the bytes, and each table ends.
 */
#include "fuzz.h"

#include <string.h>

#include "host/unwind/rules/gopclntab.h"

#define LOOKED_AT 256u

static void look_at_text(const struct gopclntab *table, const char *text)
{
	const char *first = (const char *)table->all.bytes;

	if (text)
		must(text >= first && text + strlen(text) < first + table->all.size);
}

static void look_inside(const struct gopclntab *table, const struct go_function *function,
			uint64_t address)
{
	struct go_line line = gopclntab_line(table, function, address);
	struct go_inlined inlined;

	look_at_text(table, line.file);
	if (gopclntab_inlined(table, function, &table->all, address, &inlined)) {
		look_at_text(table, inlined.name);
		must(inlined.caller < function->end);
	}
}

static void look_at_values(const struct gopclntab *table, const struct go_function *function)
{
	struct go_values values = go_values_of(table, function, function->frame_values);
	uint64_t reached = function->start;
	unsigned steps = 0;

	while (steps++ < LOOKED_AT && go_values_next(&values)) {
		must(values.start == reached && values.end > reached &&
		     values.end <= function->end);
		reached = values.end;
	}
}

/* The same bytes in each part. */
static void look_for_text(const uint8_t *bytes, size_t size)
{
	const struct go_part part = { bytes, size };
	struct go_places places = { .description = part, .relocations = part };

	if (size >= sizeof(places.table))
		memcpy(&places.table, bytes, sizeof(places.table));
	(void)go_text_start(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct gopclntab table;
	struct go_function function;

	look_for_text(bytes, size);
	if (gopclntab_open(&table, bytes, size, /* text_start */ 0x1000))
		return 0;
	for (uint64_t i = 0; i < MIN(table.count, (uint64_t)LOOKED_AT); i++) {
		if (!gopclntab_function(&table, i, &function))
			continue;
		must(function.start < function.end);
		look_at_text(&table, function.name);
		look_at_values(&table, &function);
		look_inside(&table, &function, function.start);
		if (gopclntab_find(&table, function.start, &function))
			look_inside(&table, &function, function.end - 1);
	}
	return 0;
}
