/*
 * A tool that counts single kernels, through a callback, or with SDK_BUFFERED through a buffer:
 * what it is asked, and what it gets.  Does what the file that SDK_SAMPLE names says, and then
 * removes it.
 *
 *   SDK_LATE        makes its config when it is first asked, as AMD's samples do
 *   SDK_ODD         wants nothing of every second kernel
 *   SDK_SWITCH      makes a second config, which it takes after the word "switch"
 *   SDK_ROUND=N     makes a second config, and takes both in turn, each for N kernels
 *   SDK_BUFFER=N    its buffer has so many bytes, and not 4096
 *   SDK_PUSH        pushes each thread's number as an external id for it
 *   SDK_STUCK       does not come back from what its buffer calls
 *   SDK_SLOW=N      takes so many milliseconds for each record
 */
#include "sdk_tool.h"

#include <dirent.h>
#include <fcntl.h>
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

typedef struct {
	uint64_t size;
	handle_t agent, queue;
	uint64_t kernel, dispatch;
	uint32_t private_bytes, group_bytes;
	uint32_t workgroup[3], grid[3];
	uint8_t reserved[56];
} dispatch_info_t;

typedef struct {
	uint64_t size, internal, external, start, end;
	dispatch_info_t info;
} dispatch_data_t;

typedef struct {
	uint64_t size, count, internal, external, start, end;
	dispatch_info_t info;
} dispatch_record_t;

typedef void dispatch_t(dispatch_data_t data, handle_t *config, uint64_t *user_data, void *args);
typedef void dispatch_records_t(dispatch_data_t data, counter_record_t *records, size_t count,
				uint64_t user_data, void *args);
typedef int counters_t(handle_t agent, handle_t *counters, size_t count, void *data);

int rocprofiler_iterate_agent_supported_counters(handle_t agent, counters_t *callback, void *data);
int rocprofiler_query_counter_info(handle_t counter, int version, void *ret);
int rocprofiler_query_record_counter_id(uint64_t id, handle_t *ret);
int rocprofiler_create_counter_config(handle_t agent, handle_t *counters, size_t count,
				      handle_t *ret);
int rocprofiler_destroy_counter_config(handle_t config);
int rocprofiler_configure_callback_dispatch_counting_service(handle_t context, dispatch_t *choose,
							     void *choose_args,
							     dispatch_records_t *record,
							     void *record_args);
int rocprofiler_configure_buffer_dispatch_counting_service(handle_t context, handle_t buffer,
							   dispatch_t *choose, void *choose_args);
int rocprofiler_configure_device_counting_service(handle_t context, handle_t buffer, handle_t agent,
						  void *choose, void *data);

#define CATEGORY  3
#define HEADER    1
#define VALUE     2
#define GLANCE_US 1000
#define USER_DATA 1000

enum { WAVES, HITS, WANTED };
static const char *const wanted[WANTED] = { "SQ_WAVES", "TCC_HIT_sum" };
static handle_t context, second, buffer, device, config, other, chosen[WANTED];
static pthread_t thread;
static int is_over, is_switched;
static unsigned asked;
static dispatch_record_t header; /* the last one of the buffer */

static const char *name_of(uint64_t record)
{
	handle_t counter = { 0 };
	info_t info;

	MUST(rocprofiler_query_record_counter_id(record, &counter));
	MUST(rocprofiler_query_counter_info(counter, 1, &info));
	return info.name;
}

/* All places added up, and how many they were. */
static void show(const char *word, const dispatch_info_t *info, const counter_record_t *records,
		 size_t count, uint64_t user_data)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		sum += records[i].value;
		if (records[i].dispatch != info->dispatch || records[i].user_data != user_data ||
		    records[i].agent.handle != info->agent.handle)
			log_line("wrong record of %lu", (unsigned long)info->dispatch);
	}
	log_line("%s %lu kernel %lu grid %u %s %.0f places %zu data %lu", word,
		 (unsigned long)info->dispatch, (unsigned long)info->kernel, info->grid[0],
		 count ? name_of(records[0].id) : "-", sum, count, (unsigned long)user_data);
}

static void on_records(dispatch_data_t data, counter_record_t *records, size_t count,
		       uint64_t user_data, void *args)
{
	if (args != &config || data.size != sizeof(data))
		log_line("wrong arguments");
	if (getenv("SDK_SLOW"))
		usleep(1000 * (useconds_t)atoi(getenv("SDK_SLOW")));
	show("record", &data.info, records, count, user_data);
	if (getenv("SDK_PUSH"))
		log_line("external %lu grid %u", (unsigned long)data.external, data.info.grid[0]);
}

static void on_buffer(handle_t of, handle_t from, header_t **headers, size_t count, void *data,
		      uint64_t drops)
{
	(void)of, (void)from, (void)data;
	while (getenv("SDK_STUCK"))
		pause();
	for (size_t i = 0; i < count; i++) {
		if (headers[i]->category != CATEGORY)
			log_line("wrong category %u", headers[i]->category);
		if (headers[i]->kind == HEADER)
			header = *(dispatch_record_t *)headers[i]->payload;
		else
			show("buffered", &header.info, headers[i]->payload, 1,
			     ((counter_record_t *)headers[i]->payload)->user_data);
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
		for (size_t j = 0; j < WANTED; j++)
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

/* While HSA is down it tells no devices: then it wants nothing. */
static void make_configs(void)
{
	if (!device.handle)
		return;
	MUST(rocprofiler_create_counter_config(device, &chosen[WAVES], 1, &config));
	if (getenv("SDK_SWITCH") || getenv("SDK_ROUND"))
		MUST(rocprofiler_create_counter_config(device, &chosen[HITS], 1, &other));
}

static handle_t choose_config(unsigned number)
{
	const char *round = getenv("SDK_ROUND");
	int is_other = round ? (int)((number - 1) / (unsigned)atoi(round) % 2)
			     : __atomic_load_n(&is_switched, __ATOMIC_RELAXED);

	return is_other ? other : config;
}

static void choose(dispatch_data_t data, handle_t *ret, uint64_t *user_data, void *args)
{
	unsigned number = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);

	if (!device.handle)
		return;
	if (args != &device || data.size != sizeof(data) ||
	    data.info.agent.handle != device.handle || ret->handle)
		log_line("wrong question");
	log_line("asked %lu kernel %lu grid %u", (unsigned long)data.info.dispatch,
		 (unsigned long)data.info.kernel, data.info.grid[0]);
	if (!config.handle)
		make_configs();
	*user_data = data.info.dispatch + USER_DATA;
	if (!getenv("SDK_ODD") || number % 2)
		*ret = choose_config(number);
}

static void stop_and_start(void)
{
	MUST(rocprofiler_stop_context(context));
	log_line("restarted %d", rocprofiler_start_context(context));
}

static void start_second(void)
{
	log_line("second %d", rocprofiler_start_context(second));
}

static void switch_config(void)
{
	__atomic_xor_fetch(&is_switched, 1, __ATOMIC_RELAXED);
}

static const struct {
	const char *word;
	void (*act)(void);
} acts[] = { { "restart", stop_and_start },
	     { "second", start_second },
	     { "switch", switch_config } };

static void obey(const char *path)
{
	char word[16] = { 0 };
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, word, sizeof(word) - 1);

	if (file >= 0)
		close(file);
	if (length <= 0)
		return;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].word, word))
			acts[i].act();
	unlink(path);
}

static void *watch(void *data)
{
	const char *path = getenv("SDK_SAMPLE");

	(void)data;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		usleep(GLANCE_US);
		if (path)
			obey(path);
	}
	return NULL;
}

static size_t buffer_size(void)
{
	return getenv("SDK_BUFFER") ? (size_t)atoi(getenv("SDK_BUFFER")) : 4096;
}

static void push_threads(void)
{
	DIR *list = opendir("/proc/self/task");
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (atoi(entry->d_name))
			MUST(rocprofiler_push_external_correlation_id(
				context, (uint64_t)atoi(entry->d_name),
				(uint64_t)atoi(entry->d_name)));
	if (list)
		closedir(list);
}

static int configure_service(handle_t of)
{
	return getenv("SDK_BUFFERED") ? rocprofiler_configure_buffer_dispatch_counting_service(
						of, buffer, choose, &device)
				      : rocprofiler_configure_callback_dispatch_counting_service(
						of, choose, &device, on_records, &config);
}

static int initialize(void (*finalize)(client_t), void *data)
{
	(void)finalize, (void)data;
	/* It may have been finalized before, and have stayed. */
	context = second = buffer = device = config = other = (handle_t){ 0 };
	MUST(rocprofiler_query_available_agents(1, take_agents, 312, NULL));
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_context(&second));
	MUST(rocprofiler_create_buffer(context, buffer_size(), buffer_size() / 2, POLICY_LOSSLESS,
				       on_buffer, NULL, &buffer));
	MUST(configure_service(context));
	MUST(configure_service(second));
	log_line("again %d", configure_service(context));
	if (!getenv("SDK_LATE"))
		make_configs();
	if (getenv("SDK_PUSH"))
		push_threads();
	log_line("started %d", rocprofiler_start_context(context));
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	log_line("attached %d", rocprofiler_start_context(context));
	__atomic_store_n(&is_over, 0, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, watch, NULL))
		log_line("wrong thread");
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
	client->name = "dispatch";
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
