/*
 * Fuzzes lines of code: an ELF file with debug information, as libdw reads it within our limits.
 * The file that it comes from decides at which addresses it is asked.
 */
#include "fuzz.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols/elf/elf_source.h"
#include "host/symbols/lines.h"

#define LOCATIONS 16u
#define STEP      4u
#define ASKED     64u

static void ask(struct lines *lines, uint64_t from)
{
	struct source_location locations[LOCATIONS];

	for (uint64_t i = 0; i < ASKED; i++) {
		size_t count = line_reader_libdw.find(lines, from + i * STEP, locations, LOCATIONS);

		must(count <= LOCATIONS);
		for (size_t k = 0; k < count; k++)
			must((!locations[k].file || strlen(locations[k].file) < SIZE_MAX) &&
			     (!locations[k].function || strlen(locations[k].function) < SIZE_MAX));
	}
}

static uint64_t code_begin(Elf *elf)
{
	struct elf_part text;

	return elf_section_part(elf, ".text", &text) ? text.address : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct elf_source source;
	struct lines *lines;
	char *copy = malloc(size + 1);

	must(copy != NULL);
	memcpy(copy, bytes, size);
	if (elf_source_in(&source, copy, size))
		return 0;
	lines = line_reader_libdw.open(source.elf);
	if (lines) {
		ask(lines, code_begin(source.elf));
		ask(lines, 0);
		line_reader_libdw.close(lines);
	}
	elf_source_close(&source);
	return 0;
}
