#include "host/export/profile/folded_lines.h"

#include "host/core/room.h"
#include "host/core/text/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int folded_lines_open(struct folded_lines *ret)
{
	*ret = (struct folded_lines){ 0 };
	ret->out = open_memstream(&ret->text, &ret->size);
	return ret->out ? 0 : -ENOMEM;
}

int folded_lines_add(struct folded_lines *lines, uint64_t value)
{
	size_t before = lines->stacks.count;
	uint32_t number;

	fputc('\0', lines->out); /* cuts off a longer line's rest */
	if (fflush(lines->out) || ferror(lines->out))
		return -ENOMEM;
	rewind(lines->out);
	number = pool_add(&lines->stacks, lines->text);
	if (number == POOL_NONE ||
	    make_room(&lines->sums, number, &lines->room, sizeof(*lines->sums)))
		return -ENOMEM;
	if (lines->stacks.count > before)
		lines->sums[number] = 0;
	lines->sums[number] += value;
	return 0;
}

void folded_lines_write(const struct folded_lines *lines, uint64_t unit, FILE *out)
{
	for (size_t i = 0; i < lines->stacks.count; i++) {
		foreign_write(out, FOREIGN_TEXT, lines->stacks.texts[i]);
		fprintf(out, " %" PRIu64 "\n", (lines->sums[i] + unit / 2) / unit);
	}
}

void folded_lines_done(struct folded_lines *lines)
{
	if (lines->out)
		fclose(lines->out);
	free(lines->text);
	free(lines->sums);
	pool_done(&lines->stacks);
}
