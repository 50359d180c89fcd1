/*
 * Runs inside the target on any thread of the program; calls only the loader.  A missing library
 * is an answer, never an end.
 */
#include "compat/register/sdk.h"

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

/* First tries libraries that are loaded already. */
static void *open_library(const char *path, bool may_load, bool *ret_is_borrowed)
{
	void *handle = loader_open(path, RTLD_LAZY | RTLD_NOLOAD);

	*ret_is_borrowed = handle != NULL;
	if (!handle && may_load)
		handle = loader_open(path, RTLD_LAZY | RTLD_GLOBAL);
	return handle;
}

static bool open_with(struct sdk *ret, const char *path, bool may_load, const char *must_have)
{
	*ret = (struct sdk){ 0 };
	ret->handle = open_library(path, may_load, &ret->is_borrowed);
	if (ret->handle && loader_symbol(ret->handle, must_have))
		ret->take = (sdk_take_function *)loader_symbol(ret->handle, TAKE_NAME);
	if (!ret->take)
		sdk_close(ret);
	return ret->take != NULL;
}

static bool open_visible(struct sdk *ret)
{
	*ret = (struct sdk){ .take = (sdk_take_function *)loader_symbol(RTLD_DEFAULT, TAKE_NAME) };
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

/* Where the loader finds one, by the names in AMD's library. */
static bool open_on_path(struct sdk *ret)
{
	static const char *const names[] = { "librocprofiler-sdk.so", "librocprofiler-sdk.so.1",
					     "librocprofiler-sdk.so.0" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (open_with(ret, names[i], true, TAKE_NAME))
			return true;
	return false;
}

bool sdk_open_any(struct sdk *ret)
{
	const char *named = switch_library();

	if (named && open_with(ret, named, true, TAKE_NAME))
		return true;
	return open_with(ret, AGENT_SONAME, false, TAKE_NAME) || open_visible(ret) ||
	       open_beside(ret, TAKE_NAME) || open_on_path(ret);
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
