/*
 * A tool that is shown API tables and puts a function of its own into one of them.
 */
#include "sdk_tool.h"

#include <stdlib.h>
#include <time.h>

enum { HIP_MALLOC = 215 };

static int (*next_malloc)(void **, size_t);
static uint64_t calls;

static int our_malloc(void **ret, size_t size)
{
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	return next_malloc(ret, size);
}

/* As many milliseconds as SDK_LINGER says, before the table is touched. */
static void linger(void)
{
	const char *text = getenv("SDK_LINGER");
	long ms = text ? atol(text) : 0;
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

static void on_table(int type, uint64_t version, uint64_t instance, void **tables, uint64_t count,
		     void *data)
{
	log_line("table %d %lu %lu %lu %d", type, (unsigned long)version, (unsigned long)instance,
		 (unsigned long)count, data == &calls);
	if (type != 2)
		return;
	linger();
	next_malloc = ((int (**)(void **, size_t))tables[0])[HIP_MALLOC + 1];
	((int (**)(void **, size_t))tables[0])[HIP_MALLOC + 1] = our_malloc;
}

static void finalize(void *data)
{
	(void)data;
	log_line("finalize calls %lu", (unsigned long)calls);
}

static int initialize(void (*finish)(client_t), void *data)
{
	(void)finish, (void)data;
	log_line("initialized");
	return 0;
}

static void detach(void *data)
{
	(void)data;
	log_line("calls %lu", (unsigned long)calls);
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, finalize, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "tables";
	MUST(rocprofiler_at_intercept_table_registration(on_table, 0, &calls));
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), NULL, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
