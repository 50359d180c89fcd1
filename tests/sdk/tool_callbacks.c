/*
 * A tool that is called back for every call of every API table, counts them, and looks at
 * arguments, results and correlation ids.
 */
#include "sdk_tool.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	KINDS = 20,
	OPERATIONS = 512,
	HIP_MEMCPY = 259,
	HIP_LAUNCH = 214,
	HIP_CLAMP = 379,
	RANGE_PUSH = 1
};

static handle_t context;
static uint64_t enters[KINDS][OPERATIONS], exits[KINDS][OPERATIONS];
static uint64_t wrong_ids, wrong_threads, wrong_sizes, wrong_data, nested, highest;
static __thread uint64_t last_id;
static int has_shown[4];

/* As hipMemcpy's arguments lie in the payload; its result follows those of all functions. */
struct memcpy_payload {
	uint64_t size;
	void *to;
	const void *from;
	size_t bytes;
	int direction;
	unsigned char rest[88 - 28];
	int result;
};

static int show(int kind, int operation, uint32_t number, const void *address, int indirections,
		const char *type, const char *name, const char *value, int dereferences, void *data)
{
	(void)kind, (void)address, (void)dereferences, (void)data;
	log_line("argument %d %u %s %s %d %s", operation, number, name, type, indirections, value);
	return 0;
}

static void count_highest(uint64_t id)
{
	uint64_t seen = __atomic_load_n(&highest, __ATOMIC_RELAXED);

	while (id > seen && !__atomic_compare_exchange_n(&highest, &seen, id, 0, __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED))
		;
}

static void look(const record_t *record)
{
	static const int shown[] = { HIP_MEMCPY, HIP_LAUNCH, HIP_CLAMP };
	const struct memcpy_payload *copy = record->payload;

	for (unsigned i = 0; i < 3; i++)
		if (record->kind == HIP_RUNTIME && record->operation == shown[i] &&
		    !__atomic_exchange_n(&has_shown[i], 1, __ATOMIC_RELAXED))
			MUST(rocprofiler_iterate_callback_tracing_kind_operation_args(*record, show,
										      0, NULL));
	if (record->kind == MARKER_CORE && record->operation == RANGE_PUSH &&
	    !__atomic_exchange_n(&has_shown[3], 1, __ATOMIC_RELAXED))
		MUST(rocprofiler_iterate_callback_tracing_kind_operation_args(*record, show, 0,
									      NULL));
	if (record->kind == HIP_RUNTIME && record->operation == HIP_MEMCPY &&
	    (copy->size != 120 || !copy->to || !copy->from || !copy->bytes || copy->result))
		__atomic_add_fetch(&wrong_sizes, 1, __ATOMIC_RELAXED);
}

/* As any code may. */
static void use_vectors(void)
{
#if defined(__x86_64__)
	__asm__ volatile("xorps %%xmm0, %%xmm0\n\txorps %%xmm1, %%xmm1" ::: "xmm0", "xmm1");
#else
	__asm__ volatile("movi v0.2d, #0\n\tmovi v1.2d, #0" ::: "v0", "v1");
#endif
}

static void begin(const record_t *record, uint64_t *user_data)
{
	__atomic_add_fetch(&enters[record->kind][record->operation], 1, __ATOMIC_RELAXED);
	if (record->correlation.internal <= last_id ||
	    record->correlation.ancestor >= record->correlation.internal)
		__atomic_add_fetch(&wrong_ids, 1, __ATOMIC_RELAXED);
	if (record->correlation.ancestor)
		__atomic_add_fetch(&nested, 1, __ATOMIC_RELAXED);
	last_id = record->correlation.internal;
	count_highest(record->correlation.internal);
	*user_data = record->correlation.internal ^ 0x5a5a;
}

static void on_call(record_t record, uint64_t *user_data, void *data)
{
	if (data != &context || record.kind >= KINDS || record.operation >= OPERATIONS) {
		__atomic_add_fetch(&wrong_data, 1, __ATOMIC_RELAXED);
		return;
	}
	if (record.thread != (uint64_t)syscall(SYS_gettid))
		__atomic_add_fetch(&wrong_threads, 1, __ATOMIC_RELAXED);
	if (record.phase == PHASE_ENTER) {
		begin(&record, user_data);
		use_vectors();
		return;
	}
	__atomic_add_fetch(&exits[record.kind][record.operation], 1, __ATOMIC_RELAXED);
	if (*user_data != (record.correlation.internal ^ 0x5a5a))
		__atomic_add_fetch(&wrong_data, 1, __ATOMIC_RELAXED);
	look(&record);
}

#ifdef LAUNCHED
enum { AGENT_BYTES = 312 };

/* What a node has of something, and what the last of them says of itself. */
static void show_parts(const char *name, const void *agent, size_t count_at, size_t list_at,
		       size_t words)
{
	unsigned count = *(const unsigned *)((const char *)agent + count_at);
	const uint32_t *list = *(const uint32_t *const *)((const char *)agent + list_at);
	const uint32_t *last = count && list ? list + (count - 1) * words : NULL;

	log_line("parts %s %u %s %u %u", name, count, list ? "listed" : "none", last ? last[0] : 0,
		 last ? last[4] : 0);
}

static int on_agents(int version, const void **list, size_t count, void *data)
{
	(void)version, (void)data;
	log_line("agents %zu", count);
	for (size_t i = 1; i < count; i++) {
		show_parts("banks", list[i], 28, 224, 6);
		show_parts("caches", list[i], 32, 232, 10);
		show_parts("links", list[i], 36, 240, 12);
	}
	return 0;
}

enum { ASKERS = 8 };

/* As many as have something in their lists. */
static int count_listed(int version, const void **list, size_t count, void *data)
{
	(void)version;
	for (size_t i = 0; i < count; i++)
		*(unsigned *)data += *(const void *const *)((const char *)list[i] + 224) != NULL;
	return 0;
}

static void *ask_agents(void *data)
{
	MUST(rocprofiler_query_available_agents(1, count_listed, AGENT_BYTES, data));
	return NULL;
}

/* Who is the first to ask finds as much as the others. */
static void ask_at_once(void)
{
	pthread_t threads[ASKERS];
	unsigned found[ASKERS] = { 0 }, least = UINT32_MAX, most = 0;

	for (unsigned i = 0; i < ASKERS; i++)
		MUST(pthread_create(&threads[i], NULL, ask_agents, &found[i]));
	for (unsigned i = 0; i < ASKERS; i++) {
		pthread_join(threads[i], NULL);
		least = found[i] < least ? found[i] : least;
		most = found[i] > most ? found[i] : most;
	}
	log_line("at_once %u %u", least, most);
}

#endif
static int initialize(void (*finalize)(client_t), void *data)
{
	static const int kinds[] = {
		HSA_CORE,    HSA_AMD,       HSA_IMAGE,          HSA_FINALIZER,
		HIP_RUNTIME, HIP_COMPILER,  MARKER_CORE,        MARKER_CONTROL,
		MARKER_NAME, CALLBACK_RCCL, CALLBACK_ROCDECODE, CALLBACK_ROCJPEG
	};

	(void)finalize, (void)data;
	MUST(rocprofiler_create_context(&context));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		MUST(rocprofiler_configure_callback_tracing_service(context, kinds[i], NULL, 0,
								    on_call, &context));
#ifdef LAUNCHED
	MUST(rocprofiler_start_context(context));
	ask_at_once();
	MUST(rocprofiler_query_available_agents(1, on_agents, AGENT_BYTES, NULL));
#endif
	log_line("again %d", rocprofiler_configure_callback_tracing_service(
				     context, HIP_RUNTIME, NULL, 0, on_call, &context));
	return 0;
}

#ifndef LAUNCHED
static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)data;
	log_line("attach %lu %d", (unsigned long)count, contexts[0].handle == context.handle);
	memset(enters, 0, sizeof(enters));
	memset(exits, 0, sizeof(exits));
	MUST(rocprofiler_start_context(context));
	return 0;
}

#endif

static void write_counts(void)
{
	for (int kind = 1; kind < KINDS; kind++)
		for (int operation = 0; operation < OPERATIONS; operation++) {
			const char *name = "?";

			if (!enters[kind][operation] && !exits[kind][operation])
				continue;
			rocprofiler_query_callback_tracing_kind_operation_name(kind, operation,
									       &name, NULL);
			log_line("call %d %s %lu %lu", kind, name,
				 (unsigned long)enters[kind][operation],
				 (unsigned long)exits[kind][operation]);
		}
}

#ifndef LAUNCHED
static void detach(void *data)
{
	int is_active = -1;

	(void)data;
	MUST(rocprofiler_context_is_active(context, &is_active));
	write_counts();
	log_line("detach %d ids %lu threads %lu sizes %lu data %lu nested %lu highest %lu",
		 is_active, (unsigned long)wrong_ids, (unsigned long)wrong_threads,
		 (unsigned long)wrong_sizes, (unsigned long)wrong_data, (unsigned long)nested,
		 (unsigned long)highest);
}

#endif

static void finalize(void *data)
{
	int is_finalized = 0;

	(void)data;
	write_counts();
	rocprofiler_is_finalized(&is_finalized);
	log_line("finalize %d %d", rocprofiler_start_context(context), is_finalized);
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, finalize, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "callbacks";
	return &tool;
}

#ifndef LAUNCHED
tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
#endif
