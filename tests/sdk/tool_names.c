/*
 * A tool that asks for everything that can be asked: names, texts, agents, and what is not served.
 */
#include "sdk_tool.h"

#include <string.h>

int rocprofiler_iterate_callback_tracing_kinds(int (*callback)(int, void *), void *data);
int rocprofiler_iterate_buffer_tracing_kinds(int (*callback)(int, void *), void *data);
int rocprofiler_iterate_callback_tracing_kind_operations(int kind,
							 int (*callback)(int, int, void *),
							 void *data);
int rocprofiler_iterate_buffer_tracing_kind_operations(int kind, int (*callback)(int, int, void *),
						       void *data);
int rocprofiler_query_buffer_tracing_kind_name(int kind, const char **name, uint64_t *length);
int rocprofiler_query_intercept_table_name(int table, const char **name, uint64_t *length);
int rocprofiler_query_external_correlation_id_request_kind_name(int kind, const char **name,
								uint64_t *length);
int rocprofiler_configure_pc_sampling_service(handle_t context, handle_t agent, int method,
					      int unit, uint64_t interval, handle_t buffer,
					      int flags);
int rocprofiler_iterate_agent_supported_counters(handle_t agent, void *callback, void *data);
int rocprofiler_configure_device_thread_trace_service(handle_t context, handle_t agent,
						      void *parameters, size_t count,
						      void *callback, uint64_t data);
int rocprofiler_create_counter_config(handle_t agent, handle_t *counters, size_t count,
				      handle_t *ret);
void *rocprofiler_ompt_start_tool(unsigned version, const char *runtime);
const char *rocprofiler_get_pc_sampling_instruction_type_name(int type);

static int count_one(int kind, int operation, void *data)
{
	(void)kind, (void)operation;
	++*(unsigned *)data;
	return 0;
}

static int show_callback_kind(int kind, void *data)
{
	const char *name = NULL, *first = "-";
	uint64_t length = 0;
	unsigned count = 0;

	(void)data;
	MUST(rocprofiler_query_callback_tracing_kind_name(kind, &name, &length));
	rocprofiler_iterate_callback_tracing_kind_operations(kind, count_one, &count);
	rocprofiler_query_callback_tracing_kind_operation_name(kind, 0, &first, NULL);
	log_line("callback %d %s %d %u %s", kind, name, strlen(name) == length, count,
		 first ? first : "-");
	return 0;
}

static int show_buffer_kind(int kind, void *data)
{
	const char *name = NULL;
	unsigned count = 0;

	(void)data;
	MUST(rocprofiler_query_buffer_tracing_kind_name(kind, &name, NULL));
	rocprofiler_iterate_buffer_tracing_kind_operations(kind, count_one, &count);
	log_line("buffer %d %s %u", kind, name, count);
	return 0;
}

static int stop_at_three(int kind, void *data)
{
	++*(unsigned *)data;
	return kind == 3;
}

static int show_agents(int version, const void **agents, size_t count, void *data)
{
	(void)data;
	for (size_t i = 0; i < count; i++)
		log_line("agent %d %lu type %u name %s", version, *(const unsigned long *)agents[i],
			 ((const unsigned *)agents[i])[4],
			 *(const char *const *)((const char *)agents[i] + 248));
	log_line("agents %d", count > 0);
	return 0;
}

static void ask_unserved(handle_t context)
{
	handle_t nothing = { 0 };

	log_line("unserved %d %d %d %d",
		 rocprofiler_configure_pc_sampling_service(context, nothing, 1, 1, 1, nothing, 0),
		 rocprofiler_iterate_agent_supported_counters(nothing, NULL, NULL),
		 rocprofiler_configure_device_thread_trace_service(context, nothing, NULL, 0, NULL,
								   0),
		 rocprofiler_create_counter_config(nothing, NULL, 0, &nothing));
	log_line("ompt %d type %s", rocprofiler_ompt_start_tool(1, "") == NULL,
		 rocprofiler_get_pc_sampling_instruction_type_name(1));
}

static void ask_names(void)
{
	const char *name = NULL;
	unsigned visits = 0;

	for (int status = -1; status < 43; status++)
		log_line("status %d %s: %s", status,
			 rocprofiler_get_status_name(status) ? rocprofiler_get_status_name(status)
							     : "-",
			 rocprofiler_get_status_string(status)
				 ? rocprofiler_get_status_string(status)
				 : "-");
	MUST(rocprofiler_iterate_callback_tracing_kinds(show_callback_kind, NULL));
	MUST(rocprofiler_iterate_buffer_tracing_kinds(show_buffer_kind, NULL));
	MUST(rocprofiler_iterate_callback_tracing_kinds(stop_at_three, &visits));
	log_line("visits %u", visits);
	MUST(rocprofiler_query_intercept_table_name(2, &name, NULL));
	log_line("table %s %d", name, rocprofiler_query_intercept_table_name(3, NULL, NULL));
	MUST(rocprofiler_query_external_correlation_id_request_kind_name(11, &name, NULL));
	log_line("request %s", name);
	log_line("refused %d %d %d", rocprofiler_query_callback_tracing_kind_name(99, &name, NULL),
		 rocprofiler_query_callback_tracing_kind_operation_name(HIP_RUNTIME, 9999, &name,
									NULL),
		 rocprofiler_query_callback_tracing_kind_operation_name(0, 1, &name, NULL));
}

static int initialize(void (*finalize)(client_t), void *data)
{
	handle_t context = { 0 }, buffer = { 0 };
	int is_valid = -1;

	(void)finalize, (void)data;
	ask_names();
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_context_is_valid(context, &is_valid));
	log_line("services %d %d %d %d",
		 rocprofiler_configure_callback_tracing_service(context, 99, NULL, 0,
								(callback_t *)&context, NULL),
		 rocprofiler_configure_callback_tracing_service(context, 15, NULL, 0,
								(callback_t *)&context, NULL),
		 rocprofiler_configure_buffer_tracing_service(context, 5, NULL, 0, buffer),
		 rocprofiler_configure_callback_tracing_service((handle_t){ 999 }, 5, NULL, 0,
								(callback_t *)&context, NULL));
	ask_unserved(context);
	log_line("sizes %d %d", rocprofiler_query_available_agents(1, show_agents, 100000, NULL),
		 rocprofiler_query_available_agents(7, show_agents, 312, NULL));
	MUST(rocprofiler_query_available_agents(1, show_agents, 312, NULL));
	log_line("initialized");
	return 0;
}

static void finalize(void *data)
{
	int state = 0;

	(void)data;
	rocprofiler_is_finalized(&state);
	log_line("finalize %d", state);
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, finalize, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "names";
	return &tool;
}
