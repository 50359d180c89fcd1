/*
 * A tool as a third party would write it: it knows the binary interface only, not limpet's headers.
 * Every call into it appends a line to the file that ROCP_TEST_LOG names.  Built several times,
 * with other names and manners.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TOOL_NAME
#define TOOL_NAME "a"
#endif
#ifndef INITIALIZE_RETURNS
#define INITIALIZE_RETURNS 0
#endif
#ifndef ATTACH_RETURNS
#define ATTACH_RETURNS 0
#endif
#ifndef ATTACH_SLEEPS_MS
#define ATTACH_SLEEPS_MS 0
#endif
#ifndef INITIALIZE_SLEEPS_MS
#define INITIALIZE_SLEEPS_MS 0
#endif
#ifndef FINALIZE_SLEEPS_MS
#define FINALIZE_SLEEPS_MS 0
#endif
#ifndef DETACH_SLEEPS_MS
#define DETACH_SLEEPS_MS 0
#endif

typedef struct {
	size_t size;
	const char *name;
	const uint32_t handle;
} client_id;
typedef void (*client_finalize)(client_id);
typedef struct {
	uint64_t handle;
} context_id;

typedef struct {
	size_t size;
	int (*initialize)(client_finalize, void *);
	void (*finalize)(void *);
	void *tool_data;
} configure_result;

typedef struct {
	size_t size;
	int (*tool_attach)(void (*)(client_id), context_id *, uint64_t, void *);
	void (*tool_detach)(void *);
	void *tool_data;
} attach_result;

typedef struct {
	size_t size;
	int (*initialize)(client_finalize, void *);
	void (*finalize)(void *);
	void *tool_data;
	void (*tool_reattach)(void *);
	void (*tool_detach)(void *);
} experimental_result;

static char log_path[512];
static int tool_data = 42;
static int attach_data __attribute__((unused)) = 43;

static void say(const char *format, ...)
{
	const char *path = getenv("ROCP_TEST_LOG");
	char line[512];
	va_list args;
	int fd, length;

	if (path)
		snprintf(log_path, sizeof(log_path), "%s", path);
	if (!log_path[0])
		return;
	length = snprintf(line, sizeof(line), TOOL_NAME " ");
	va_start(args, format);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, args);
	va_end(args);
	line[length++] = '\n';
	fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)length) != length)
		log_path[0] = 0;
	close(fd);
}

__attribute__((unused)) static const char *text(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "-";
}

#define UNTIL_TOLD    (-1)
#define LONGEST_MS    120000 /* longer than any test waits */
#define LOOK_EVERY_MS 2

/* For a time, or until the driver has put a file beside the log. */
__attribute__((unused)) static void linger(int time_ms)
{
	const char *log = getenv("ROCP_TEST_LOG");
	char path[sizeof(log_path) + 8];

	snprintf(path, sizeof(path), "%s.go", log ? log : log_path);
	for (int ms = 0; time_ms == UNTIL_TOLD && ms < LONGEST_MS && access(path, F_OK);
	     ms += LOOK_EVERY_MS)
		usleep(LOOK_EVERY_MS * 1000);
	if (time_ms != UNTIL_TOLD)
		usleep((useconds_t)time_ms * 1000);
}

#ifdef USES_CONTEXTS
int rocprofiler_create_context(context_id *);
int rocprofiler_start_context(context_id);
int rocprofiler_context_is_active(context_id, int *);
static context_id contexts[2];

static void contexts_make(void)
{
	int first = rocprofiler_create_context(&contexts[0]);
	int second = rocprofiler_create_context(&contexts[1]);

	say("create_context %d %d", first, second);
}

static void contexts_start(const context_id *given, uint64_t count)
{
	int active = -1;

	for (uint64_t i = 0; i < count; i++)
		rocprofiler_start_context(given[i]);
	if (count)
		rocprofiler_context_is_active(given[0], &active);
	say("contexts %d active=%d same=%d", (int)count, active,
	    count == 2 && given[0].handle == contexts[0].handle &&
		    given[1].handle == contexts[1].handle);
}

static void contexts_say(const char *when)
{
	int active = -1;

	rocprofiler_context_is_active(contexts[0], &active);
	say("%s active=%d", when, active);
}
#endif

#ifdef MISSES_FUNCTION
int rocprofiler_no_such_function(void);
#endif

#ifdef MAKES_THREADS
static pthread_t threads[4];
static volatile int threads_stop;

static void *thread_run(void *argument)
{
	while (!threads_stop)
		usleep(1000);
	return argument;
}

static void threads_start(void)
{
	threads_stop = 0;
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_run, NULL);
}

static void threads_end(void)
{
#ifdef LEAVES_THREADS
	return;
#endif
	threads_stop = 1;
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}
#endif

#ifdef THREAD_END_SLEEPS_MS
static void end_slowly(void *unused)
{
	(void)unused;
	linger(THREAD_END_SLEEPS_MS);
}

/* Thread-local data with a destructor, as C++ tools have it. */
static void thread_data_make(void)
{
	static pthread_key_t key;

	pthread_key_create(&key, end_slowly);
	pthread_setspecific(key, &key);
}
#endif

#ifdef CONSTRUCTOR_SLEEPS_MS
__attribute__((constructor)) static void start_slowly(void)
{
	linger(CONSTRUCTOR_SLEEPS_MS);
}
#endif

#ifdef ENDS_ITSELF
static client_id *own_id;
#endif

static int tool_initialize(client_finalize finalize, void *data)
{
	say("initialize fini=%d data=%d", finalize != NULL, data ? *(int *)data : -1);
#ifdef USES_CONTEXTS
	contexts_make();
#endif
#ifdef THREAD_END_SLEEPS_MS
	thread_data_make();
#endif
#ifdef ENDS_ITSELF
	finalize(*own_id);
#endif
#ifdef LEAKS
	say("leaks %d", malloc(1 << 20) != NULL);
#endif
	linger(INITIALIZE_SLEEPS_MS);
#ifdef ENDS_THREAD
	free(malloc(1)); /* then it has an arena */
	pthread_exit(NULL);
#endif
	return INITIALIZE_RETURNS;
}

static void tool_finalize(void *data)
{
	say("finalize data=%d", data ? *(int *)data : -1);
	linger(FINALIZE_SLEEPS_MS);
}

#ifndef IS_EXPERIMENTAL
#ifndef WITHOUT_ATTACH
static int tool_attach(void (*detach)(client_id), context_id *given, uint64_t count, void *data)
{
	say("tool_attach detach=%d contexts=%d data=%d attached=%s", detach != NULL, (int)count,
	    data ? *(int *)data : -1, text("ROCPROFILER_REGISTER_TOOL_ATTACHED"));
	(void)given;
#ifdef USES_CONTEXTS
	contexts_start(given, count);
#endif
#ifdef MAKES_THREADS
	threads_start();
#endif
	linger(ATTACH_SLEEPS_MS);
	return ATTACH_RETURNS;
}

static void tool_detach(void *data)
{
#ifdef USES_CONTEXTS
	contexts_say("detaching");
#endif
#ifdef MAKES_THREADS
	threads_end();
#endif
	linger(DETACH_SLEEPS_MS);
	say("tool_detach data=%d", data ? *(int *)data : -1);
}

attach_result *rocprofiler_configure_attach(uint32_t, const char *, uint32_t, client_id *);

attach_result *rocprofiler_configure_attach(uint32_t version, const char *runtime,
					    uint32_t priority, client_id *id)
{
	static attach_result result = { sizeof(result), tool_attach, tool_detach, &attach_data };

	say("configure_attach version=%u runtime=%s priority=%u size=%zu", version, runtime,
	    priority, id->size);
	return &result;
}
#endif

configure_result *rocprofiler_configure(uint32_t, const char *, uint32_t, client_id *);

configure_result *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
					client_id *id)
{
	static configure_result result = { sizeof(result), tool_initialize, tool_finalize,
					   &tool_data };

	id->name = TOOL_NAME;
#ifdef ENDS_ITSELF
	own_id = id;
#endif
	say("configure version=%u runtime=%s priority=%u size=%zu", version, runtime, priority,
	    id->size);
#ifdef MISSES_FUNCTION
	rocprofiler_no_such_function();
#endif
#ifdef OPTS_OUT
	return NULL;
#endif
	return &result;
}
#else
static void tool_reattach(void *data)
{
	say("tool_reattach data=%d", data ? *(int *)data : -1);
}

static void tool_detach(void *data)
{
	say("tool_detach data=%d", data ? *(int *)data : -1);
}

experimental_result *rocprofiler_configure_experimental(uint32_t, const char *, uint32_t,
							client_id *);

experimental_result *rocprofiler_configure_experimental(uint32_t version, const char *runtime,
							uint32_t priority, client_id *id)
{
	static experimental_result result = { sizeof(result), tool_initialize, tool_finalize,
					      &tool_data,     tool_reattach,   tool_detach };

	id->name = TOOL_NAME;
	say("configure_experimental version=%u runtime=%s priority=%u size=%zu", version, runtime,
	    priority, id->size);
	return &result;
}
#endif
