/*
 * Runs on the control thread, a real thread of the target's libc: only it may call dlopen.
 */
#include "target/runtime/load.h"

#include "shared/arch/syscall.h"
#include "target/runtime/descriptor.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>

#define SPELLING_BITS 8
#define PROC          "/proc/"
#define THREAD_SELF   PROC "thread-self"
#define DESCRIPTORS   "/fd"

typedef void *dlopen_function(const char *path, int flags);
typedef const char *dlerror_function(void);

/* Makes a path unique: the number, bit by bit, as "/" or "/.", between folder and name. */
static size_t spell_number(char *path, size_t room, size_t at, unsigned long number)
{
	for (; number; number >>= 1)
		at = text_add(path, room, at, number & 1 ? "/." : "/");
	return at;
}

/* In /proc's numbers, which may be those of another PID namespace. */
bool load_name_folder(char ret[LOAD_FOLDER_MAX])
{
	char link[LOAD_FOLDER_MAX - sizeof(PROC) - sizeof(DESCRIPTORS)];
	long size = raw4(SYS_readlinkat, AT_FDCWD, THREAD_SELF, link, sizeof(link) - 1);
	size_t at = text_add(ret, LOAD_FOLDER_MAX, 0, PROC);

	if (size <= 0 || size >= (long)sizeof(link) - 1)
		return false;
	link[size] = 0;
	at = text_add(ret, LOAD_FOLDER_MAX, at, link);
	text_add(ret, LOAD_FOLDER_MAX, at, DESCRIPTORS);
	return true;
}

/* The thread differs per attach, the spelling per load. Uses thread-self, because a /proc of
 * another PID namespace has other thread IDs. */
static void spell_path(char *path, size_t room, const char *folder, int fd, unsigned spelling)
{
	unsigned long tid = (unsigned long)raw0(SYS_gettid);
	size_t at = text_add(path, room, 0, folder);

	at = spell_number(path, room, at, tid << SPELLING_BITS | spelling % (1u << SPELLING_BITS));
	at = text_add(path, room, at, "/");
	if (!folder[0])
		text_add(path, room, at, LIBRARY_LINK);
	else
		text_add_number(path, room, at, (unsigned long)fd);
}

static void *open_library(const struct boot_libc *libc, const char *path)
{
	return ((dlopen_function *)libc->dlopen)(path, RTLD_NOW | RTLD_LOCAL);
}

static struct descriptor open_directory(const char *path)
{
	return descriptor_own((int)raw4(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0));
}

static bool directory_enter(int directory)
{
	return raw1(SYS_fchdir, directory) >= 0 && raw1(SYS_chroot, ".") >= 0;
}

/* Only this thread changes its root to the directory, and back. A relative path does not work:
 * ld.so would then query the current directory, and for one outside of the root it reads
 * directories under a lock that it never initialized. */
static void *open_in_root(const struct boot_libc *libc, const char *path, int directory)
{
	struct descriptor root, here;
	void *handle = NULL;

	if (raw1(SYS_unshare, CLONE_FS) < 0)
		return NULL;
	root = open_directory("/");
	here = open_directory(".");
	if (root.fd >= 0 && here.fd >= 0 && directory_enter(directory)) {
		handle = open_library(libc, path);
		directory_enter(root.fd);
	}
	raw1(SYS_fchdir, here.fd);
	descriptor_close(&root);
	descriptor_close(&here);
	return handle;
}

static const char *folder_of(const char *folder, bool is_directory)
{
	if (is_directory)
		return "";
	return folder[0] ? folder : THREAD_SELF DESCRIPTORS;
}

void *load_from_fd(const struct boot_libc *libc, const char *folder, int fd, bool is_directory,
		   unsigned spelling)
{
	char path[160];

	spell_path(path, sizeof(path), folder_of(folder, is_directory), fd, spelling);
	return is_directory ? open_in_root(libc, path, fd) : open_library(libc, path);
}

void load_error(const struct boot_libc *libc, char *text, size_t room)
{
	const char *message = ((dlerror_function *)libc->dlerror)();

	text_add(
		text, room, 0,
		message ? message
			: "its root has no /proc, and it may not change its root (CAP_SYS_CHROOT)");
}
