/*
 * Reads small foreign texts within their bounds; knows no file format.
 */
#include "host/core/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "host/core/cleanup.h"
#include "host/core/text/foreign.h"

#define NS_PER_MS        1000000u
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

bool text_take_line(struct text *text, struct text *ret_line)
{
	return text_take_field(text, '\n', ret_line);
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

static bool is_inside_letter(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
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
	while (end > 0 && (is_inside_letter(text[end]) || strchr(" ,:;", text[end - 1])))
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
	CLEANUP(close) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat file;

	if (fd < 0 || fstat(fd, &file) < 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return S_ISDIR(file.st_mode) ? -EISDIR : -EINVAL;
	return TAKE_FD(fd);
}

ssize_t text_read_small(const char *path, char *buffer, size_t capacity)
{
	CLEANUP(close) int fd = open_regular(path);
	ssize_t size;

	if (fd < 0)
		return fd;
	size = read_all(fd, buffer, capacity - 1);
	if (size >= 0)
		buffer[size] = '\0';
	return size;
}

/* Reads to the end of the file into a growing block, with one byte to spare. */
static int read_growing(int fd, size_t limit, char **bytes, size_t *size)
{
	for (size_t capacity = FIRST_READ_BYTES;; capacity *= 4) {
		char *bigger = realloc(*bytes, capacity + 1);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		*bytes = bigger;
		n = read_all(fd, *bytes + *size, capacity - *size);
		if (n < 0)
			return (int)n;
		*size += (size_t)n;
		if (*size < capacity)
			return 0;
		if (capacity >= limit)
			return -EFBIG;
	}
}

static int read_to_end(int fd, size_t limit, char **ret, size_t *ret_size)
{
	char *bytes = NULL;
	size_t size = 0;
	int r = read_growing(fd, limit, &bytes, &size);

	if (r < 0) {
		free(bytes);
		return r;
	}
	bytes[size] = '\0';
	*ret_size = size;
	*ret = bytes;
	return 0;
}

int text_read_file(const char *path, size_t limit, char **ret, size_t *ret_size)
{
	CLEANUP(close) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read_to_end(fd, limit, ret, ret_size);
}

int text_read_regular(const char *path, size_t limit, char **ret, size_t *ret_size)
{
	CLEANUP(close) int fd = open_regular(path);

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

static const struct duration_unit {
	const char *suffix;
	uint64_t ns;
} duration_units[] = {
	{ "", 1000ull * NS_PER_MS },
	{ "ms", NS_PER_MS },
	{ "s", 1000ull * NS_PER_MS },
	{ "m", 60000ull * NS_PER_MS },
};

/* The digits after the point, as nanoseconds of a unit; more digits than a nanosecond has are
 * ignored. */
static bool take_fraction(struct text *text, uint64_t unit_ns, uint64_t *ret_ns)
{
	const char *start = text->at;
	uint64_t ns = 0, weight = unit_ns;

	for (; text->at < text->end && digit_value(*text->at) < 10; text->at++) {
		weight /= 10;
		ns += weight * digit_value(*text->at);
	}
	*ret_ns = ns;
	return text->at != start;
}

static int parse_in_unit(struct text text, const struct duration_unit *unit, uint64_t *ret_ns)
{
	uint64_t whole, fraction = 0, ns;

	if (!text_take_number(&text, 10, &whole))
		return -EINVAL;
	if (text_take_char(&text, '.') && !take_fraction(&text, unit->ns, &fraction))
		return -EINVAL;
	if (!text_equals(text, unit->suffix))
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit->ns, &ns) || ns > INT64_MAX - fraction)
		return -ERANGE;
	*ret_ns = ns + fraction;
	return 0;
}

int text_parse_duration(const char *string, uint64_t *ret_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(duration_units); i++) {
		int r = parse_in_unit(text_of(string), &duration_units[i], ret_ns);
		if (r != -EINVAL)
			return r;
	}
	return -EINVAL;
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
