/*
 * Reads in /proc in which system call the thread is.  Runs inside the target, on application
 * threads.
 */
#include "compat/register/listener/blocked.h"

#include "compat/register/process/loader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* "NUMBER ARGUMENT ..."; "running" when it is in none.  False where there is no such file. */
static bool blocked_read(int32_t tid, char *text, size_t room)
{
	char path[64];
	ssize_t size;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	size = read(file, text, room - 1);
	close(file);
	text[size > 0 ? size : 0] = 0;
	return true;
}

bool blocked_by_others(int32_t tid)
{
	static const char ours = 0;
	Dl_info own, other;
	char text[128];
	char *rest;
	void *word;

	if (!tid)
		return false;
	if (!blocked_read(tid, text, sizeof(text)))
		return true;
	if (strtol(text, &rest, 10) != SYS_futex || rest == text)
		return false;
	word = (void *)(uintptr_t)strtoull(rest, NULL, 16);
	return loader_find_module(&ours, &own) && loader_find_module(word, &other) &&
	       own.dli_fbase != other.dli_fbase;
}
