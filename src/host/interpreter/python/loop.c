/*
 * Finds the part of the interpreter's loop that its compiler put elsewhere.  The file is foreign
 * bytes.
 */
#include "host/interpreter/python/python.h"

#include "host/core/cleanup.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"

#define JUMPS_MIN 8u         /* from the loop into code elsewhere, for it to be the loop's */
#define LOOP_MAX  (4u << 20) /* bytes; known ones have some 50,000 */

#if defined(__x86_64__)

/* The target of a conditional jump at these bytes, 0 when there is none.  They need not begin an
 * instruction: a false jump leads anywhere. */
static uint64_t jump_at(const unsigned char *bytes, uint64_t address)
{
	int32_t distance;

	if (bytes[0] != 0x0f || (bytes[1] & 0xf0) != 0x80)
		return 0;
	memcpy(&distance, bytes + 2, sizeof(distance));
	return address + 6 + (uint64_t)(int64_t)distance;
}

#define JUMP_BYTES 6u

#else

static uint64_t jump_at(const unsigned char *bytes, uint64_t address)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	if (address & 3 || (word & 0xff000010) != 0x54000000)
		return 0;
	return address + (uint64_t)((int64_t)((uint64_t)(word >> 5 & 0x7ffff) << 45) >> 43);
}

#define JUMP_BYTES 4u

#endif

/* The function into the middle of which a jump leads; only its own parts jump there. */
static const struct symbol *jumped_into(const struct symbol_table *starts,
					const struct code_range *loop, uint64_t target)
{
	const struct symbol *symbol;

	if (!target || (target >= loop->start && target < loop->end))
		return NULL;
	symbol = symbol_table_find(starts, target);
	return symbol && symbol->address != target ? symbol : NULL;
}

/* Compilers put cold code elsewhere, without a name of its own: it is the most frequent target of
 * the loop's jumps. */
static struct code_range find_cold(const struct elf_part *text, const struct symbol_table *starts,
				   const struct code_range *loop)
{
	const unsigned char *bytes = text->bytes + (loop->start - text->address);
	size_t size = (size_t)(loop->end - loop->start), votes = 0, count = 0;
	const struct symbol *most = NULL;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i + JUMP_BYTES <= size; i++) {
			const struct symbol *into =
				jumped_into(starts, loop, jump_at(bytes + i, loop->start + i));

			if (!into)
				continue;
			if (pass) {
				count += into == most;
				continue;
			}
			if (!votes)
				most = into;
			votes += into == most ? 1 : (size_t)-1;
		}
	if (!most || count < JUMPS_MIN)
		return (struct code_range){ 0 };
	return (struct code_range){ most->address, most->end };
}

struct code_range python_cold_loop(const struct interpreter *self)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };
	const struct code_range loop = { self->symbols[PYTHON_LOOP].start - self->bias,
					 self->symbols[PYTHON_LOOP].end - self->bias };
	struct code_range cold = { 0 };
	struct symbol_table starts = { 0 };
	struct elf_part text;

	if (!elf_source_open_again(&source, self->module->image_path, self->module->path) &&
	    elf_section_part(source.elf, ".text", &text) && loop.start >= text.address &&
	    loop.start - text.address <= text.size &&
	    loop.end - loop.start <= MIN(text.size - (loop.start - text.address), LOOP_MAX) &&
	    !elf_starts_add(source.elf, &starts)) {
		symbol_table_finish(&starts);
		cold = find_cold(&text, &starts, &loop);
	}
	symbol_table_done(&starts);
	if (!cold.end)
		return cold;
	return (struct code_range){ cold.start + self->bias, cold.end + self->bias };
}
