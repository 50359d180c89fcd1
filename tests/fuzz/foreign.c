/*
 * Fuzzes the writers of foreign text: whatever comes in, what comes out is UTF-8 without control
 * characters, in every format.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/foreign.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

static void check(const char *text, const char *kept)
{
	for (struct letter letter; (letter = letter_at(text)).length; text += letter.length)
		must(letter.kind == LETTER_PLAIN || (letter.length == 1 && strchr(kept, *text)));
}

static void write_one(const char *text, int format, const char *kept)
{
	CLEANUP(free) char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);
	struct json json = { .out = out };

	must(out);
	if (format < 0) {
		json_list(&json, NULL);
		json_text(&json, NULL, text);
		json_list_end(&json);
	} else {
		foreign_write(out, (enum foreign_format)format, text);
	}
	fclose(out);
	must(strlen(written) == size);
	check(written, kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(free) char *text = malloc(size + 1);
	char small[16];

	must(text);
	memcpy(text, bytes, size);
	text[size] = '\0';
	write_one(text, FOREIGN_TEXT, "");
	write_one(text, FOREIGN_XML, "");
	write_one(text, FOREIGN_FOLDED, "");
	write_one(text, FOREIGN_CSV, "\n\t");
	write_one(text, -1, "\n");
	check(foreign_copy(small, sizeof(small), text), "");
	print_into(small, sizeof(small), "%.*s", (int)MIN(size, 100), text);
	foreign_clean(text, "\n");
	check(text, "\n");
	return 0;
}
