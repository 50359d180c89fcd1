/*
 * Calls the register library in one way a run, and checks the answers: probe SCENARIO.  Exit 0 when
 * all were right.  What a profiler saw is in the log of recording_sdk.c, for the driver to read.
 */
#include <rocprofiler-register/correlation.h>
#include <rocprofiler-register/rocprofiler-register.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compat/register/private.h"

#define THREADS 16
#define NAMES   10

static const char *const names[NAMES] = { "hsa",     "hip",       "roctx",   "hip_compiler",
					  "rccl",    "rocdecode", "rocjpeg", "rocattach",
					  "hipFile", "rocshmem" };
static int failures;

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);             \
		}                                                                       \
	} while (0)

static uint32_t import_of_probe(void)
{
	return 1;
}

/* Registers one table of its own; the name is on the stack and gone afterwards. */
static int add(const char *name, uint64_t *ret_handle)
{
	static void *table[4];
	void *tables[] = { table };
	rocprofiler_register_library_indentifier_t id = { UINT64_MAX };
	char copy[32];
	int code;

	snprintf(copy, sizeof(copy), "%s", name);
	code = (int)rocprofiler_register_library_api_table(copy, import_of_probe, 60200, tables, 1,
							   &id);
	memset(copy, 'x', sizeof(copy));
	tables[0] = NULL;
	if (ret_handle)
		*ret_handle = id.handle;
	return code;
}

/* What an iteration told, as a text. */
static char told[2048];
static int told_limit = 1000;

static int tell(rocprofiler_register_registration_info_t *info, void *data)
{
	size_t length = strlen(told);

	CHECK(info->size == sizeof(*info) && sizeof(*info) == 32);
	CHECK(data == told);
	snprintf(told + length, sizeof(told) - length, "%s %u %lu;", info->common_name,
		 info->lib_version, (unsigned long)info->api_table_length);
	return --told_limit == 0;
}

static void strings(void)
{
	static const char *const words[] = {
		"Success",
		"rocprofiler-register found no tools",
		"rocprofiler-register deadlocked",
		"Library passed an invalid number of API tables",
		"Library's API is not supported",
		"Invalid API address (secure mode enabled)",
		"Unspecified rocprofiler-register error",
		"Too many instances of the same library API were registered",
		"rocprofiler-register API function was provided an invalid argument",
		"rocprofiler-register attach was invoked, but the attachment library was never loaded.",
	};

	CHECK(ROCP_REG_ERROR_CODE_END == 10);
	for (int i = 0; i < 10; i++)
		CHECK(!strcmp(rocprofiler_register_error_string(i), words[i]));
	for (int i = -1; i < 200; i += i < 0 ? 11 : 63)
		CHECK(!strcmp(rocprofiler_register_error_string(i),
			      "rocprofiler_register_unknown_error"));
}

/* Every name, its handle, and what is remembered of it. */
static void every_name(void)
{
	uint64_t handle;

	for (unsigned i = 0; i < NAMES; i++) {
		CHECK(add(names[i], &handle) == ROCP_REG_NO_TOOLS);
		CHECK(handle == 8 * i);
	}
	CHECK(rocprofiler_register_iterate_registration_info(tell, told) == ROCP_REG_SUCCESS);
	CHECK(!strncmp(told, "hsa 60200 1;hip 60200 1;roctx 60200 1;hip_compiler 60200 1;", 59));
	CHECK(strstr(told, "hipFile 60200 1;rocshmem 60200 1;"));
	told[0] = 0;
	told_limit = 2;
	rocprofiler_register_iterate_registration_info(tell, told);
	CHECK(!strcmp(told, "hsa 60200 1;hip 60200 1;"));
	CHECK(rocprofiler_register_iterate_registration_info(NULL, told) ==
	      ROCP_REG_INVALID_ARGUMENT);
	CHECK(rocprofiler_register_invoke_all_registrations() == ROCP_REG_NO_TOOLS);
	CHECK(rocprofiler_register_invoke_nonpropagated_registrations() == ROCP_REG_NO_TOOLS);
	CHECK(rocprofiler_register_invoke_prestore_loads() == ROCP_REG_SUCCESS);
}

static void bad_arguments(void)
{
	void *tables[32] = { tables };
	rocprofiler_register_library_indentifier_t id = { 77 };

#define REGISTER(name, list, count, ret) \
	((int)rocprofiler_register_library_api_table(name, import_of_probe, 1, list, count, ret))
	CHECK(REGISTER("hip", tables, 0, &id) == ROCP_REG_BAD_API_TABLE_LENGTH);
	CHECK(REGISTER("hip", tables, UINT64_MAX, &id) == ROCP_REG_BAD_API_TABLE_LENGTH);
	CHECK(REGISTER("cuda", tables, 1, &id) == ROCP_REG_UNSUPPORTED_API);
	CHECK(REGISTER("", tables, 1, &id) == ROCP_REG_UNSUPPORTED_API);
	CHECK(REGISTER(NULL, tables, 1, &id) == ROCP_REG_INVALID_ARGUMENT);
	CHECK(REGISTER("hip", NULL, 1, &id) == ROCP_REG_INVALID_ARGUMENT);
	CHECK(REGISTER("hip", tables, 1, NULL) == ROCP_REG_INVALID_ARGUMENT);
	CHECK(id.handle == 77);
	rocprofiler_register_iterate_registration_info(tell, told);
	CHECK(!told[0]);
	CHECK(rocprofiler_register_runtime_tool_activation_callback("hip", NULL, NULL) ==
	      ROCP_REG_INVALID_ARGUMENT);
}

static void too_many(void)
{
	uint64_t handle;

	for (unsigned i = 0; i < 8; i++) {
		CHECK(add("hip", &handle) == ROCP_REG_NO_TOOLS);
		CHECK(handle == 8 + i);
	}
	for (unsigned i = 0; i < 3; i++)
		CHECK(add("hip", &handle) == ROCP_REG_EXCESS_API_INSTANCES);
	CHECK(add("roctx", &handle) == ROCP_REG_NO_TOOLS && handle == 16);
}

/* With ROCPROFILER_REGISTER_ENABLED=0. */
static void disabled(void)
{
	CHECK(add("hip", NULL) == ROCP_REG_NO_TOOLS);
	rocprofiler_register_iterate_registration_info(tell, told);
	CHECK(!told[0]);
}

/* With ROCPROFILER_REGISTER_SECURE=1: this program is none of the libraries. */
static void secure(void)
{
	void *tables[] = { tables };
	rocprofiler_register_library_indentifier_t id;

	CHECK(add("hip", NULL) == ROCP_REG_INVALID_API_ADDRESS);
	CHECK(rocprofiler_register_library_api_table("hip", NULL, 1, tables, 1, &id) ==
	      ROCP_REG_INVALID_API_ADDRESS);
	CHECK(rocprofiler_register_library_api_table(
		      "hip", (rocprofiler_register_import_func_t)(uintptr_t)8, 1, tables, 1, &id) ==
	      ROCP_REG_INVALID_API_ADDRESS);
	rocprofiler_register_iterate_registration_info(tell, told);
	CHECK(!told[0]);
}

static pthread_barrier_t barrier;
static uint8_t was_given[NAMES * 8];

static void *add_five(void *argument)
{
	uintptr_t me = (uintptr_t)argument;

	pthread_barrier_wait(&barrier);
	for (uintptr_t i = 0; i < 5; i++) {
		uint64_t handle;
		int code = add(names[(me * 5 + i) % NAMES], &handle);

		CHECK(code == ROCP_REG_NO_TOOLS || code == ROCP_REG_SUCCESS);
		CHECK(handle < sizeof(was_given) &&
		      !__atomic_exchange_n(&was_given[handle], 1, __ATOMIC_RELAXED));
	}
	return NULL;
}

/* 80 registrations by 16 threads fill all slots, each once; with or without a profiler. */
static void at_once(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, add_five, (void *)i));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < sizeof(was_given); i++)
		CHECK(was_given[i]);
	CHECK(add("hsa", NULL) == ROCP_REG_EXCESS_API_INSTANCES);
}

static int announced;
static int announced_mode;

static void on_activation(rocprofiler_register_tool_activation_mode_t mode, void *data)
{
	CHECK(data == &announced);
	announced_mode = (int)mode;
	announced++;
}

static void ask_for_activation(void)
{
	for (int i = 0; i < 2; i++)
		CHECK(rocprofiler_register_runtime_tool_activation_callback(
			      "probe", on_activation, &announced) == ROCP_REG_SUCCESS);
}

/* A tool is there from the start, by the environment or because it is visible. */
static void with_tool(void)
{
	const char *tool = getenv("PROBE_TOOL");
	uint64_t handle;

	if (tool)
		CHECK(dlopen(tool, RTLD_NOW | RTLD_GLOBAL));
	ask_for_activation();
	CHECK(!announced);
	CHECK(add("hsa", &handle) == ROCP_REG_SUCCESS && handle == 0);
	CHECK(add("hip", &handle) == ROCP_REG_SUCCESS && handle == 8);
	CHECK(announced == 1 && announced_mode == ROCP_REG_TOOL_ACTIVATION_STARTUP);
	ask_for_activation();
	CHECK(announced == 1);
	CHECK(rocprofiler_register_runtime_tool_activation_callback(
		      NULL, on_activation, &announced) == ROCP_REG_SUCCESS);
	CHECK(announced == 2);
	CHECK(rocprofiler_register_invoke_nonpropagated_registrations() == ROCP_REG_SUCCESS);
	CHECK(rocprofiler_register_invoke_all_registrations() == ROCP_REG_SUCCESS);
}

/* The environment wants a profiler that is not there. */
static void without_sdk(void)
{
	CHECK(add("hsa", NULL) == ROCP_REG_NO_TOOLS);
	rocprofiler_register_iterate_registration_info(tell, told);
	CHECK(!strcmp(told, "hsa 60200 1;"));
	CHECK(rocprofiler_register_attach(NULL, "a.so") == ROCP_REG_NO_TOOLS);
	CHECK(rocprofiler_register_detach() == ROCP_REG_NO_TOOLS);
}

static void refused(void)
{
	CHECK(add("hsa", NULL) == ROCP_REG_ROCPROFILER_ERROR);
	CHECK(add("hip", NULL) == ROCP_REG_ROCPROFILER_ERROR);
	CHECK(rocprofiler_register_invoke_nonpropagated_registrations() ==
	      ROCP_REG_ROCPROFILER_ERROR);
}

/* The profiler registers "roctx" while it is handed "hsa". */
static void from_inside(void)
{
	CHECK(add("hsa", NULL) == ROCP_REG_SUCCESS);
	rocprofiler_register_iterate_registration_info(tell, told);
	CHECK(!strcmp(told, "hsa 60200 1;roctx 1 1;"));
	CHECK(add("hip", NULL) == ROCP_REG_SUCCESS);
}

static void *add_one(void *name)
{
	return (void *)(intptr_t)add(name, NULL);
}

/* The profiler takes 300 ms for each table: others register meanwhile. */
static void meanwhile(void)
{
	pthread_t threads[2];
	void *code;

	CHECK(!pthread_create(&threads[0], NULL, add_one, (void *)(uintptr_t) "hsa"));
	usleep(100000);
	CHECK(!pthread_create(&threads[1], NULL, add_one, (void *)(uintptr_t) "hip"));
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(threads[i], &code);
		CHECK((intptr_t)code == ROCP_REG_SUCCESS);
	}
}

static const char variables[] = "\2\0\0\0ROCPROF_A\0one\0ROCP_EMPTY\0\0";

static void attach(void)
{
	char reason[64] = "";

	ask_for_activation();
	CHECK(add("hsa", NULL) == ROCP_REG_NO_TOOLS);
	CHECK(rocprofiler_register_invoke_reattach() == ROCP_REG_NO_TOOLS);
	CHECK(rocprofiler_register_detach() == ROCP_REG_NO_TOOLS);
	CHECK(!announced);
	CHECK(rocprofiler_register_attach(variables, "a.so:b.so") == ROCP_REG_SUCCESS);
	CHECK(announced == 1 && announced_mode == ROCP_REG_TOOL_ACTIVATION_ATTACH);
	CHECK(add("hip", NULL) == ROCP_REG_SUCCESS); /* at once, while attached */
	CHECK(rocprofiler_register_detach() == ROCP_REG_SUCCESS);
	CHECK(rocprofiler_register_invoke_reattach() == ROCP_REG_SUCCESS);
	rocprofiler_call_client_detach();
	rocprofiler_call_client_reattach();
	CHECK(rocprofiler_register_detach() == ROCP_REG_SUCCESS);
	CHECK(rocprofiler_register_attach(NULL, "other.so") == ROCP_REG_SUCCESS);
	CHECK(rocprofiler_register_detach() == ROCP_REG_SUCCESS);
	CHECK(limpet_register_reason(reason, sizeof(reason)) == 0);
	CHECK(announced == 1);
}

static void *attach_one(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)rocprofiler_register_attach(NULL, "a.so");
}

/* An attach lasts 300 ms. */
static void attach_at_once(void)
{
	pthread_t threads[2];
	void *code;

	for (unsigned i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, attach_one, NULL));
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(threads[i], &code);
		CHECK((intptr_t)code == ROCP_REG_SUCCESS);
	}
}

static void attach_refused(void)
{
	const char *code = getenv("PROBE_CODE");
	char reason[64] = "";

	CHECK(code && (int)rocprofiler_register_attach(NULL, "a.so") == atoi(code));
	CHECK(limpet_register_reason(reason, sizeof(reason)) == 21);
	CHECK(!strcmp(reason, "the recording refuses"));
}

/* With ROCP_TOOL_ATTACH=0 or an older name of it. */
static void attach_off(void)
{
	CHECK(rocprofiler_register_attach(NULL, "a.so") == ROCP_REG_ATTACHMENT_NOT_AVAILABLE);
	CHECK(rocprofiler_register_invoke_reattach() == ROCP_REG_ATTACHMENT_NOT_AVAILABLE);
	CHECK(rocprofiler_register_detach() == ROCP_REG_ATTACHMENT_NOT_AVAILABLE);
}

/* The last page that can be read, with these bytes at its end. */
static const char *at_the_edge(const void *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE))
		_exit(98);
	memcpy(memory + page - size, bytes, size);
	return memory + page - size;
}

#define BAD(environment, tools) \
	CHECK(rocprofiler_register_attach(environment, tools) == ROCP_REG_INVALID_ARGUMENT)

static void garbage(void)
{
	size_t much = 64 << 20;
	char *endless = mmap(NULL, much, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	BAD(NULL, NULL);
	BAD(NULL, "");
	BAD(NULL, ":, :");
	BAD((const char *)8, "a.so");
	BAD(NULL, (const char *)8);
	BAD((const char *)UINTPTR_MAX, "a.so");
	BAD(NULL, at_the_edge("abc", 3));
	BAD(at_the_edge("\1\0", 2), "a.so");                         /* half a count */
	BAD(at_the_edge("\1\0\0\0ROCP_A\0b", 12), "a.so");           /* a value without an end */
	BAD(at_the_edge("\2\0\0\0ROCP_A\0b\0", 13), "a.so");         /* one pair of two */
	BAD(at_the_edge("\377\377\377\377ROCP_A\0b\0", 13), "a.so"); /* four thousand million */
	BAD("\1\0\0\0\0value\0", "a.so");                            /* no name */
	BAD("\1\0\0\0A=B\0value\0", "a.so");
	memset(endless, 'x', 4u << 20);
	BAD(NULL, endless);
	memcpy(endless, "\377\377\377\177", 4);
	BAD(endless, "a.so");
	CHECK(rocprofiler_register_attach(at_the_edge("\1\0\0\0ROCP_A\0b\0", 13), "a.so") ==
	      ROCP_REG_SUCCESS);
	CHECK(rocprofiler_register_attach(at_the_edge("\0\0\0\0", 4), "a.so") == ROCP_REG_SUCCESS);
}

static int taken;

static int take(const char *name, uint64_t version, uint64_t instance, void **tables,
		uint64_t count, void *data)
{
	CHECK(version == 60200 && instance == 0 && count == 1 && tables[0] && data == &taken);
	taken++;
	return !strcmp(name, "roctx");
}

static void each(void)
{
	CHECK(limpet_register_each(take, &taken) == 0 && taken == 0);
	add("hsa", NULL);
	add("roctx", NULL);
	add("hip", NULL);
	CHECK(limpet_register_each(take, &taken) == 1 && taken == 3); /* roctx was refused */
	CHECK(limpet_register_each(take, &taken) == 1 && taken == 6); /* all, every time */
}

static void *set_words(void *unused)
{
	CHECK(!rocp_reg_active_corr_id && !rocp_reg_auto_depth_ && !rocp_reg_auto_stack_[31]);
	rocp_reg_active_corr_id = 7;
	rocp_reg_auto_stack_[31] = 8;
	rocp_reg_auto_depth_ = 9;
	return unused;
}

static void thread_words(void)
{
	pthread_t thread;

	set_words(NULL);
	CHECK(!pthread_create(&thread, NULL, set_words, NULL));
	pthread_join(thread, NULL);
	CHECK(rocp_reg_active_corr_id == 7 && sizeof(rocp_reg_auto_stack_) == 256);
}

/* A child of fork goes on by itself, also when the parent was in the middle of something. */
static void forks(void)
{
	pthread_t thread;
	int status;
	pid_t child;

	CHECK(!pthread_create(&thread, NULL, add_one, (void *)(uintptr_t) "hsa"));
	for (unsigned i = 0; i < 60000 && !told[0]; i++) {
		usleep(1000);
		rocprofiler_register_iterate_registration_info(tell, told);
	}
	told[0] = 0;
	usleep(50000); /* "hsa" is being handed over now */
	child = fork();
	if (!child) {
		alarm(60);
		CHECK(add("hip", NULL) == ROCP_REG_SUCCESS);
		CHECK(rocprofiler_register_invoke_all_registrations() == ROCP_REG_SUCCESS);
		rocprofiler_register_iterate_registration_info(tell, told);
		CHECK(!strcmp(told, "hsa 60200 1;hip 60200 1;"));
		_exit(failures != 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	pthread_join(thread, NULL);
}

/* For a driver that looks from outside: prints its process number, then lives until stdin ends. */
static void stay(void)
{
	char byte;

	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) == 1)
		if (byte == 'c')
			close_range(3, ~0u, 0);
		else if (byte == 'f' && fork() == 0)
			for (;;)
				pause();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
#define SCENARIO(name)      \
	{                   \
#name, name \
	}
	SCENARIO(strings),        SCENARIO(every_name),  SCENARIO(bad_arguments),
	SCENARIO(too_many),       SCENARIO(disabled),    SCENARIO(secure),
	SCENARIO(at_once),        SCENARIO(with_tool),   SCENARIO(without_sdk),
	SCENARIO(refused),        SCENARIO(from_inside), SCENARIO(meanwhile),
	SCENARIO(attach),         SCENARIO(attach_off),  SCENARIO(attach_refused),
	SCENARIO(attach_at_once), SCENARIO(garbage),     SCENARIO(each),
	SCENARIO(thread_words),   SCENARIO(forks),       SCENARIO(stay),
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (argc == 2 && !strcmp(argv[1], scenarios[i].name)) {
			scenarios[i].run();
			return failures != 0;
		}
	fprintf(stderr, "usage: probe SCENARIO\n");
	return 2;
}
