/*
 * Lines into names.  The file is the target's: its bytes are foreign, its lines may be torn, it may
 * be cut and written anew at any time.
 */
#include "host/symbols/jit/perf_map.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/core/text/text.h"
#include "host/process/foreign_file.h"
#include "host/process/stat.h"
#include "host/process/status.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define READ_AT_ONCE  (1u << 20)
#define NAME_ROOM     4096u
#define CLOCK_SLACK_S 2 /* the clock on the wall is set now and then */

/* Digits and the blanks behind them. */
static bool read_number(struct text *text, uint64_t *ret)
{
	const char *digits_end;

	if (text_take_prefix(text, "0x") && text->at == text->end)
		return false;
	if (!text_take_number(text, 16, ret))
		return false;
	digits_end = text->at;
	text_skip_blanks(text);
	return text->at > digits_end;
}

static void add_line(struct jit_names *names, struct text line, uint64_t born_ns)
{
	char name[NAME_ROOM];
	uint64_t start, size;

	if (!read_number(&line, &start) || !read_number(&line, &size))
		return;
	text_copy(line, name, sizeof(name));
	/* An invalid line, or one without memory, is skipped. */
	if (name[0])
		(void)!jit_names_add(names, start, size, name, born_ns);
}

size_t perf_map_lines(struct jit_names *names, const char *text, size_t size, uint64_t born_ns)
{
	const char *at = text, *end;

	while ((end = memchr(at, '\n', size - (size_t)(at - text)))) {
		add_line(names, (struct text){ at, end }, born_ns);
		at = end + 1;
	}
	return (size_t)(at - text);
}

/* A file of this name may be left from an earlier process with this number. */
static bool is_older(int fd, pid_t pid)
{
	struct process_stat process;
	struct timespec wall, boot;
	struct err ignored = { 0 };
	struct stat file;
	int64_t ticks = sysconf(_SC_CLK_TCK);

	if (fstat(fd, &file) < 0 || stat_read(pid, pid, &process, &ignored) < 0 || ticks <= 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return file.st_mtim.tv_sec + CLOCK_SLACK_S <
	       wall.tv_sec - boot.tv_sec + (int64_t)process.start_tick / ticks;
}

static int perf_map_find(struct perf_map *map, pid_t pid)
{
	struct process_status status;
	struct err ignored = { 0 };
	char path[64];
	int r = status_read(pid, pid, &status, &ignored);

	if (r)
		return r;
	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)status.inner_pid);
	r = foreign_file_open_own(pid, path);
	if (r < 0)
		return r;
	if (is_older(r, pid)) {
		close(r);
		return -ENOENT;
	}
	map->fd = r;
	map->pid = pid;
	return 0;
}

static void stop_reading(struct perf_map *map, const char *why)
{
	note_add("the perf map of process %d is read no further: %s", (int)map->pid, why);
	map->total = PERF_MAP_MAX;
}

/* False when there is nothing new.  A megabyte without a line end is no map, and beyond the maximum
 * nothing more is read. */
static bool read_more(struct perf_map *map, struct jit_names *names, char *room, uint64_t born_ns)
{
	ssize_t got = pread(map->fd, room, READ_AT_ONCE, (off_t)map->read);
	size_t taken;

	if (got <= 0)
		return false;
	taken = perf_map_lines(names, room, (size_t)got, born_ns);
	if (!taken && got == READ_AT_ONCE)
		stop_reading(map, "a line is longer than 1 MiB");
	if (!taken)
		return false;
	map->end_size = MIN(taken, sizeof(map->end));
	memcpy(map->end, room + taken - map->end_size, map->end_size);
	map->read += taken;
	map->total += taken;
	if (map->total >= PERF_MAP_MAX)
		stop_reading(map, "it has more than 256 MiB");
	else if (jit_names_are_full(names))
		map->total = PERF_MAP_MAX; /* jit_names_add() has noted it */
	return map->total < PERF_MAP_MAX;
}

int perf_map_read(struct perf_map *map, struct jit_names *names)
{
	uint64_t born_ns = map->looked_ns;
	CLEANUP(free) char *room = NULL;
	char end[PERF_MAP_END];
	struct stat file;

	if (!map->fd || map->total >= PERF_MAP_MAX || fstat(map->fd, &file) < 0)
		return 0;
	map->looked_ns = now_ns();
	/* A truncated file, or another text than was read. */
	if ((uint64_t)file.st_size < map->read ||
	    pread(map->fd, end, map->end_size, (off_t)(map->read - map->end_size)) !=
		    (ssize_t)map->end_size ||
	    memcmp(end, map->end, map->end_size) != 0)
		map->read = map->end_size = 0;
	if ((uint64_t)file.st_size == map->read)
		return 0;
	room = malloc(READ_AT_ONCE);
	if (!room)
		return -ENOMEM;
	while (read_more(map, names, room, born_ns))
		;
	return jit_names_sort(names);
}

int perf_map_follow(struct perf_map *map, pid_t pid, struct jit_names *names)
{
	int r = map->fd ? 0 : perf_map_find(map, pid);

	return r ? r : perf_map_read(map, names);
}

void perf_map_close(struct perf_map *map)
{
	if (map->fd > 0)
		close(map->fd);
	*map = (struct perf_map){ 0 };
}
