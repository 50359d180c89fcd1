/*
 * Hooks installable drivers. Each object of a driver begins with the address of a function table,
 * and libOpenCL.so jumps through it: so the table is hooked. Drivers are found by the function that
 * each of them must export, and limpet's thread queries their platforms; no driver is initialized
 * that the target has not loaded itself.
 */
#include "target/domains/opencl/opencl.h"
#include "target/hooks/got/got.h"
#include "target/hooks/module.h"
#include "target/hooks/table.h"
#include "target/hooks/wants.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#include <errno.h>

#define CANDIDATES_MAX        16u
#define PLATFORMS_MAX         16u
#define NEWER_MAX             16u /* slots without a known name */
#define PATH_MAX_BYTES        1024u
#define VERSION(major, minor) ((major)*10u + (minor))

typedef int32_t get_platforms(uint32_t room, opencl_object *ret, uint32_t *ret_count);
typedef void *get_address(const char *name);
typedef void *get_address_for(opencl_object platform, const char *name);
typedef int32_t get_info(opencl_object object, uint32_t name, size_t size, void *value,
			 size_t *ret_size);

static uint32_t objects_done; /* number of object tables that were handled */

/* Modules that export a driver's function. */
struct candidates {
	char paths[CANDIDATES_MAX][PATH_MAX_BYTES];
	unsigned count;
};

static void note_candidate(const char *path, const struct loaded_module *module, void *context)
{
	struct candidates *candidates = context;

	if (!*path || pattern_matches("libOpenCL.so*", 13, module->name) ||
	    candidates->count == CANDIDATES_MAX || text_length(path) >= PATH_MAX_BYTES ||
	    !module_exports(module, "clGetExtensionFunctionAddress"))
		return;
	text_add(candidates->paths[candidates->count++], PATH_MAX_BYTES, 0, path);
}

/* The minimum number of slots of a driver of that version. */
static uint32_t slots_of(unsigned version)
{
	static const struct {
		unsigned version;
		enum opencl_entry last;
	} steps[] = {
		{ VERSION(3, 0), OPENCL_LAST_SLOT },
		{ VERSION(2, 2), ENTRY_clSetProgramSpecializationConstant },
		{ VERSION(2, 1), ENTRY_clSetDefaultDeviceCommandQueue },
		{ VERSION(2, 0), ENTRY_clSetKernelExecInfo },
		{ VERSION(1, 2), ENTRY_clGetExtensionFunctionAddressForPlatform },
		{ VERSION(1, 1), ENTRY_clEnqueueCopyBufferRect },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
		if (version >= steps[i].version)
			return (uint32_t)steps[i].last + 1;
	return ENTRY_clGetExtensionFunctionAddress + 1;
}

/* Parses "OpenCL 3.0 ..."; returns 10 if it cannot be parsed. */
static unsigned version_of(const uint64_t *table, opencl_object platform)
{
	get_info *ask = (get_info *)table[ENTRY_clGetPlatformInfo];
	char text[256] = "";
	const char *at = text + sizeof("OpenCL ") - 1;

	if (!ask || ask(platform, PLATFORM_VERSION, sizeof(text), text, NULL) || at[0] < '1' ||
	    at[0] > '9' || at[1] != '.' || at[2] < '0' || at[2] > '9')
		return VERSION(1, 0);
	return VERSION((unsigned)(at[0] - '0'), (unsigned)(at[2] - '0'));
}

static bool are_of_one_module(uint64_t a, uint64_t b)
{
	Dl_info first, second;

	return libc_find_module((const void *)a, &first) &&
	       libc_find_module((const void *)b, &second) && first.dli_fbase == second.dli_fbase;
}

/* A driver newer than OpenCL 3.0 may have more slots: counts those in its own module. */
static uint32_t count_slots(const uint64_t *table, unsigned version)
{
	uint32_t count = slots_of(version);

	if (version <= VERSION(3, 0))
		return count;
	while (count < OPENCL_SLOTS + NEWER_MAX && table[count] &&
	       are_of_one_module(table[count], table[ENTRY_clGetPlatformInfo]))
		count++;
	return count;
}

/* Functions that are hooked only to record their calls are skipped if calls are not recorded. */
static bool is_worth_hooking(const struct traced *traced)
{
	if (opencl_is_timed[traced - opencl_traced])
		return shadows_are_wanted() || opencl_writes(DOMAIN_OPENCL);
	return traced->before || traced->after || opencl_writes(DOMAIN_OPENCL);
}

struct hooking {
	struct opencl_vendor *vendor;
	bool is_of_object; /* the table of an object */
	struct hooks_report *report;
};

static void hook_entry(const struct hooking *hooking, uint32_t slot, const struct traced *traced,
		       const char *name)
{
	uint64_t *entry = &hooking->vendor->table[slot];
	int r = table_hook(entry, traced, name, got_library(*entry));

	table_report(r, hooking->report);
	hooking->vendor->hooked += !r;
}

static void hook_newer(const struct hooking *hooking, uint32_t slot)
{
	const struct traced *traced = &opencl_traced[OPENCL_ENTRIES];
	char name[32];

	if (!is_worth_hooking(traced) || hook_is_stub(hooking->vendor->table[slot]))
		return;
	text_add_number(name, sizeof(name), text_add(name, sizeof(name), 0, "OpenCL slot "), slot);
	hook_entry(hooking, slot, traced, name);
}

static void hook_slot(const struct hooking *hooking, uint32_t slot)
{
	struct opencl_vendor *vendor = hooking->vendor;
	const struct traced *traced = &opencl_traced[slot];
	uint64_t function = vendor->table[slot];

	if (!function || hook_is_stub(function))
		return;
	/* Release: calls read this entry, so it is stored before the hook. */
	__atomic_store_n(&vendor->functions[slot], function, __ATOMIC_RELEASE);
	if (!is_worth_hooking(traced))
		return;
	hook_entry(hooking, slot, traced, traced->name);
	if (hook_is_stub(vendor->table[slot]))
		vendor->stubs[slot] = vendor->table[slot];
}

static void hook_slots(void *context)
{
	const struct hooking *hooking = context;
	struct opencl_vendor *vendor = hooking->vendor;

	if (hooking->is_of_object && !got_has_data((uint64_t)vendor->table))
		return; /* the table may be freed with its object */
	table_begin();
	for (uint32_t slot = 0; slot < vendor->slot_count; slot++)
		if (slot < OPENCL_SLOTS)
			hook_slot(hooking, slot);
		else
			hook_newer(hooking, slot);
	table_end();
}

static void hook_vendor(struct opencl_vendor *vendor, bool is_of_object,
			struct hooks_report *report)
{
	struct hooking hooking = { vendor, is_of_object, report };

	vendor->hooked = 0;
	vendor->hooked_ns = vendor->is_settled = vendor->refusal = 0;
	got_in_loader(hook_slots, &hooking);
	vendor->session = writers_session();
}

static void hook_extension(struct opencl_vendor *vendor, unsigned entry, uint64_t function)
{
	const struct traced *traced = &opencl_traced[entry];
	struct function_name name = { traced->name, got_library(function) };
	struct hook *hook;

	if (!function || hook_is_stub(function) || !is_worth_hooking(traced))
		return;
	hook = hook_get(function, traced, &name);
	if (!hook || !hook_announce(hook, &name))
		return;
	vendor->functions[entry] = function;
	/* Release: pairs with vendor_after_address(); the hook is ready. */
	__atomic_store_n(&vendor->stubs[entry], hook_stub(hook), __ATOMIC_RELEASE);
}

/* Prepares stubs for functions that are found only by name; later queries return these. */
static void hook_extensions(struct opencl_vendor *vendor, opencl_object platform)
{
	get_address *by_name =
		(get_address *)vendor->functions[ENTRY_clGetExtensionFunctionAddress];
	get_address_for *for_platform =
		(get_address_for *)
			vendor->functions[ENTRY_clGetExtensionFunctionAddressForPlatform];

	for (unsigned entry = OPENCL_SLOTS; entry < OPENCL_ENTRIES; entry++) {
		const char *name = opencl_traced[entry].name;
		void *found = for_platform ? for_platform(platform, name)
			      : by_name    ? by_name(name)
					   : NULL;

		hook_extension(vendor, entry, (uint64_t)found);
	}
}

/* A driver that was unloaded and loaded again at the same address has a new table. */
static bool is_hooked_still(const struct opencl_vendor *vendor)
{
	if (vendor->session != writers_session())
		return false;
	for (uint32_t slot = 0; slot < MIN(vendor->slot_count, (uint32_t)OPENCL_SLOTS); slot++)
		if (vendor->stubs[slot] && vendor->table[slot] == vendor->functions[slot])
			return false;
	return true;
}

static bool hook_platform(opencl_object platform, struct hooks_report *report)
{
	uint64_t *table = vendor_table_of(platform);
	struct opencl_vendor *vendor = table ? vendor_with_table(table) : NULL;

	if (table && !vendor)
		vendor = vendor_add(table);
	if (!vendor) {
		if (table)
			table_report(-ENOSPC, report);
		return false;
	}
	if (!is_hooked_still(vendor)) {
		vendor->platform = platform;
		vendor->slot_count = count_slots(table, version_of(table, platform));
		hook_vendor(vendor, false, report);
		hook_extensions(vendor, platform);
	}
	return vendor->hooked > 0;
}

static bool hook_platforms(get_platforms *get, struct hooks_report *report)
{
	opencl_object platforms[PLATFORMS_MAX];
	uint32_t count = 0;
	bool is_hooked = false;

	if (!get || get(PLATFORMS_MAX, platforms, &count))
		return false;
	for (uint32_t i = 0; i < MIN(count, PLATFORMS_MAX); i++)
		is_hooked |= hook_platform(platforms[i], report);
	return is_hooked;
}

/* dlopen waits for a load in progress, and keeps the driver loaded. */
static bool hook_candidate(const char *path, struct hooks_report *report)
{
	void *handle = libc_open(path, RTLD_LAZY | RTLD_NOLOAD);
	get_address *ask = handle ? libc_symbol(handle, "clGetExtensionFunctionAddress") : NULL;
	bool is_hooked = false;

	if (ask)
		is_hooked = hook_platforms((get_platforms *)ask("clIcdGetPlatformIDsKHR"), report);
	if (handle)
		libc_close(handle);
	return is_hooked;
}

static void hook_objects(struct hooks_report *report)
{
	struct object_table found;

	for (; vendor_object_table(objects_done, &found) && found.table; objects_done++) {
		struct opencl_vendor *vendor =
			vendor_with_table(found.table) ? NULL : vendor_add(found.table);

		if (!vendor)
			continue;
		vendor->slot_count = MIN(found.slot_count, (uint32_t)OPENCL_SLOTS);
		hook_vendor(vendor, true, report);
	}
}

/* Hooks object tables of an earlier session again. */
static void hook_known_objects(struct hooks_report *report)
{
	struct object_table found;

	for (uint32_t i = 0; i < objects_done && vendor_object_table(i, &found); i++) {
		struct opencl_vendor *vendor = vendor_with_table(found.table);

		if (vendor && vendor->session != writers_session())
			hook_vendor(vendor, true, report);
	}
}

bool drivers_scan(bool have_modules_changed, struct hooks_report *report)
{
	static struct candidates candidates;
	bool is_hooked = false;

	if (have_modules_changed) {
		candidates.count = 0;
		got_each_module(note_candidate, &candidates);
		for (unsigned i = 0; i < candidates.count; i++)
			is_hooked |= hook_candidate(candidates.paths[i], report);
		if (is_hooked)
			hook_known_objects(report);
	}
	hook_objects(report);
	return is_hooked;
}
