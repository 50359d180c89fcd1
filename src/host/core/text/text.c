/*
 * Reads small foreign texts within their bounds; knows no file format.
 */
#include "host/core/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/text/foreign.h"

#define FIRST_READ_BYTES ((size_t)16384)

struct text text_of(const char *string)
{
	return (struct text){ string, string + strlen(string) };
}

static size_t text_size(struct text text)
{
	return (size_t)(text.end - text.at);
}

bool text_take_field(struct text *line, char separator, struct text *ret_field)
{
	const char *stop;

	if (line->at >= line->end)
		return false;
	stop = memchr(line->at, separator, text_size(*line));
	*ret_field = (struct text){ line->at, stop ? stop : line->end };
	line->at = stop ? stop + 1 : line->end;
	return true;
}

void text_skip_blanks(struct text *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
}

bool text_take_word(struct text *text, struct text *ret_word)
{
	struct text rest = *text;

	text_skip_blanks(&rest);
	ret_word->at = rest.at;
	while (rest.at < rest.end && *rest.at != ' ' && *rest.at != '\t')
		rest.at++;
	ret_word->end = rest.at;
	if (ret_word->at == ret_word->end)
		return false;
	*text = rest;
	return true;
}

bool text_take_char(struct text *text, char wanted)
{
	if (text->at >= text->end || *text->at != wanted)
		return false;
	text->at++;
	return true;
}

bool text_take_prefix(struct text *text, const char *prefix)
{
	size_t size = strlen(prefix);

	if (text_size(*text) < size || memcmp(text->at, prefix, size) != 0)
		return false;
	text->at += size;
	return true;
}

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return UINT_MAX;
}

bool text_take_number(struct text *text, unsigned base, uint64_t *ret)
{
	const char *at = text->at;
	uint64_t value = 0;

	for (; at < text->end && digit_value(*at) < base; at++)
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit_value(*at), &value))
			return false;
	if (at == text->at)
		return false;
	text->at = at;
	*ret = value;
	return true;
}

bool text_equals(struct text text, const char *string)
{
	return text_take_prefix(&text, string) && text.at == text.end;
}

void text_copy(struct text text, char *buffer, size_t capacity)
{
	size_t size = MIN(text_size(text), capacity - 1);

	memcpy(buffer, text.at, size);
	buffer[size] = '\0';
}

void text_copy_printable(struct text text, char *buffer, size_t capacity)
{
	text_copy(text, buffer, capacity);
	foreign_clean(buffer, "");
}

void text_shorten(char *text, size_t size)
{
	size_t end = size - 3, word;

	if (strlen(text) <= size)
		return;
	for (word = end; word > 0 && text[word] != ' ';)
		word--;
	if (word > end / 2)
		end = word;
	/* Not inside of a letter. */
	while (end > 0 && ((text[end] & 0xc0) == 0x80 || strchr(" ,:;", text[end - 1])))
		end--;
	memcpy(text + end, "...", sizeof("..."));
}

/* Reads until the end of the file: /proc returns less than requested at a time. */
static ssize_t read_all(int fd, char *buffer, size_t capacity)
{
	size_t size = 0;

	while (size < capacity) {
		ssize_t n = read(fd, buffer + size, capacity - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
	}
	return (ssize_t)size;
}

/* Opening a pipe without a writer would block: O_NONBLOCK. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), r = 0;
	struct stat file;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &file) < 0)
		r = -errno;
	else if (!S_ISREG(file.st_mode))
		r = S_ISDIR(file.st_mode) ? -EISDIR : -EINVAL;
	if (r)
		close(fd);
	return r ? r : fd;
}

ssize_t text_read_small(const char *path, char *buffer, size_t capacity)
{
	int fd = open_regular(path);
	ssize_t size;

	if (fd < 0)
		return fd;
	size = read_all(fd, buffer, capacity - 1);
	close(fd);
	if (size >= 0)
		buffer[size] = '\0';
	return size;
}

/* Reads to the end of the file into a growing block, with one byte to spare, and closes it. */
static int read_to_end(int fd, size_t limit, char **ret, size_t *ret_size)
{
	char *bytes = NULL, *bigger;
	size_t size = 0;
	ssize_t n = 0;

	for (size_t capacity = FIRST_READ_BYTES;; capacity *= 4) {
		bigger = realloc(bytes, capacity + 1);
		n = bigger ? read_all(fd, bigger + size, capacity - size) : -ENOMEM;
		bytes = bigger ? bigger : bytes;
		if (n < 0)
			break;
		size += (size_t)n;
		if (size < capacity)
			break;
		if (capacity >= limit) {
			n = -EFBIG;
			break;
		}
	}
	close(fd);
	if (n < 0) {
		free(bytes);
		return (int)n;
	}
	bytes[size] = '\0';
	*ret_size = size;
	*ret = bytes;
	return 0;
}

int text_read_file(const char *path, size_t limit, char **ret, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read_to_end(fd, limit, ret, ret_size);
}

int text_read_regular(const char *path, size_t limit, char **ret, size_t *ret_size)
{
	int fd = open_regular(path);

	return fd < 0 ? fd : read_to_end(fd, limit, ret, ret_size);
}

int text_parse_number(const char *string, uint64_t max, uint64_t *ret)
{
	struct text text = text_of(string);
	uint64_t value;

	if (!text_take_number(&text, 10, &value) || text.at != text.end)
		return -EINVAL;
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int text_parse_pid(const char *string, pid_t *ret)
{
	uint64_t value;
	int r = text_parse_number(string, INT_MAX, &value);

	if (r == 0 && value == 0)
		r = -ERANGE;
	if (r == 0)
		*ret = (pid_t)value;
	return r;
}

/* Digits after the point are nanoseconds of the unit; more digits than a nanosecond has are
 * ignored. */
static int parse_in_unit(struct text text, const char *suffix, uint64_t unit_ns, uint64_t *ret_ns)
{
	uint64_t whole, fraction = 0, weight = unit_ns, ns;

	if (!text_take_number(&text, 10, &whole))
		return -EINVAL;
	if (text_take_char(&text, '.')) {
		const char *start = text.at;

		for (; text.at < text.end && digit_value(*text.at) < 10; text.at++) {
			weight /= 10;
			fraction += weight * digit_value(*text.at);
		}
		if (text.at == start)
			return -EINVAL;
	}
	if (!text_equals(text, suffix))
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit_ns, &ns) || ns > INT64_MAX - fraction)
		return -ERANGE;
	*ret_ns = ns + fraction;
	return 0;
}

int text_parse_duration(const char *string, uint64_t *ret_ns)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "m", 60000000000 }
	};
	int r = -EINVAL;

	for (size_t i = 0; r == -EINVAL && i < ARRAY_SIZE(units); i++)
		r = parse_in_unit(text_of(string), units[i].suffix, units[i].ns, ret_ns);
	return r;
}

int text_set(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}
