/*
 * The lock is on /proc/PID/mem, which only processes that may attach can open: on a file that
 * others can open, they could hold it against limpet.  All that open it in one /proc share the same
 * inode for as long as one of them holds it open.
 */
#include "host/attach/attachment.h"

#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/text.h"
#include "host/process/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LIMIT_NS 10000000000ull
#define LOOK_NS  100000000ull /* then find the lock's holder */

/* "1: FLOCK  ADVISORY  WRITE 1234 00:15:4026 0 EOF"; waiting processes have an arrow instead. */
static bool is_lock_of(struct text line, const struct stat *file, pid_t *ret)
{
	uint64_t pid, major, minor, inode;
	struct text kind, word;

	if (!text_take_word(&line, &word) || !text_take_word(&line, &kind) ||
	    !text_equals(kind, "FLOCK") || !text_take_word(&line, &word) ||
	    !text_take_word(&line, &word))
		return false;
	text_skip_blanks(&line);
	if (!text_take_number(&line, 10, &pid) || pid > INT_MAX || !text_take_char(&line, ' ') ||
	    !text_take_number(&line, 16, &major) || !text_take_char(&line, ':') ||
	    !text_take_number(&line, 16, &minor) || !text_take_char(&line, ':') ||
	    !text_take_number(&line, 10, &inode))
		return false;
	*ret = (pid_t)pid;
	return inode == file->st_ino && file->st_dev == makedev((unsigned)major, (unsigned)minor);
}

/* The process that holds a flock() on the file behind fd; 0 when /proc/locks does not show it. */
static pid_t lock_holder(int fd)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct stat file;
	pid_t holder = 0;
	bool is_found = false;

	if (!locks)
		return 0;
	while (!fstat(fd, &file) && !is_found && fgets(line, sizeof(line), locks))
		is_found = is_lock_of(text_of(line), &file, &holder);
	fclose(locks);
	return is_found ? holder : 0;
}

static int exclusion_refuse(pid_t pid, pid_t holder, struct err *err)
{
	err_set(err, -EBUSY,
		holder == pid ? "it has locked its own memory file"
			      : "another limpet is attaching to it and does not finish");
	if (holder == pid)
		err_why(err,
			"limpet locks /proc/%d/mem while it attaches, so that two never attach at once",
			pid);
	else if (holder)
		err_why(err, "process %d holds the lock on /proc/%d/mem", holder, pid);
	else
		err_why(err,
			"another limpet, or the program itself, holds the lock on /proc/%d/mem",
			pid);
	return err_exit(err, EXIT_BUSY);
}

/* Waits for the lock.  A target that holds the lock itself will not release it. */
static int await_lock(pid_t pid, int fd, struct err *err)
{
	uint64_t begin_ns = now_ns(), look_ns = begin_ns + LOOK_NS;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		bool is_over = errno != EWOULDBLOCK || interrupt_is_waiting() ||
			       now_ns() > begin_ns + LIMIT_NS;

		if (is_over || now_ns() > look_ns) {
			pid_t holder = lock_holder(fd);

			look_ns = now_ns() + LOOK_NS;
			if (is_over || holder == pid)
				return exclusion_refuse(pid, holder, err);
		}
		sleep_ns(1000000);
	}
	return 0;
}

int exclusion_acquire(const struct target *target, struct err *err)
{
	int fd = memory_open(target->process.memory_tid), r;

	if (fd < 0)
		return err_set(err, fd, "lock the process: %s", strerror(-fd));
	r = await_lock(target->process.pid, fd, err);
	if (r)
		close(fd);
	return r ? r : fd;
}
