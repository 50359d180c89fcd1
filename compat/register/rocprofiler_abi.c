/*
 * The exported functions.  Runtimes call them on application threads, attachers and tools on
 * theirs.  They never exit, abort or print, and hold no lock while they call out.
 */
#include "compat/register/activation.h"
#include "compat/register/inprocess.h"
#include "compat/register/private.h"
#include "compat/register/process/loader.h"
#include "compat/register/sdk.h"
#include "compat/register/switches.h"
#include "rocprofiler-register/correlation.h"
#include "shared/base/macros.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The shared thread-local words: runtimes and profilers read them, this library does not. */
__thread uint64_t rocp_reg_active_corr_id;
__thread uint64_t rocp_reg_auto_stack_[ROCP_REG_AUTO_STACK_SIZE];
__thread int rocp_reg_auto_depth_;

/* Whether this thread is inside a call of this library already: a profiler that is handed tables
 * may use a runtime, and that registers. */
static __thread bool is_inside;

struct inside {
	int saved_errno; /* the program's errno: it called another function */
	bool is_first;
};

static struct inside inside_enter(void)
{
	struct inside self = { .saved_errno = errno, .is_first = !is_inside };

	is_inside = true;
	return self;
}

static rocprofiler_register_error_code_t inside_leave(const struct inside *self,
						      rocprofiler_register_error_code_t code)
{
	if (self->is_first)
		is_inside = false;
	errno = self->saved_errno;
	return code;
}

static const char *const error_strings[] = {
	[ROCP_REG_SUCCESS] = "Success",
	[ROCP_REG_NO_TOOLS] = "rocprofiler-register found no tools",
	[ROCP_REG_DEADLOCK] = "rocprofiler-register deadlocked",
	[ROCP_REG_BAD_API_TABLE_LENGTH] = "Library passed an invalid number of API tables",
	[ROCP_REG_UNSUPPORTED_API] = "Library's API is not supported",
	[ROCP_REG_INVALID_API_ADDRESS] = "Invalid API address (secure mode enabled)",
	[ROCP_REG_ROCPROFILER_ERROR] = "Unspecified rocprofiler-register error",
	[ROCP_REG_EXCESS_API_INSTANCES] =
		"Too many instances of the same library API were registered",
	[ROCP_REG_INVALID_ARGUMENT] =
		"rocprofiler-register API function was provided an invalid argument",
	[ROCP_REG_ATTACHMENT_NOT_AVAILABLE] =
		"rocprofiler-register attach was invoked, but the attachment library was never loaded.",
};

const char *rocprofiler_register_error_string(rocprofiler_register_error_code_t code)
{
	return (unsigned)code < ARRAY_SIZE(error_strings) ? error_strings[code]
							  : "rocprofiler_register_unknown_error";
}

/* By the name it was loaded under, or by the file that this leads to. */
static bool comes_from_its_library(int runtime, rocprofiler_register_import_func_t function)
{
	char file[PATH_MAX];
	Dl_info library;

	if (!function || !loader_find_module((void *)(uintptr_t)function, &library) ||
	    !library.dli_fname)
		return false;
	return names_match_file(runtime, library.dli_fname) ||
	       (realpath(library.dli_fname, file) && names_match_file(runtime, file));
}

/* The profiler, with the tools of the start running. */
static bool open_sdk(struct sdk *ret, rocprofiler_register_tool_activation_mode_t *ret_mode)
{
	*ret_mode = ROCP_REG_TOOL_ACTIVATION_ATTACH;
	if (!sdk_is_wanted())
		return sdk_open_ours(ret, /* may_load */ false);
	*ret_mode = ROCP_REG_TOOL_ACTIVATION_STARTUP;
	if (!sdk_open_any(ret))
		return false;
	sdk_run_tools(ret);
	return true;
}

/* Offers new registrations, including this one.  Another thread may be offering it right now. */
static rocprofiler_register_error_code_t pass_new(const struct registration *one)
{
	rocprofiler_register_tool_activation_mode_t mode;
	struct sdk sdk;
	bool is_refused;

	if (!open_sdk(&sdk, &mode))
		return ROCP_REG_NO_TOOLS;
	handover_to(HANDOVER_NEW, &sdk);
	is_refused = registration_state(one) == REGISTRATION_REFUSED;
	sdk_close(&sdk);
	if (is_refused)
		return ROCP_REG_ROCPROFILER_ERROR;
	activation_announce(mode);
	return ROCP_REG_SUCCESS;
}

/* A registration from inside another call is recorded; the outer call hands it over. */
static rocprofiler_register_error_code_t
rocprofiler_abi_record(int runtime, uint32_t version, void **tables, uint64_t count,
		       rocprofiler_register_library_indentifier_t *ret)
{
	struct inside inside = inside_enter();
	struct registration *one;

	if (registry_add(runtime, version, tables, count, &one))
		return inside_leave(&inside, ROCP_REG_EXCESS_API_INSTANCES);
	ret->handle = (uint64_t)runtime * REGISTRY_INSTANCES + one->instance;
	return inside_leave(&inside, inside.is_first ? pass_new(one) : ROCP_REG_DEADLOCK);
}

rocprofiler_register_error_code_t rocprofiler_register_library_api_table(
	const char *lib_name, rocprofiler_register_import_func_t import_func, uint32_t lib_version,
	void **api_tables, uint64_t api_table_length,
	rocprofiler_register_library_indentifier_t *register_id)
{
	int runtime;

	if (!lib_name || !api_tables || !register_id)
		return ROCP_REG_INVALID_ARGUMENT;
	if (api_table_length < 1 || api_table_length > REGISTRY_TABLES)
		return ROCP_REG_BAD_API_TABLE_LENGTH;
	if (!switch_enabled())
		return ROCP_REG_NO_TOOLS;
	runtime = names_find(lib_name);
	if (runtime < 0)
		return ROCP_REG_UNSUPPORTED_API;
	if (switch_secure() && !comes_from_its_library(runtime, import_func))
		return ROCP_REG_INVALID_API_ADDRESS;
	return rocprofiler_abi_record(runtime, lib_version, api_tables, api_table_length,
				      register_id);
}

rocprofiler_register_error_code_t
rocprofiler_register_iterate_registration_info(rocprofiler_register_registration_info_cb_t callback,
					       void *data)
{
	if (!callback)
		return ROCP_REG_INVALID_ARGUMENT;
	for (size_t i = 0; i < registry_count(); i++) {
		const struct registration *one = registry_at(i);
		rocprofiler_register_registration_info_t info = { .size = sizeof(info) };

		if (!one)
			continue;
		info.common_name = one->name;
		info.lib_version = one->version;
		info.api_table_length = one->count;
		if (callback(&info, data))
			break;
	}
	return ROCP_REG_SUCCESS;
}

static rocprofiler_register_error_code_t pass_many(enum handover which)
{
	rocprofiler_register_tool_activation_mode_t mode;
	unsigned refusals;
	struct sdk sdk;

	if (!open_sdk(&sdk, &mode))
		return ROCP_REG_NO_TOOLS;
	refusals = handover_to(which, &sdk);
	sdk_close(&sdk);
	activation_announce(mode);
	return refusals ? ROCP_REG_ROCPROFILER_ERROR : ROCP_REG_SUCCESS;
}

static rocprofiler_register_error_code_t rocprofiler_abi_invoke(enum handover which)
{
	struct inside inside = inside_enter();

	return inside_leave(&inside, inside.is_first ? pass_many(which) : ROCP_REG_DEADLOCK);
}

rocprofiler_register_error_code_t rocprofiler_register_invoke_all_registrations(void)
{
	return rocprofiler_abi_invoke(HANDOVER_ALL);
}

rocprofiler_register_error_code_t rocprofiler_register_invoke_nonpropagated_registrations(void)
{
	return rocprofiler_abi_invoke(HANDOVER_REMAINING);
}

rocprofiler_register_error_code_t rocprofiler_register_invoke_prestore_loads(void)
{
	return ROCP_REG_SUCCESS;
}

rocprofiler_register_error_code_t rocprofiler_register_attach(const char *environment_buffer,
							      const char *tool_lib_path)
{
	struct inside inside = inside_enter();

	return inside_leave(&inside, inside.is_first
					     ? inprocess_attach(environment_buffer, tool_lib_path)
					     : ROCP_REG_DEADLOCK);
}

rocprofiler_register_error_code_t rocprofiler_register_detach(void)
{
	struct inside inside = inside_enter();

	return inside_leave(&inside, inside.is_first ? inprocess_detach() : ROCP_REG_DEADLOCK);
}

rocprofiler_register_error_code_t rocprofiler_register_invoke_reattach(void)
{
	struct inside inside = inside_enter();

	return inside_leave(&inside,
			    inside.is_first ? inprocess_attach_again() : ROCP_REG_DEADLOCK);
}

void rocprofiler_call_client_reattach(void)
{
	rocprofiler_register_invoke_reattach();
}

void rocprofiler_call_client_detach(void)
{
	rocprofiler_register_detach();
}

rocprofiler_register_error_code_t rocprofiler_register_runtime_tool_activation_callback(
	const char *runtime_name, rocprofiler_register_tool_activation_cb_t callback, void *data)
{
	if (!callback)
		return ROCP_REG_INVALID_ARGUMENT;
	return activation_add(runtime_name, callback, data) ? ROCP_REG_ROCPROFILER_ERROR
							    : ROCP_REG_SUCCESS;
}

/* The callback of limpet_register_each() and its data. */
struct listener {
	limpet_register_take *take;
	void *data;
};

static int rocprofiler_abi_offer(const struct registration *registration, void *data)
{
	const struct listener *listener = data;
	struct registration own = *registration;

	return listener->take(own.name, own.version, own.instance, own.tables, own.count,
			      listener->data);
}

int limpet_register_each(limpet_register_take *take, void *data)
{
	struct inside inside = inside_enter();
	struct listener listener = { take, data };
	unsigned refusals = handover(HANDOVER_ALL, rocprofiler_abi_offer, &listener);

	(void)inside_leave(&inside, ROCP_REG_SUCCESS);
	return (int)refusals;
}

size_t limpet_register_reason(char *text, size_t room)
{
	return inprocess_reason(text, room);
}
