/*
 * The three encodings of line numbers in CPython.  Foreign bytes: each step consumes at least one
 * of them.
 */
#include "host/interpreter/python/python.h"

#define NO_LINE   (-128)
#define UNIT      2 /* bytes of an instruction */
#define LINES_MAX INT32_MAX

static unsigned line_of(int64_t line)
{
	return line > 0 && line <= LINES_MAX ? (unsigned)line : 0;
}

/* Pairs of steps: so many bytes, then so many lines. */
static unsigned find_step(const unsigned char *table, size_t size, unsigned first, int64_t at)
{
	int64_t line = first, begin = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		begin += table[i];
		if (begin > at)
			break;
		line += (signed char)table[i + 1];
	}
	return line_of(line);
}

/* Pairs of a range's length and the lines from the range before to it. */
static unsigned find_range(const unsigned char *table, size_t size, unsigned first, int64_t at)
{
	int64_t line = first, end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		signed char lines = (signed char)table[i + 1];

		end += table[i];
		line += lines == NO_LINE ? 0 : lines;
		if (at < end)
			return lines == NO_LINE ? 0 : line_of(line);
	}
	return 0;
}

struct entries {
	const unsigned char *at, *end;
};

/* Six bits at a time, the lowest first; the sign is the lowest bit. */
static int64_t take_signed(struct entries *entries)
{
	uint64_t value = 0;
	unsigned char byte = 0x40;

	for (unsigned shift = 0; byte & 0x40 && entries->at < entries->end && shift < 36;
	     shift += 6) {
		byte = *entries->at++;
		value |= (uint64_t)(byte & 0x3f) << shift;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum location {
	LOCATION_ONE_LINE = 10, /* and the two behind it: so many lines further */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* An entry begins with a byte above 127: its kind, and its number of instructions.  Columns are
 * skipped. */
static unsigned find_location(const unsigned char *table, size_t size, unsigned first, int64_t at)
{
	struct entries entries = { table, table + size };
	int64_t line = first, end = 0;

	while (entries.at < entries.end) {
		unsigned head = *entries.at++, kind = head >> 3 & 15;

		end += ((head & 7) + 1) * UNIT;
		if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG)
			line += take_signed(&entries);
		else if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
			line += kind - LOCATION_ONE_LINE;
		if (at < end)
			return kind == LOCATION_NONE ? 0 : line_of(line);
		while (entries.at < entries.end && *entries.at < 0x80)
			entries.at++;
	}
	return 0;
}

unsigned python_line(enum python_lines kind, const unsigned char *table, size_t size,
		     unsigned first_line, int64_t at)
{
	static unsigned (*const finders[])(const unsigned char *, size_t, unsigned, int64_t) = {
		[PYTHON_LINES_STEPS] = find_step,
		[PYTHON_LINES_RANGES] = find_range,
		[PYTHON_LINES_LOCATIONS] = find_location,
	};

	return at < 0 ? first_line : finders[kind](table, size, first_line, at);
}
