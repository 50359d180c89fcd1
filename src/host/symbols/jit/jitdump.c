/*
 * Reads jitdump records.  The file is the target's: sizes and addresses may be anything, its end
 * may be torn.  Of the code itself, which is in it too, nothing is read.
 */
#include "host/symbols/jit/jitdump.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/process/foreign_file.h"
#include "host/process/maps.h"
#include "host/process/status.h"
#include "host/unwind/module_file.h"

#include "shared/arch/elf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC     0x4a695444u /* "JiTD" */
#define VERSION   1u
#define OWN_CLOCK 1u /* a flag: times are those of the processor's own counter */
#define NAME_ROOM 4096u
#define WINDOW    (256u << 10)

struct file_head {
	uint32_t magic, version, size, machine, unused, pid;
	uint64_t time_ns, flags;
};

/* The beginning of each record; `size` is the whole record's. */
struct record_head {
	uint32_t kind, size;
	uint64_t time_ns;
};

struct code_load {
	struct record_head head;
	uint32_t pid, tid;
	uint64_t vma, address, size, number;
	/* its name, a zero, its code */
};

struct code_move {
	struct record_head head;
	uint32_t pid, tid;
	uint64_t vma, from, to, size, number;
};

enum record_kind {
	RECORD_LOAD = 0,
	RECORD_MOVE = 1,
	RECORD_CLOSE = 3,
};

/* A part of the file. */
struct window {
	unsigned char bytes[WINDOW];
	uint64_t start;
	size_t size;
};

/* From when on a record holds: its own time, when that can be. */
static uint64_t born_ns(const struct jitdump *dump, uint64_t told_ns)
{
	return dump->has_own_clock || told_ns > now_ns() ? dump->looked_ns : told_ns;
}

static void add_load(struct jitdump *dump, struct jit_names *names, const unsigned char *bytes,
		     size_t size)
{
	struct code_load load;
	char name[NAME_ROOM];
	size_t length;

	if (size <= sizeof(load))
		return;
	memcpy(&load, bytes, sizeof(load));
	length = strnlen((const char *)bytes + sizeof(load),
			 MIN(size - sizeof(load), sizeof(name) - 1));
	memcpy(name, bytes + sizeof(load), length);
	name[length] = '\0';
	if (name[0])
		(void)!jit_names_add(names, load.address, load.size, name,
				     born_ns(dump, load.head.time_ns));
}

/* The same code at another address. */
static void add_moved(struct jitdump *dump, struct jit_names *names, const unsigned char *bytes,
		      size_t size)
{
	const struct jit_name *known;
	struct code_move move;

	if (size < sizeof(move))
		return;
	memcpy(&move, bytes, sizeof(move));
	known = jit_names_latest(names, move.from);
	if (known)
		(void)!jit_names_add(names, move.to, move.size, jit_name_text(names, known),
				     born_ns(dump, move.head.time_ns));
}

/* `size` bytes at this offset of the file; NULL when they are not there. */
static const unsigned char *jitdump_show(struct jitdump *dump, struct window *window, uint64_t at,
					 size_t size)
{
	ssize_t got;

	if (at < window->start || at - window->start > window->size ||
	    window->size - (at - window->start) < size) {
		got = pread(dump->fd, window->bytes, sizeof(window->bytes), (off_t)at);
		window->start = at;
		window->size = got < 0 ? 0 : (size_t)got;
		dump->total += window->size;
		if (window->size < size)
			return NULL;
	}
	return window->bytes + (at - window->start);
}

static int read_file_head(struct jitdump *dump, struct window *window)
{
	const unsigned char *bytes = jitdump_show(dump, window, 0, sizeof(struct file_head));
	struct file_head head;

	if (!bytes)
		return -EAGAIN;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != MAGIC || head.version != VERSION || head.machine != ARCH_ELF_MACHINE ||
	    head.size < sizeof(head))
		return -EBADMSG;
	dump->has_own_clock = head.flags & OWN_CLOCK;
	dump->read = head.size;
	return 0;
}

/* 0; -EAGAIN when it is not there in whole yet. */
static int read_record(struct jitdump *dump, struct window *window, uint64_t file_size,
		       struct jit_names *names)
{
	const unsigned char *bytes =
		jitdump_show(dump, window, dump->read, sizeof(struct record_head));
	struct record_head head;
	size_t size;

	if (!bytes)
		return -EAGAIN;
	memcpy(&head, bytes, sizeof(head));
	if (head.size < sizeof(head))
		return -EBADMSG;
	if (head.size > file_size - dump->read)
		return -EAGAIN;
	size = MIN(head.size, sizeof(struct code_load) + NAME_ROOM);
	bytes = jitdump_show(dump, window, dump->read, size);
	if (!bytes)
		return -EAGAIN;
	/* Others are skipped: lines, and unwind information (such code is walked by frame
	 * pointer). */
	if (head.kind == RECORD_LOAD)
		add_load(dump, names, bytes, size);
	else if (head.kind == RECORD_MOVE)
		add_moved(dump, names, bytes, size);
	dump->is_over |= head.kind == RECORD_CLOSE;
	dump->read += head.size;
	return 0;
}

int jitdump_read(struct jitdump *dump, struct jit_names *names)
{
	CLEANUP(free) struct window *window = NULL;
	struct stat file;
	int r;

	if (!dump->fd || dump->is_over || fstat(dump->fd, &file) < 0 ||
	    (uint64_t)file.st_size <= dump->read)
		return 0;
	window = malloc(sizeof(*window));
	if (!window)
		return -ENOMEM;
	window->start = window->size = 0;
	r = dump->read ? 0 : read_file_head(dump, window);
	while (!r && !dump->is_over && dump->read < (uint64_t)file.st_size) {
		r = read_record(dump, window, (uint64_t)file.st_size, names);
		if (dump->total >= JITDUMP_MAX) {
			note_add("a jitdump file is read no further: up to %u MiB are",
				 JITDUMP_MAX >> 20);
			dump->is_over = true;
		}
		dump->is_over |= jit_names_are_full(names);
	}
	dump->looked_ns = now_ns();
	dump->is_over |= r == -EBADMSG;
	return jit_names_sort(names) ? -ENOMEM : r == -EAGAIN ? 0 : r;
}

/* "jit-PID.dump" with its number here or in its own namespace. */
static bool is_dump(const struct mapping *mapping, pid_t pid, pid_t inner_pid)
{
	const char *slash = strrchr(mapping->path, '/');
	char name[32], inner[32];

	if (!slash || !mapping->inode)
		return false;
	snprintf(name, sizeof(name), "/jit-%d.dump", (int)pid);
	snprintf(inner, sizeof(inner), "/jit-%d.dump", (int)inner_pid);
	return !strcmp(slash, name) || !strcmp(slash, inner);
}

static int open_mapped(struct jitdump *dump, pid_t pid, const struct mapping *mapping)
{
	struct module_file file;
	int r;

	module_file_open(&file, pid, mapping);
	if (file.fd < 0)
		return -ENOENT;
	r = foreign_file_check_owner(file.fd, pid);
	if (r) {
		close(file.fd);
		return r;
	}
	dump->fd = file.fd;
	return 0;
}

static int jitdump_find(struct jitdump *dump, pid_t pid)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct process_status status;
	struct err ignored = { 0 };
	int r = status_read(pid, pid, &status, &ignored);

	if (!r)
		r = maps_read(pid, &maps, &ignored);
	if (r)
		return r;
	for (size_t i = 0; i < maps.count; i++)
		if (is_dump(&maps.items[i], pid, status.inner_pid))
			return open_mapped(dump, pid, &maps.items[i]);
	return -ENOENT;
}

int jitdump_follow(struct jitdump *dump, pid_t pid, struct jit_names *names)
{
	int r = dump->fd ? 0 : jitdump_find(dump, pid);

	return r ? r : jitdump_read(dump, names);
}

void jitdump_close(struct jitdump *dump)
{
	if (dump->fd > 0)
		close(dump->fd);
	*dump = (struct jitdump){ 0 };
}
