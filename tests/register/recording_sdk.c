/*
 * A profiler library for tests: writes down what the register library gives it and does what its
 * environment says.  RECORDING_LOG is the file to append to; RECORDING_ANSWER the answer of
 * rocprofiler_set_api_table; RECORDING_REGISTERS a name to register from inside; RECORDING_SLEEPS
 * the milliseconds that taking a table lasts; RECORDING_ATTACH the answer of an attach,
 * RECORDING_ATTACH_SLEEPS the milliseconds that it lasts; with RECORDING_ATTACHES a tool attaches
 * from inside of it.
 */
#include <rocprofiler-register/rocprofiler-register.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t count);
EXPORT int limpet_inprocess_attach(const void *libc, const char *environment, const char *tools,
				   char *text, size_t room);
EXPORT int limpet_inprocess_detach(const void *libc, char *text, size_t room);

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
	const char *path = getenv("RECORDING_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
	char line[1024];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (fd >= 0 && write(fd, line, (size_t)length) != length)
		_exit(99);
	if (fd >= 0)
		close(fd);
}

static int number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : 0;
}

/* As a tool does that uses a runtime while it is handed the tables of another. */
static void register_from_inside(void)
{
	static void *table[2];
	void *tables[] = { table };
	const char *name = getenv("RECORDING_REGISTERS");
	rocprofiler_register_library_indentifier_t id;
	static int was_done;

	if (name && !was_done++)
		note("inside %s %d\n", name,
		     (int)rocprofiler_register_library_api_table(name, NULL, 1, tables, 1, &id));
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t count)
{
	note("table %s %lu %lu %lu %p\n", name, (unsigned long)version, (unsigned long)instance,
	     (unsigned long)count, tables[count - 1]);
	usleep((useconds_t)number("RECORDING_SLEEPS") * 1000);
	register_from_inside();
	return number("RECORDING_ANSWER");
}

static void *attach_on_a_thread_for_tools(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "limpet-tool");
	note("inside %d\n", (int)rocprofiler_register_attach(NULL, "b.so"));
	return NULL;
}

static void attach_from_inside(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, attach_on_a_thread_for_tools, NULL))
		pthread_join(thread, NULL);
}

int limpet_inprocess_attach(const void *libc, const char *environment, const char *tools,
			    char *text, size_t room)
{
	uint32_t count = 0;

	note("attach %s %s\n", tools, libc ? "libc" : "none");
	usleep((useconds_t)number("RECORDING_ATTACH_SLEEPS") * 1000);
	if (number("RECORDING_ATTACHES"))
		attach_from_inside();
	if (environment)
		memcpy(&count, environment, sizeof(count));
	for (const char *at = environment + sizeof(count); count; count--) {
		const char *value = at + strlen(at) + 1;

		note("variable %s=%s\n", at, value);
		at = value + strlen(value) + 1;
	}
	snprintf(text, room, "%s", number("RECORDING_ATTACH") ? "the recording refuses" : "");
	return number("RECORDING_ATTACH");
}

int limpet_inprocess_detach(const void *libc, char *text, size_t room)
{
	(void)libc;
	snprintf(text, room, "%s", "");
	note("detach\n");
	return 0;
}
