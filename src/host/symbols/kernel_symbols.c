/*
 * Parses lines into symbols.
 */
#include "host/symbols/kernel_symbols.h"

#include "host/core/room.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_AT_ONCE (4u << 20)
#define READ_MAX     (1u << 30)
/* The kernel gives no sizes.  After its last function is code without names. */
#define KERNEL_FUNCTION_MAX 0x10000u

static bool read_number(char **at, uint64_t *ret)
{
	char *end;

	if (strncmp(*at, "0x", 2) == 0)
		*at += 2;
	if (!strchr("0123456789abcdefABCDEF", **at) || !**at)
		return false;
	*ret = strtoull(*at, &end, 16);
	if (*end != ' ' && *end != '\t')
		return false;
	*at = end + strspn(end, " \t");
	return true;
}

bool kallsyms_line(char *line, struct symbol *ret)
{
	if (!read_number(&line, &ret->address) || !ret->address || !line[0] ||
	    !strchr("tTwW", line[0]) || line[1] != ' ')
		return false;
	ret->end = ret->address;
	ret->limit = ret->address + MIN(KERNEL_FUNCTION_MAX, UINT64_MAX - ret->address);
	ret->name = line + 2;
	line[2 + strcspn(line + 2, "\t")] = '\0';
	return ret->name[0] != '\0';
}

size_t kernel_symbols_parse(struct kernel_symbols *symbols, char *text, size_t size)
{
	char *at = text, *end;

	if (make_room(&symbols->texts, symbols->text_count, &symbols->text_room,
		      sizeof(*symbols->texts))) {
		free(text);
		return 0;
	}
	symbols->texts[symbols->text_count++] = text;
	while ((end = memchr(at, '\n', size - (size_t)(at - text)))) {
		struct symbol symbol = { .rank = ++symbols->lines }; /* the later one wins */

		*end = '\0';
		if (kallsyms_line(at, &symbol))
			(void)!symbol_table_add(&symbols->table, &symbol);
		at = end + 1;
	}
	symbol_table_finish(&symbols->table);
	return (size_t)(at - text);
}

/* Up to READ_AT_ONCE bytes; NULL when there are none. */
static char *read_block(int fd, uint64_t at, size_t *ret_size)
{
	char *text = malloc(READ_AT_ONCE);
	size_t size = 0;

	while (text && size < READ_AT_ONCE) {
		ssize_t got = pread(fd, text + size, READ_AT_ONCE - size, (off_t)(at + size));

		if (got <= 0)
			break;
		size += (size_t)got;
	}
	*ret_size = size;
	if (size)
		return text;
	free(text);
	return NULL;
}

void kernel_symbols_read(struct kernel_symbols *symbols)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	uint64_t at = 0;
	size_t size, parsed = 1;
	char *text;

	while (fd >= 0 && parsed && at < READ_MAX && (text = read_block(fd, at, &size))) {
		parsed = kernel_symbols_parse(symbols, text, size);
		at += parsed;
	}
	if (fd >= 0)
		close(fd);
}

void kernel_symbols_done(struct kernel_symbols *symbols)
{
	for (size_t i = 0; i < symbols->text_count; i++)
		free(symbols->texts[i]);
	free(symbols->texts);
	symbol_table_done(&symbols->table);
	*symbols = (struct kernel_symbols){ 0 };
}
