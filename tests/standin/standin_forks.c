/*
 * STAND-IN, for tests only.  A program that uses the stand-in runtimes and forks all the time.  Its
 * children do what takes locks of libc's and of the loader's, and must come to their end:
 *
 *   begin N   N threads fork, each one child after the other, until "end"
 *   end       "forks N", "hung N", "died N", and of each such child "lost STEP"
 *
 * Every answer ends with "end".  Nothing goes through a buffer, of which children would have a
 * copy. The children need nothing but libc: what one finds locked, or in pieces, some other thread
 * of this process had in its hands when it was forked.
 */
#define _GNU_SOURCE
#include "standin_hip.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 16
#define LIMIT_MS    20000 /* of a child, on a busy machine */
#define LOST_MAX    64
#define FRAMES      8
#define CHILD_OK    3

static atomic_bool is_over;
static atomic_uint forks, hung, died;
static atomic_uint lost_count;
static const char *lost[LOST_MAX];
static const char **stages; /* shared: what each thread's child is doing */

/* Not by a stream: children would have a copy of what is in its buffer. */
static void say(const char *format, ...)
{
	char text[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (write(1, text, (size_t)length) != length)
		_exit(1);
}

static int module_count(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size;
	++*(unsigned *)data;
	return 0;
}

static void modules_walk(void)
{
	unsigned count = 0;

	if (dl_iterate_phdr(module_count, &count) || !count)
		_exit(1);
}

/* One that is there, as plugins and resolvers ask for it. */
static void library_find(void)
{
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (!library || !dlsym(library, "getpid") || dlclose(library))
		_exit(1);
}

/* ...and one that is not. */
static void library_load(void)
{
	void *library = dlopen("libBrokenLocale.so.1", RTLD_NOW);

	if (library)
		dlclose(library);
}

static void stack_walk(void)
{
	void *frames[FRAMES];

	if (backtrace(frames, FRAMES) < 1)
		_exit(1);
}

static void environment_change(void)
{
	if (setenv("FORKS", "1", 1) || unsetenv("FORKS"))
		_exit(1);
}

static void *thread_run(void *unused)
{
	return unused;
}

static void thread_make(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_run, NULL) || pthread_join(thread, NULL))
		_exit(1);
}

static void exit_register(void)
{
	if (atexit(stack_walk))
		_exit(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} steps[] = {
	{ "dl_iterate_phdr", modules_walk }, { "dlopen-known", library_find },
	{ "dlopen-new", library_load },      { "backtrace", stack_walk },
	{ "setenv", environment_change },    { "pthread_create", thread_make },
	{ "atexit", exit_register },
};

static void child_run(const char **stage)
{
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		*stage = steps[i].name;
		steps[i].run();
	}
	*stage = "exit";
	exit(CHILD_OK);
}

static void child_lose(atomic_uint *counter, const char *stage)
{
	unsigned index = atomic_fetch_add(&lost_count, 1);

	atomic_fetch_add(counter, 1);
	if (index < LOST_MAX)
		lost[index] = stage;
}

static bool child_await(pid_t child)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd wait = { fd, POLLIN, 0 };
	bool has_ended = poll(&wait, 1, LIMIT_MS) == 1;

	close(fd);
	return has_ended;
}

/* One that hangs is left for whoever wants to look at it, where FORKS_KEEP is set. */
static void fork_once(const char **stage)
{
	pid_t child;
	int status;

	*stage = "fork";
	child = fork();
	if (!child)
		child_run(stage);
	if (child < 0)
		return;
	atomic_fetch_add(&forks, 1);
	if (!child_await(child)) {
		child_lose(&hung, *stage);
		if (getenv("FORKS_KEEP"))
			return;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		return;
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_OK)
		child_lose(&died, *stage);
}

static void *fork_on(void *stage)
{
	while (!is_over)
		fork_once(stage);
	return NULL;
}

static void use_runtime(void)
{
	int count;
	void *memory;

	if (hipGetDeviceCount(&count) || hipMalloc(&memory, 64) || hipFree(memory)) {
		say("wrong runtime\n");
		_exit(1);
	}
}

static void *use_on(void *unused)
{
	struct timespec pause = { 0, 1000000 };

	(void)unused;
	while (!is_over) {
		use_runtime();
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void say_end(void)
{
	say("forks %u\nhung %u\ndied %u\n", forks, hung, died);
	for (unsigned i = 0; i < lost_count && i < LOST_MAX; i++)
		say("lost %s\n", lost[i]);
	say("end\n");
}

static void forks_run(unsigned count)
{
	pthread_t threads[THREADS_MAX], user;
	char line[64];

	count = count < THREADS_MAX ? count : THREADS_MAX;
	is_over = false;
	forks = hung = died = lost_count = 0;
	pthread_create(&user, NULL, use_on, NULL);
	for (unsigned i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, fork_on, &stages[i]);
	say("end\n");
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
	is_over = true;
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_join(user, NULL);
	say_end();
}

int main(void)
{
	char line[64];
	unsigned count;

	stages = mmap(NULL, THREADS_MAX * sizeof(*stages), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	use_runtime();
	say("ready %d\n", getpid());
	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "begin %u", &count) == 1)
			forks_run(count);
	return 0;
}
