/*
 * Reads the lines of Ruby code.  A table has an entry for each instruction that begins a line;
 * which ones those are is kept as their numbers, or, packed, as how many there are up to each
 * instruction: the first 54 as numbers of 7 bits, nine in a word; those behind as bits, in blocks
 * of 512.  All numbers are foreign, and bounded before they are used.
 */
#include "host/interpreter/ruby/ruby.h"

#include <errno.h>
#include <stdlib.h>

#define ENTRIES_MAX      (1u << 15)
#define INSTRUCTIONS_MAX (1u << 20)
#define ENTRY_BYTES      12u

#define NEAR         54u /* instructions with counts kept as numbers */
#define NEAR_IN_WORD 9u
#define BLOCK        512u
#define BLOCK_BYTES  80u /* a count, more counts, and the bits */
#define BLOCK_BITS   16u /* where they begin */
#define SIZE         4u  /* of the body: how many words of instructions there are */

/* Whether a line begins there; `count` of them have begun before. */
static bool line_begins(const unsigned char *index, size_t instruction, size_t count)
{
	size_t far = instruction - NEAR;
	const unsigned char *block;

	if (instruction < NEAR)
		return (word_in(index, instruction / NEAR_IN_WORD * 8) >>
				instruction % NEAR_IN_WORD * 7 &
			127) > count;
	block = index + NEAR / NEAR_IN_WORD * 8 + far / BLOCK * BLOCK_BYTES + BLOCK_BITS;
	return word_in(block, far % BLOCK / 64 * 8) >> far % 64 & 1;
}

static int read_index(const struct target_memory *memory, uint64_t address, size_t instructions,
		      struct function *function)
{
	size_t size = (MIN(instructions, NEAR) + NEAR_IN_WORD - 1) / NEAR_IN_WORD * 8, count = 0;
	unsigned char *index;
	int r;

	if (instructions >= NEAR)
		size += (instructions - NEAR + BLOCK - 1) / BLOCK * BLOCK_BYTES;
	r = target_bytes(memory, address, size, &index);
	if (r)
		return r;
	for (size_t i = 0; i < instructions && count < function->line_count; i++)
		if (line_begins(index, i, count))
			function->lines[count++].at = (uint32_t)i;
	function->line_count = count;
	free(index);
	return 0;
}

static int read_positions(const struct target_memory *memory, uint64_t address,
			  struct function *function)
{
	unsigned char *positions;
	int r = target_bytes(memory, address, function->line_count * sizeof(uint32_t), &positions);

	if (r)
		return r;
	for (size_t i = 0; i < function->line_count; i++)
		function->lines[i].at = half_in(positions, i * sizeof(uint32_t));
	free(positions);
	return 0;
}

int ruby_lines_read(const struct target_memory *memory, const struct ruby_layout *layout,
		    const unsigned char *body, struct function *function)
{
	uint32_t instructions = half_in(body, SIZE), count = half_in(body, layout->line_count);
	uint64_t positions = word_in(body, layout->line_positions);
	unsigned char *entries;
	int r;

	if (count > ENTRIES_MAX || instructions > INSTRUCTIONS_MAX)
		return -EFAULT;
	function->line_count = count;
	function->lines = calloc(count + 1, sizeof(*function->lines));
	if (!function->lines)
		return -ENOMEM;
	r = target_bytes(memory, word_in(body, layout->line_table), count * ENTRY_BYTES, &entries);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++)
		function->lines[i].line = MIN(half_in(entries, i * ENTRY_BYTES), INT32_MAX);
	free(entries);
	if (positions)
		return read_positions(memory, positions, function);
	return read_index(memory, word_in(body, layout->line_index), instructions, function);
}
