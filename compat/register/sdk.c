/*
 * Runs inside the target on any thread of the program; calls only the loader.  A missing library
 * is an answer, never an end.
 */
#include "compat/register/sdk.h"

#include "compat/register/process/libc_functions.h"
#include "compat/register/process/loader.h"
#include "compat/register/switches.h"
#include "shared/base/macros.h"
#include "shared/wire/page.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAKE_NAME "rocprofiler_set_api_table"
#define OURS_NAME "limpet_inprocess_attach"

static char folder[PATH_MAX]; /* written once, before the first read; empty: unknown */

bool sdk_is_wanted(void)
{
	return loader_symbol(RTLD_DEFAULT, "rocprofiler_configure") || switch_force_load();
}

static bool open_with(struct sdk *ret, const char *path, bool may_load, const char *must_have)
{
	/* First tries libraries that are loaded already. */
	*ret = (struct sdk){ .handle = loader_open(path, RTLD_LAZY | RTLD_NOLOAD) };
	ret->is_borrowed = ret->handle != NULL;
	if (!ret->handle && may_load)
		ret->handle = loader_open(path, RTLD_LAZY | RTLD_GLOBAL);
	if (ret->handle && loader_symbol(ret->handle, must_have))
		ret->take = (sdk_take_function *)loader_symbol(ret->handle, TAKE_NAME);
	if (!ret->take)
		sdk_close(ret);
	return ret->take != NULL;
}

/* The folder of this very library, determined at its loading: the loader may have its path relative
 * to the current folder, which changes. */
__attribute__((constructor)) static void remember_folder(void)
{
	const char *slash;
	Dl_info here;

	if (!loader_find_module((void *)(uintptr_t)sdk_open_any, &here))
		return;
	slash = strrchr(here.dli_fname, '/');
	if (!slash || (here.dli_fname[0] != '/' && !getcwd(folder, sizeof(folder))))
		return;
	snprintf(folder + strlen(folder), sizeof(folder) - strlen(folder), "%s%.*s",
		 folder[0] ? "/" : "", (int)(slash - here.dli_fname), here.dli_fname);
}

static bool open_beside(struct sdk *ret, const char *must_have)
{
	char path[PATH_MAX + sizeof(AGENT_SONAME)];

	snprintf(path, sizeof(path), "%s/" AGENT_SONAME, folder);
	return folder[0] && open_with(ret, path, true, must_have);
}

bool sdk_open_any(struct sdk *ret)
{
	/* By the names in AMD's library. */
	static const char *const names[] = { "librocprofiler-sdk.so", "librocprofiler-sdk.so.1",
					     "librocprofiler-sdk.so.0" };
	const char *named = switch_library();

	if ((named && open_with(ret, named, true, TAKE_NAME)) ||
	    open_with(ret, AGENT_SONAME, false, TAKE_NAME))
		return true;
	*ret = (struct sdk){ .take = (sdk_take_function *)loader_symbol(RTLD_DEFAULT, TAKE_NAME) };
	if (ret->take || open_beside(ret, TAKE_NAME))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (open_with(ret, names[i], true, TAKE_NAME))
			return true;
	return false;
}

bool sdk_open_ours(struct sdk *ret, bool may_load)
{
	return open_with(ret, AGENT_SONAME, false, OURS_NAME) ||
	       (may_load && open_beside(ret, OURS_NAME));
}

void *sdk_function(const struct sdk *self, const char *name)
{
	return self->handle ? loader_symbol(self->handle, name) : NULL;
}

void sdk_close(struct sdk *self)
{
	if (self->handle && self->is_borrowed)
		loader_close(self->handle);
	*self = (struct sdk){ 0 };
}

typedef int start_function(const struct boot_libc *libc, const char *tools, char *text,
			   size_t room);
typedef int start_configure_function(const struct boot_libc *libc, void *configure, char *text,
				     size_t room);

/* A tool that fails is written down in the agent's page; here it changes nothing. */
static void tools_start(const struct sdk *sdk, const struct boot_libc *libc)
{
	start_function *start_tools = (start_function *)sdk_function(sdk, "limpet_inprocess_start");
	start_configure_function *start_one =
		(start_configure_function *)sdk_function(sdk, "limpet_inprocess_start_function");
	void *configure = loader_symbol(RTLD_DEFAULT, "rocprofiler_configure");
	char reasons[512];

	if (start_tools && switch_tools())
		start_tools(libc, switch_tools(), reasons, sizeof(reasons));
	if (start_one && configure)
		start_one(libc, configure, reasons, sizeof(reasons));
}

void sdk_run_tools(const struct sdk *sdk)
{
	static uint32_t was_run;
	struct boot_libc libc;

	/* Set before: a tool that uses a runtime calls this again. */
	if (!__atomic_exchange_n(&was_run, 1, __ATOMIC_RELAXED) && libc_functions_find(&libc))
		tools_start(sdk, &libc);
}

static const unsigned states_of[] = {
	[HANDOVER_NEW] = 1u << REGISTRATION_RECORDED,
	[HANDOVER_REMAINING] = 1u << REGISTRATION_RECORDED | 1u << REGISTRATION_REFUSED,
	[HANDOVER_ALL] = 1u << REGISTRATION_RECORDED | 1u << REGISTRATION_REFUSED |
			 1u << REGISTRATION_PASSED,
};

unsigned handover(enum handover which, handover_function *take, void *data)
{
	unsigned refusals = 0;

	/* The count is read again each time: a table's receiver may register another one. */
	for (size_t i = 0; i < registry_count(); i++) {
		struct registration *self = registry_at(i);
		bool is_taken;

		if (!self || !registration_claim(self, states_of[which]))
			continue;
		is_taken = take(self, data) == 0;
		registration_settle(self, is_taken ? REGISTRATION_PASSED : REGISTRATION_REFUSED);
		refusals += !is_taken;
	}
	return refusals;
}

static int handover_offer(const struct registration *registration, void *data)
{
	const struct sdk *sdk = data;
	/* A copy: the profiler is handed a writable array. */
	struct registration own = *registration;

	return sdk->take(own.name, own.version, own.instance, own.tables, own.count);
}

unsigned handover_to(enum handover which, const struct sdk *sdk)
{
	return handover(which, handover_offer, (void *)(uintptr_t)sdk);
}
