/*
 * A tool that behaves badly, as SDK_HAZARD says: throws, calls the runtime again, blocks,
 * destroys a buffer under its writers or throws while it is initialized.
 */
#include "sdk_tool.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <stdexcept>

extern "C" int hipGetDeviceCount(int *count) __attribute__((weak));
extern "C" void leap_back() __attribute__((weak));

namespace
{
handle_t context, buffer;
const char *hazard = "";
uint64_t calls;
void (*leap_target)() = leap_back;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool is(const char *name)
{
	return !strcmp(hazard, name);
}

void sleep_ms(long ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, nullptr);
}

void on_call(record_t record, uint64_t *user_data, void *data)
{
	(void)user_data, (void)data;
	uint64_t number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);

	if (is("throw") && number % 3 == 0)
		throw std::runtime_error("from a callback");
	/* Out of the call altogether, into the program's own code. */
	if (is("leap") && leap_target && number % 3 == 0)
		leap_target();
	if (is("again") && hipGetDeviceCount) {
		int count = 0;

		hipGetDeviceCount(&count);
	}
	if (is("lock")) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	if (is("block") && record.phase == PHASE_ENTER) {
		if (number == 1)
			log_line("blocked");
		sleep_ms(300);
	}
}

void on_records(handle_t, handle_t, header_t **, size_t, void *, uint64_t)
{
	if (is("throw"))
		throw std::runtime_error("from a buffer");
	if (is("destroy"))
		sleep_ms(50);
}

int on_request(uint64_t, handle_t, int, int, uint64_t, uint64_t *, void *)
{
	throw std::runtime_error("from a request");
}

void on_table(int, uint64_t, uint64_t, void **, uint64_t, void *)
{
	throw std::runtime_error("from a table");
}

void on_thread(int, void *)
{
	throw std::runtime_error("from a thread");
}

int initialize(void (*)(client_t), void *)
{
	if (is("request")) {
		MUST(rocprofiler_at_intercept_table_registration(on_table, 0, nullptr));
		MUST(rocprofiler_at_internal_thread_create(on_thread, on_thread, 0, nullptr));
	}
	if (is("initialize"))
		throw std::runtime_error("from initialize");
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_buffer(context, 1024, 512, POLICY_LOSSLESS, on_records, nullptr,
				       &buffer));
	MUST(rocprofiler_configure_callback_tracing_service(context, HIP_RUNTIME, nullptr, 0,
							    on_call, nullptr));
	MUST(rocprofiler_configure_buffer_tracing_service(context, HIP_RUNTIME, nullptr, 0,
							  buffer));
	if (is("request"))
		MUST(rocprofiler_configure_external_correlation_id_request_service(
			context, nullptr, 0, on_request, nullptr));
	return 0;
}

void *destroy_later(void *)
{
	int status;

	sleep_ms(100);
	do
		status = rocprofiler_destroy_buffer(buffer);
	while (status == 14);
	log_line("destroyed %d", status);
	return nullptr;
}

int attach(void (*)(client_t), handle_t *, uint64_t, void *)
{
	pthread_t thread;

	MUST(rocprofiler_start_context(context));
	if (is("destroy"))
		pthread_create(&thread, nullptr, destroy_later, nullptr);
	return 0;
}

void detach(void *)
{
	log_line("detach calls %lu", (unsigned long)calls);
}
} // namespace

extern "C" EXPORT tool_t *rocprofiler_configure(uint32_t, const char *, uint32_t, client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, nullptr, nullptr };

	hazard = getenv("SDK_HAZARD") ? getenv("SDK_HAZARD") : "";
	client->name = "hazards";
	return &tool;
}

extern "C" EXPORT tool_attach_t *rocprofiler_configure_attach(uint32_t, const char *, uint32_t,
							      client_t *)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, nullptr };

	return &tool;
}
