/*
 * A tool that counts a whole device: does what the file that SDK_SAMPLE names says, and then
 * removes it.  It reads into its own memory and through a buffer.
 */
#include "sdk_tool.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

typedef int queue_create_t(uint64_t agent, uint32_t size, uint32_t type, void *on_fault, void *of,
			   uint32_t private_bytes, uint32_t group_bytes, void *ret);
typedef int counters_t(handle_t agent, handle_t *counters, size_t count, void *data);
typedef int set_config_t(handle_t context, handle_t config);
typedef void choose_t(handle_t context, handle_t agent, set_config_t *set_config, void *data);

int rocprofiler_iterate_agent_supported_counters(handle_t agent, counters_t *callback, void *data);
int rocprofiler_query_counter_info(handle_t counter, int version, void *ret);
int rocprofiler_query_record_counter_id(uint64_t id, handle_t *ret);
int rocprofiler_create_counter_config(handle_t agent, handle_t *counters, size_t count,
				      handle_t *ret);
int rocprofiler_create_counter(const char *name, size_t name_length, const char *expression,
			       size_t expression_length, const char *description,
			       size_t description_length, handle_t agent, handle_t *ret);
int rocprofiler_configure_device_counting_service(handle_t context, handle_t buffer, handle_t agent,
						  choose_t *choose, void *data);
int rocprofiler_sample_device_counting_service(handle_t context, uint64_t user_data, int flags,
					       counter_record_t *records, size_t *count);

#define RECORDS_MAX  256
#define HSA_TABLE    1 /* as it is shown to tools */
#define QUEUE_CREATE 7 /* its entry in HSA's core table */
#define ASYNC        1
#define CATEGORY     3
#define GLANCE_US    1000
#define PAUSE_US     50
#define STALL_US     100000
#define TOGGLES      40
#define READERS      3
#define STATUSES     64
#define TRIES        200
#define TRY_US       20000
#define ERROR        1 /* of a device that was late, which it may be on a busy machine */

enum { TWICE = 3, CHOSEN, WAVES = CHOSEN, WANTED };
static const char *const wanted[WANTED] = { "TCC_HIT_sum", "HIT_SHARE", "GRBM_COUNT", "",
					    "SQ_WAVES" };
static queue_create_t *next_queue_create;
static handle_t context, second, third, buffer, device, config, waves, chosen[WANTED];
static pthread_t thread, readers[READERS];
static unsigned reader_count;
static int is_over, is_stalling, is_leaving;

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

/* Until its context is stopped, and a while longer. */
static void stall(void)
{
	int is_active = 1;

	log_line("stalled");
	while (is_active) {
		usleep(GLANCE_US);
		MUST(rocprofiler_context_is_active(context, &is_active));
	}
	usleep(STALL_US);
	log_line("chosen");
}

static void choose(handle_t of, handle_t agent, set_config_t *set_config, void *data)
{
	(void)data;
	if (__atomic_load_n(&is_stalling, __ATOMIC_RELAXED))
		stall();
	if (__atomic_exchange_n(&is_leaving, 0, __ATOMIC_RELAXED))
		pthread_exit(NULL);
	log_line("choose %d %d unknown %d",
		 of.handle == context.handle || of.handle == second.handle,
		 agent.handle == device.handle, set_config(of, (handle_t){ 60000 }));
	MUST(set_config(of, config));
}

static void choose_waves(handle_t of, handle_t agent, set_config_t *set_config, void *data)
{
	(void)agent, (void)data;
	MUST(set_config(of, waves));
}

/* What would count nothing of the program, but for the driver. */
static void start_waves(void)
{
	int is_active = -1, r;

	MUST(rocprofiler_create_context(&third));
	MUST(rocprofiler_create_counter_config(device, &chosen[WAVES], 1, &waves));
	MUST(rocprofiler_configure_device_counting_service(third, (handle_t){ 0 }, device,
							   choose_waves, NULL));
	r = rocprofiler_start_context(third);
	MUST(rocprofiler_context_is_active(third, &is_active));
	log_line("waves %d %d", r, is_active);
	MUST(rocprofiler_stop_context(third));
}

/* Again, where the device was late. */
static int start_patiently(handle_t which)
{
	int r = rocprofiler_start_context(which);

	for (unsigned i = 0; i < TRIES && r == ERROR; i++) {
		usleep(TRY_US);
		r = rocprofiler_start_context(which);
	}
	return r;
}

static int read_some(handle_t from)
{
	static __thread counter_record_t records[RECORDS_MAX];
	size_t count = RECORDS_MAX;

	return rocprofiler_sample_device_counting_service(from, 1, 0, records, &count);
}

static void show_status(void)
{
	int r = read_some(context);

	log_line("status %d %d", r,
		 rocprofiler_sample_device_counting_service(context, 8, ASYNC, NULL, NULL));
	MUST(rocprofiler_flush_buffer(buffer));
}

/* A device has one set of counters. */
static void start_second(void)
{
	int r = start_patiently(second), is_active = -1;

	MUST(rocprofiler_context_is_active(second, &is_active));
	log_line("second %d %d", r, is_active);
	MUST(rocprofiler_stop_context(context));
	r = start_patiently(second);
	log_line("instead %d %d", r, read_some(second));
	MUST(rocprofiler_stop_context(second));
	MUST(start_patiently(context));
}

static void fork_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		int r = read_some(context), stopped = rocprofiler_stop_context(context);

		log_line("child %d %d %d", r, stopped, rocprofiler_start_context(context));
		_exit(0);
	}
	waitpid(child, &status, 0);
	log_line("forked %d", status);
}

/* The context is stopped and started by this thread, while the others read. */
static void toggle(void)
{
	for (unsigned i = 0; i < TOGGLES; i++) {
		MUST(rocprofiler_stop_context(context));
		MUST(start_patiently(context));
	}
	log_line("toggled");
}

static void stop(void)
{
	MUST(rocprofiler_stop_context(context));
}

static void start(void)
{
	MUST(start_patiently(context));
}

static void *start_and_stall(void *data)
{
	(void)data;
	MUST(rocprofiler_stop_context(context));
	(void)rocprofiler_start_context(context);
	return NULL;
}

/* A thread of the tool's ends inside its callback. */
static void start_and_leave(void)
{
	pthread_t other;

	__atomic_store_n(&is_leaving, 1, __ATOMIC_RELAXED);
	if (pthread_create(&other, NULL, start_and_stall, NULL) || pthread_join(other, NULL))
		log_line("wrong thread");
	log_line("left %d", __atomic_load_n(&is_leaving, __ATOMIC_RELAXED));
}

/* On a thread that nobody waits for. */
static void start_aside(void)
{
	pthread_t other;

	__atomic_store_n(&is_stalling, 1, __ATOMIC_RELAXED);
	if (pthread_create(&other, NULL, start_and_stall, NULL) || pthread_detach(other))
		log_line("wrong thread");
}

static void sample(void)
{
	static counter_record_t records[RECORDS_MAX];
	size_t count = RECORDS_MAX, few = 1;
	int r = rocprofiler_sample_device_counting_service(context, 7, 0, records, &count);

	if (r) {
		log_line("unread %d", r);
		return;
	}
	for (size_t i = 0; i < count; i++)
		show_record("value", &records[i]);
	log_line("refused %d %d %d",
		 rocprofiler_sample_device_counting_service(context, 7, 0, records, &few),
		 rocprofiler_sample_device_counting_service(context, 7, ASYNC, records, &count),
		 rocprofiler_sample_device_counting_service((handle_t){ 63 }, 7, 0, NULL, NULL));
	r = rocprofiler_sample_device_counting_service(context, 8, ASYNC, NULL, NULL);
	if (r)
		log_line("unread %d", r);
	MUST(rocprofiler_flush_buffer(buffer));
	log_line("sampled");
}

static const struct {
	const char *word;
	void (*act)(void);
} acts[] = { { "sample", sample },         { "status", show_status }, { "second", start_second },
	     { "fork", fork_child },       { "stall", start_aside },  { "toggle", toggle },
	     { "leave", start_and_leave }, { "stop", stop },          { "start", start } };

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

/* Reads all the time; what came of it, by status. */
static void *read_on(void *data)
{
	unsigned counts[STATUSES] = { 0 };

	(void)data;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		counts[read_some(context) % STATUSES]++;
		usleep(PAUSE_US);
	}
	for (unsigned i = 0; i < STATUSES; i++)
		if (counts[i])
			log_line("reads %u %u", i, counts[i]);
	return NULL;
}

static int our_queue_create(uint64_t agent, uint32_t size, uint32_t type, void *on_fault, void *of,
			    uint32_t private_bytes, uint32_t group_bytes, void *ret)
{
	return next_queue_create(agent, size, type, on_fault, of, private_bytes, group_bytes, ret);
}

/* Both: {two words, entries}. */
static void on_table(int type, uint64_t version, uint64_t instance, void **tables, uint64_t count,
		     void *data)
{
	queue_create_t **core = ((void **)tables[0])[2];

	(void)type, (void)version, (void)instance, (void)count, (void)data;
	next_queue_create = core[2 + QUEUE_CREATE];
	core[2 + QUEUE_CREATE] = our_queue_create;
	log_line("wrapped");
}

static int initialize(void (*finalize)(client_t), void *data)
{
	(void)finalize, (void)data;
	MUST(rocprofiler_query_available_agents(1, take_agents, 312, NULL));
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_buffer(context, 1 << 16, 1 << 15, POLICY_LOSSLESS, on_records, NULL,
				       &buffer));
	MUST(rocprofiler_create_counter("TWICE", 5, "2*reduce(TCC_HIT,sum)", 21, NULL, 0, device,
					&chosen[TWICE]));
	MUST(rocprofiler_create_counter_config(device, chosen, CHOSEN, &config));
	MUST(rocprofiler_configure_device_counting_service(context, buffer, device, choose, NULL));
	log_line("again %d %d",
		 rocprofiler_configure_device_counting_service(context, buffer, device, choose,
							       NULL),
		 rocprofiler_configure_device_counting_service(context, (handle_t){ 63 }, device,
							       choose, NULL));
	log_line("before %d",
		 rocprofiler_sample_device_counting_service(context, 7, 0, NULL, NULL));
	log_line("started %d", rocprofiler_start_context(context));
	MUST(rocprofiler_create_context(&second));
	MUST(rocprofiler_configure_device_counting_service(second, buffer, device, choose, NULL));
	start_waves();
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	log_line("restarted %d", rocprofiler_start_context(context));
	__atomic_store_n(&is_over, 0, __ATOMIC_RELAXED);
	for (reader_count = 0; getenv("SDK_READERS") && reader_count < READERS; reader_count++)
		pthread_create(&readers[reader_count], NULL, read_on, NULL);
	log_line("attach %d", pthread_create(&thread, NULL, watch, NULL));
	return 0;
}

static void detach(void *data)
{
	(void)data;
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < reader_count; i++)
		pthread_join(readers[i], NULL);
	log_line("detach");
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "device";
	if (getenv("SDK_WRAP"))
		MUST(rocprofiler_at_intercept_table_registration(on_table, HSA_TABLE, NULL));
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
