/*
 * Runs on the control thread, a real thread of the target's libc, which alone may call dlopen.
 */
#include "target/runtime/load.h"

#include "shared/arch/syscall.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdbool.h>

#define SPELLINGS_MAX 48

typedef void *dlopen_function(const char *path, int flags);
typedef const char *dlerror_function(void);

/* /proc/self/task/TID/fd/./././N: the thread differs per attach, the dots per load. */
static void spell_path(char *path, size_t room, int fd, bool has_directory, unsigned spelling)
{
	size_t at = text_add(path, room, 0, has_directory ? "./" : "/proc/self/task/");

	if (!has_directory) {
		at = text_add_number(path, room, at, (unsigned long)raw0(SYS_gettid));
		at = text_add(path, room, at, "/fd/");
	}
	for (unsigned i = 0; i < spelling % SPELLINGS_MAX; i++)
		at = text_add(path, room, at, "./");
	text_add_number(path, room, at, (unsigned long)fd);
}

static void *open_library(const struct boot_libc *libc, const char *path)
{
	return ((dlopen_function *)libc->dlopen)(path, RTLD_NOW | RTLD_LOCAL);
}

/* Only this thread changes its directory, and goes back. */
static void *open_through_directory(const struct boot_libc *libc, const char *path, int directory)
{
	long here;
	void *handle;

	if (raw1(SYS_unshare, CLONE_FS) < 0)
		return NULL;
	here = raw4(SYS_openat, AT_FDCWD, ".", O_PATH | O_CLOEXEC, 0);
	if (raw1(SYS_fchdir, directory) < 0)
		return NULL;
	handle = open_library(libc, path);
	if (here >= 0) {
		raw1(SYS_fchdir, here);
		raw1(SYS_close, here);
	}
	return handle;
}

void *load_from_fd(const struct boot_libc *libc, int fd, int directory, unsigned spelling)
{
	char path[160];

	spell_path(path, sizeof(path), fd, directory >= 0, spelling);
	return directory >= 0 ? open_through_directory(libc, path, directory)
			      : open_library(libc, path);
}

void load_error(const struct boot_libc *libc, char *text, size_t room)
{
	const char *message = ((dlerror_function *)libc->dlerror)();

	text_add(text, room, 0, message ? message : "no reason given by the dynamic loader");
}
