/*
 * A tool that counts a whole device: reads when the file that SDK_SAMPLE names is there, and then
 * removes it; into its own memory and through a buffer.
 */
#include "sdk_tool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	handle_t id;
	const char *name, *description, *block, *expression;
	uint8_t flags;
} info_t;

typedef struct {
	uint64_t id;
	double value;
	uint64_t dispatch, user_data;
	handle_t agent;
} counter_record_t;

typedef int counters_t(handle_t agent, handle_t *counters, size_t count, void *data);
typedef int set_config_t(handle_t context, handle_t config);
typedef void choose_t(handle_t context, handle_t agent, set_config_t *set_config, void *data);

int rocprofiler_iterate_agent_supported_counters(handle_t agent, counters_t *callback, void *data);
int rocprofiler_query_counter_info(handle_t counter, int version, void *ret);
int rocprofiler_query_record_counter_id(uint64_t id, handle_t *ret);
int rocprofiler_create_counter_config(handle_t agent, handle_t *counters, size_t count,
				      handle_t *ret);
int rocprofiler_configure_device_counting_service(handle_t context, handle_t buffer, handle_t agent,
						  choose_t *choose, void *data);
int rocprofiler_sample_device_counting_service(handle_t context, uint64_t user_data, int flags,
					       counter_record_t *records, size_t *count);

#define RECORDS_MAX 256
#define ASYNC       1
#define CATEGORY    3
#define GLANCE_US   1000

static const char *const wanted[] = { "TCC_HIT_sum", "HIT_SHARE", "GRBM_COUNT" };
static handle_t context, buffer, device, config, chosen[3];
static pthread_t thread;
static int is_over;

static const char *name_of(uint64_t record)
{
	handle_t counter = { 0 };
	info_t info;

	MUST(rocprofiler_query_record_counter_id(record, &counter));
	MUST(rocprofiler_query_counter_info(counter, 1, &info));
	return info.name;
}

static void show_record(const char *word, const counter_record_t *record)
{
	log_line("%s %s %.0f %lu %lu", word, name_of(record->id), record->value,
		 (unsigned long)record->user_data, (unsigned long)record->agent.handle);
}

static void on_records(handle_t of, handle_t from, header_t **headers, size_t count, void *data,
		       uint64_t drops)
{
	(void)of, (void)from, (void)data;
	for (size_t i = 0; i < count; i++) {
		if (headers[i]->category != CATEGORY || headers[i]->kind != 2)
			log_line("wrong category %u kind %u", headers[i]->category,
				 headers[i]->kind);
		show_record("buffered", headers[i]->payload);
	}
	if (drops)
		log_line("wrong drops %lu", (unsigned long)drops);
}

static int take_counters(handle_t agent, handle_t *counters, size_t count, void *data)
{
	(void)data;
	if (device.handle)
		return 0;
	device = agent;
	for (size_t i = 0; i < count; i++) {
		info_t info;

		MUST(rocprofiler_query_counter_info(counters[i], 1, &info));
		for (size_t j = 0; j < 3; j++)
			if (!strcmp(info.name, wanted[j]))
				chosen[j] = counters[i];
	}
	return 0;
}

static int take_agents(int version, const void **agents, size_t count, void *data)
{
	(void)version, (void)data;
	for (size_t i = 0; i < count; i++)
		(void)rocprofiler_iterate_agent_supported_counters(
			(handle_t){ *(const uint64_t *)((const char *)agents[i] + 8) },
			take_counters, NULL);
	return 0;
}

static void choose(handle_t of, handle_t agent, set_config_t *set_config, void *data)
{
	(void)data;
	log_line("choose %d %d unknown %d", of.handle == context.handle,
		 agent.handle == device.handle, set_config(of, (handle_t){ 60000 }));
	MUST(set_config(of, config));
}

static void sample(void)
{
	static counter_record_t records[RECORDS_MAX];
	size_t count = RECORDS_MAX, few = 1;

	MUST(rocprofiler_sample_device_counting_service(context, 7, 0, records, &count));
	for (size_t i = 0; i < count; i++)
		show_record("value", &records[i]);
	log_line("refused %d %d %d",
		 rocprofiler_sample_device_counting_service(context, 7, 0, records, &few),
		 rocprofiler_sample_device_counting_service(context, 7, ASYNC, records, &count),
		 rocprofiler_sample_device_counting_service((handle_t){ 63 }, 7, 0, NULL, NULL));
	MUST(rocprofiler_sample_device_counting_service(context, 8, ASYNC, NULL, NULL));
	MUST(rocprofiler_flush_buffer(buffer));
	log_line("sampled");
}

static void *watch(void *data)
{
	const char *path = getenv("SDK_SAMPLE");

	(void)data;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		usleep(GLANCE_US);
		if (!path || access(path, F_OK))
			continue;
		sample();
		unlink(path);
	}
	return NULL;
}

static int initialize(void (*finalize)(client_t), void *data)
{
	(void)finalize, (void)data;
	MUST(rocprofiler_query_available_agents(1, take_agents, 312, NULL));
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_buffer(context, 1 << 16, 1 << 15, POLICY_LOSSLESS, on_records, NULL,
				       &buffer));
	MUST(rocprofiler_create_counter_config(device, chosen, 3, &config));
	MUST(rocprofiler_configure_device_counting_service(context, buffer, device, choose, NULL));
	log_line("again %d", rocprofiler_configure_device_counting_service(context, buffer, device,
									   choose, NULL));
	log_line("before %d",
		 rocprofiler_sample_device_counting_service(context, 7, 0, NULL, NULL));
	log_line("started %d", rocprofiler_start_context(context));
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	rocprofiler_start_context(context);
	__atomic_store_n(&is_over, 0, __ATOMIC_RELAXED);
	log_line("attach %d", pthread_create(&thread, NULL, watch, NULL));
	return 0;
}

static void detach(void *data)
{
	(void)data;
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	log_line("detach");
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "device";
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
