/*
 * Exports what the tracer wants of an agent; the program comes first in the loader's order, so the
 * tracer finds these and not the agent's.
 */
#define _GNU_SOURCE
#include "selftrace.h"

#include "limpet/tool.h"
#include "shared/wire/boot.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS     64
#define RING_SIZE (1u << 20)
#define EXPORT    __attribute__((visibility("default")))

typedef struct limpet_tool *configure_function(uint32_t, const char *, uint32_t,
					       struct limpet_client *);
typedef struct limpet_tool_attach *configure_attach_function(uint32_t, const char *, uint32_t,
							     struct limpet_client *);

struct rings *limpet_agent_rings(void);
const struct boot_libc *limpet_agent_libc(void);

static struct rings *rings;
static struct limpet_tool_attach *tool;
static int result;

EXPORT struct rings *limpet_agent_rings(void)
{
	return rings;
}

EXPORT const struct boot_libc *limpet_agent_libc(void)
{
	static struct boot_libc libc;

	libc = (struct boot_libc){ .pthread_create = (uint64_t)pthread_create,
				   .pthread_join = (uint64_t)pthread_join,
				   .pthread_attr_init = (uint64_t)pthread_attr_init,
				   .pthread_attr_setstack = (uint64_t)pthread_attr_setstack,
				   .dlopen = (uint64_t)dlopen,
				   .dlsym = (uint64_t)dlsym,
				   .dlclose = (uint64_t)dlclose,
				   .__cxa_atexit = (uint64_t)dlsym(RTLD_DEFAULT, "__cxa_atexit"),
				   .__cxa_finalize =
					   (uint64_t)dlsym(RTLD_DEFAULT, "__cxa_finalize") };
	return &libc;
}

static int make_rings(const char *request)
{
	struct rings layout;
	size_t size = rings_layout(SLOTS, RING_SIZE, TRACE_FUNCTIONS_MAX, &layout);
	void *memory;

	if (rings)
		munmap(rings, rings->size);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	rings = memory;
	*rings = layout;
	snprintf(rings->request, sizeof(rings->request), "%s", request);
	return 0;
}

static int configure(const char *path)
{
	struct limpet_client client = { .size = sizeof(client) };
	void *handle = dlopen(path, RTLD_NOW);
	configure_function *first;
	configure_attach_function *second;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return -ENOENT;
	}
	first = (configure_function *)dlsym(handle, "rocprofiler_configure");
	second = (configure_attach_function *)dlsym(handle, "rocprofiler_configure_attach");
	if (!first(10000, "1.0.0", 0, &client))
		return -ECANCELED;
	tool = second(10000, "1.0.0", 0, &client);
	return 0;
}

/* The lifecycle calls tools on threads of its own. */
static void *attach(void *unused)
{
	(void)unused;
	result = tool->tool_attach(NULL, NULL, 0, NULL);
	return NULL;
}

static void *detach(void *unused)
{
	(void)unused;
	tool->tool_detach(NULL);
	return NULL;
}

static void run_on_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) || pthread_join(thread, NULL))
		abort();
}

int selftrace_start(const char *path, const char *request)
{
	int r = make_rings(request);

	if (!r && !tool)
		r = configure(path);
	if (r)
		return r;
	run_on_thread(attach);
	return result;
}

void selftrace_stop(void)
{
	run_on_thread(detach);
}

struct rings *selftrace_rings(void)
{
	return rings;
}

static bool has_prefix(const struct record *record, const char *prefix)
{
	const struct record_call *call = (const void *)record;

	return record->kind == RECORD_CALL &&
	       !strncmp(rings_functions(rings)[call->function].name, prefix, strlen(prefix));
}

uint64_t selftrace_drain(const char *prefix)
{
	union {
		struct record record;
		char bytes[RECORD_MAX_BYTES];
	} buffer;
	uint64_t count = 0;

	for (uint32_t i = 0; i < rings->slot_count; i++)
		while (ring_read(rings_slot(rings, i), rings_data(rings, i), rings->ring_size,
				 &buffer, sizeof(buffer)) > 0)
			count += has_prefix(&buffer.record, prefix);
	return count;
}
