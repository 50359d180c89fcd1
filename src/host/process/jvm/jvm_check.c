/*
 * Decides by files and /proc whether a process is a HotSpot that listens; the process is not
 * touched.  HotSpot is one Java virtual machine among several; others (OpenJ9) have a libjvm.so
 * too.
 */
#include "host/core/cleanup.h"
#include "host/process/foreign_file.h"
#include "host/process/jvm/jvm.h"
#include "host/process/maps.h"
#include "host/process/stat.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUIT_BIT (1ull << (SIGQUIT - 1))
#define BLOCK    (1u << 20)
#define READ_MAX (1u << 30)

/* HotSpot describes itself to debuggers by this, in every version. */
static const char exported[] = "gHotSpotVMStructs";

/* `pid`: the process in whose root the name is opened; 0: limpet's. */
static int open_if_mapped(pid_t pid, const struct mapping *library)
{
	int fd = foreign_file_open(pid, library->path);
	struct stat file;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &file) && file.st_ino == library->inode)
		return fd;
	close(fd);
	return -ENOENT;
}

/* The end of each block is searched again with the next one. */
static bool has_text(int fd, char *block, const char *text, size_t size)
{
	off_t at = 0;
	ssize_t got;

	while (at < READ_MAX && (got = pread(fd, block, BLOCK, at)) >= (ssize_t)size) {
		if (memmem(block, (size_t)got, text, size))
			return true;
		at += got - (ssize_t)size + 1;
	}
	return false;
}

/* By its exported symbols.  1, 0, or -ENOENT, -EACCES: its file cannot be read. */
static int is_hotspot(pid_t pid, const struct mapping *library)
{
	CLEANUP(free) char *block = malloc(BLOCK);
	int r, fd = block ? open_if_mapped(pid, library) : -ENOMEM;

	if (fd < 0 && block)
		fd = open_if_mapped(/* pid */ 0, library);
	if (fd < 0)
		return fd;
	r = has_text(fd, block, exported, sizeof(exported));
	close(fd);
	return r;
}

static const struct mapping *find_library(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const char *slash = strrchr(maps->items[i].path, '/');

		if (slash && !strcmp(slash, "/libjvm.so"))
			return &maps->items[i];
	}
	return NULL;
}

static int refuse_names(pid_t pid, int code, struct err *err)
{
	return err_set(err, code, "ask the JVM of %d for names", (int)pid);
}

/* Another JVM would take the signal for a request to print its stacks, or end. */
static int check_kind(pid_t pid, struct err *err)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	const struct mapping *library;
	int r = maps_read(pid, &maps, err);

	if (r)
		return r;
	library = find_library(&maps);
	if (!library)
		return err_set(err, -ENOPKG, "%d is no Java virtual machine: it has no libjvm.so",
			       (int)pid);
	r = is_hotspot(pid, library);
	if (r > 0)
		return 0;
	refuse_names(pid, r ? r : -ENOTSUP, err);
	if (r)
		return err_why(err, "its libjvm.so cannot be read: %s", strerror(-r));
	return err_why(err, "it is not HotSpot: its libjvm.so does not export gHotSpotVMStructs "
			    "(OpenJ9 and others are not asked)");
}

int jvm_check(pid_t pid, uint64_t start_tick, struct process_status *ret, struct err *err)
{
	struct process_stat stat;
	int r = start_tick ? stat_read(pid, 0, &stat, err) : 0;

	if (r)
		return r;
	if (start_tick && stat.start_tick != start_tick) {
		refuse_names(pid, -ESRCH, err);
		return err_why(err, "it has ended, and another process has its number");
	}
	r = status_read(pid, pid, ret, err);
	if (!r)
		r = check_kind(pid, err);
	/* A machine that does not catch the signal would be ended by it. */
	if (r || ret->signals_caught & QUIT_BIT)
		return r;
	refuse_names(pid, -ENOTSUP, err);
	return err_why(err, "it does not listen: SIGQUIT would end it (-Xrs, or it just starts)");
}
