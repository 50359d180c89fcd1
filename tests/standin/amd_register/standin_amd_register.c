/*
 * STAND-IN, for tests only, of AMD's own librocprofiler-register.so.0, written from the documented
 * contract: it remembers tables when there is no tool, passes them on when a tool is visible or the
 * environment asks for one, keeps the profiler that it has found once, and refuses to attach unless
 * ROCP_TOOL_ATTACH was set when the HSA runtime registered.  Like the real one it ends the program
 * where it cannot go on: a test that gets it there sees it.
 */
#include <rocprofiler-register/rocprofiler-register.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT    __attribute__((visibility("default")))
#define INSTANCES 8
#define PARTS_MAX 8
#define SDK_NAME  "librocprofiler-sdk.so"

typedef int take_function(const char *name, uint64_t version, uint64_t instance, void **tables,
			  uint64_t count);
typedef int client_function(void);

static const char *const names[] = { "hsa",  "hip",       "roctx",   "hip_compiler",
				     "rccl", "rocdecode", "rocjpeg", "rocattach" };
#define NAMES (sizeof(names) / sizeof(names[0]))

static struct entry {
	const char *name; /* the caller's own, not copied */
	uint64_t version, instance, count;
	void *tables[PARTS_MAX];
	bool is_passed;
} entries[NAMES * INSTANCES];
static size_t entry_count;
static unsigned asked;
static uint64_t instances[NAMES];
static char *attached; /* the tools of the first attach */
static void *sdk;      /* the library that tables are passed to, once it was found */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_inside;

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0");
}

static take_function *load_sdk(void)
{
	const char *name = is_set("ROCPROFILER_REGISTER_LIBRARY")
				   ? getenv("ROCPROFILER_REGISTER_LIBRARY")
				   : SDK_NAME;
	void *handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
	void *function = NULL;

	if (!handle)
		handle = dlopen(name, RTLD_GLOBAL | RTLD_LAZY);
	if (handle)
		function = dlsym(handle, "rocprofiler_set_api_table");
	if (!function)
		abort(); /* as the real one does */
	sdk = handle;
	return (take_function *)function;
}

/* The profiler, if there is a tool for it. */
static take_function *scan(void)
{
	bool is_forced = is_set("ROCPROFILER_REGISTER_FORCE_LOAD") ||
			 is_set("ROCP_TOOL_LIBRARIES") || is_set("ROCPROFILER_REGISTER_LIBRARY");
	void *visible = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");

	if (sdk)
		return (take_function *)dlsym(sdk, "rocprofiler_set_api_table");
	if (!is_forced && !dlsym(RTLD_DEFAULT, "rocprofiler_configure"))
		return NULL;
	return visible ? (take_function *)visible : load_sdk();
}

static rocprofiler_register_error_code_t pass(struct entry *entry)
{
	take_function *take = scan();

	if (!take)
		return ROCP_REG_NO_TOOLS;
	if (take(entry->name, entry->version, entry->instance, entry->tables, entry->count))
		return ROCP_REG_ROCPROFILER_ERROR;
	entry->is_passed = true;
	return ROCP_REG_SUCCESS;
}

static int find_name(const char *name)
{
	for (size_t i = 0; i < NAMES; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

/* STANDIN_NAMES: "kept", the caller's own pointer, as the real one; the stand-in runtimes' names
 * are on their stack.  "unmapped": one to memory that has gone.  Else a name that lives on. */
static const char *name_kept(int index, const char *name)
{
	const char *how = getenv("STANDIN_NAMES");
	char *memory;

	if (!how)
		return names[index];
	if (!strcmp(how, "kept"))
		return name;
	memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(memory, 4096);
	return memory;
}

static rocprofiler_register_error_code_t record(int index, const char *name, uint32_t version,
						void **tables, uint64_t count, uint64_t *ret_handle)
{
	struct entry *entry = &entries[entry_count];

	if (instances[index] == INSTANCES)
		return ROCP_REG_EXCESS_API_INSTANCES;
	*entry = (struct entry){
		name_kept(index, name), version, instances[index]++, count, { 0 }, false
	};
	memcpy(entry->tables, tables, count * sizeof(tables[0]));
	entry_count++;
	*ret_handle = INSTANCES * (uint64_t)index + entry->instance;
	return pass(entry);
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* What librocprofiler-sdk-attach.so does when it is there: a table of its own and a thread. */
static void opt_in(void)
{
	void *library = dlopen("librocprofiler-sdk-attach.so", RTLD_LAZY | RTLD_GLOBAL);
	static void *table[12];
	void *tables[] = { table };
	sigset_t all, before;
	pthread_t thread;
	uint64_t handle;

	if (!library)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, wait_for_ever, NULL))
		pthread_setname_np(thread, "rocp-bg-attach");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	record(find_name("rocattach"), "rocattach", 1, tables, 1, &handle);
}

EXPORT rocprofiler_register_error_code_t rocprofiler_register_library_api_table(
	const char *lib_name, rocprofiler_register_import_func_t import_func, uint32_t lib_version,
	void **api_tables, uint64_t api_table_length,
	rocprofiler_register_library_indentifier_t *register_id)
{
	rocprofiler_register_error_code_t code;
	int index = find_name(lib_name);

	(void)import_func;
	if (api_table_length < 1 || api_table_length > PARTS_MAX)
		return ROCP_REG_BAD_API_TABLE_LENGTH;
	if (index < 0)
		return ROCP_REG_UNSUPPORTED_API;
	if (is_inside)
		return ROCP_REG_DEADLOCK;
	is_inside = true;
	pthread_mutex_lock(&lock);
	if (is_set("ROCP_TOOL_ATTACH") && !strcmp(lib_name, "hsa"))
		opt_in();
	code = record(index, lib_name, lib_version, api_tables, api_table_length,
		      &register_id->handle);
	pthread_mutex_unlock(&lock);
	is_inside = false;
	return code;
}

static rocprofiler_register_error_code_t invoke(bool all)
{
	rocprofiler_register_error_code_t code = ROCP_REG_SUCCESS;

	if (is_inside)
		return ROCP_REG_DEADLOCK;
	is_inside = true;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < entry_count && code == ROCP_REG_SUCCESS; i++)
		if (all || !entries[i].is_passed)
			code = pass(&entries[i]);
	pthread_mutex_unlock(&lock);
	is_inside = false;
	return code;
}

EXPORT rocprofiler_register_error_code_t rocprofiler_register_invoke_all_registrations(void)
{
	return invoke(true);
}

EXPORT rocprofiler_register_error_code_t
rocprofiler_register_invoke_nonpropagated_registrations(void)
{
	return invoke(false);
}

EXPORT unsigned standin_amd_asked(void);

/* How often its list was asked for. */
EXPORT unsigned standin_amd_asked(void)
{
	return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}

EXPORT rocprofiler_register_error_code_t rocprofiler_register_iterate_registration_info(
	rocprofiler_register_registration_info_cb_t callback, void *data)
{
	__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < entry_count; i++) {
		rocprofiler_register_registration_info_t info = { sizeof(info), entries[i].name,
								  (uint32_t)entries[i].version,
								  entries[i].count };

		if (callback(&info, data))
			break;
	}
	return ROCP_REG_SUCCESS;
}

static bool has_opted_in(void)
{
	return instances[find_name("rocattach")] != 0;
}

static rocprofiler_register_error_code_t call_client(const char *name)
{
	client_function *function = (client_function *)dlsym(sdk ? sdk : RTLD_DEFAULT, name);

	if (!function)
		return ROCP_REG_NO_TOOLS;
	return function() ? ROCP_REG_ROCPROFILER_ERROR : ROCP_REG_SUCCESS;
}

static void set_environment(const char *buffer, const char *tools)
{
	uint32_t count = 0;

	setenv("ROCPROFILER_REGISTER_TOOL_ATTACHED", "1", 1);
	setenv("ROCP_TOOL_LIBRARIES", tools, 1);
	if (buffer)
		memcpy(&count, buffer, sizeof(count));
	for (const char *at = buffer + sizeof(count); count; count--) {
		const char *value = at + strlen(at) + 1;

		setenv(at, value, 1);
		at = value + strlen(value) + 1;
	}
}

EXPORT rocprofiler_register_error_code_t rocprofiler_register_attach(const char *environment_buffer,
								     const char *tool_lib_path)
{
	rocprofiler_register_error_code_t code = ROCP_REG_SUCCESS;

	if (!tool_lib_path)
		abort(); /* as the real one does */
	if (!has_opted_in())
		return ROCP_REG_ATTACHMENT_NOT_AVAILABLE;
	if (attached && strcmp(attached, tool_lib_path))
		return ROCP_REG_INVALID_ARGUMENT;
	set_environment(environment_buffer, tool_lib_path);
	if (!attached)
		code = invoke(true);
	attached = attached ? attached : strdup(tool_lib_path);
	return code == ROCP_REG_SUCCESS ? call_client("rocprofiler_attach") : code;
}

EXPORT rocprofiler_register_error_code_t rocprofiler_register_detach(void)
{
	if (!has_opted_in())
		return ROCP_REG_ATTACHMENT_NOT_AVAILABLE;
	call_client("rocprofiler_detach");
	return ROCP_REG_SUCCESS;
}
