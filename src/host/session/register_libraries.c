/*
 * Queries limpet's own register library in every mapped copy, found by its file name in the
 * loader's own list: Python wheels bring one beside the system's.  Finds other tables by their
 * shape; asks AMD's register library for what is missing then.
 */
#include "host/session/register_libraries.h"

#include "host/core/clock.h"
#include "host/core/text/path.h"
#include "host/session/steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_NAME "librocprofiler-register.so"
#define PAUSE_NS     500000000ull
#define PAUSE_MAX_NS (60 * 1000000000ull) /* where nothing changes, or after failures */
#define TOOLS_MAX_NS 2000000000ull        /* for tools, which only limpet informs */
#define BUSY_MAX_NS  (4 * 1000000000ull)  /* where mappings change: a runtime may be starting */

/* Libraries that have tables, and the names of those. */
static const struct {
	const char *library, *table;
} runtimes[] = {
	{ "libamdhip64.so", "hip" },    { "libhsa-runtime64.so", "hsa" },
	{ "libroctx64.so", "roctx" },   { "librocprofiler-sdk-roctx.so", "roctx" },
	{ "librccl.so", "rccl" },       { "librocdecode.so", "rocdecode" },
	{ "librocjpeg.so", "rocjpeg" },
};

/* Symbols that AMD's own profiler, and the library that makes its attach possible, export. */
static const char *const profilers[] = { "rocprofiler_set_api_table",
					 "rocprofiler_attach_set_api_table" };

/* AMD's library hands its tables to the first SDK that it finds.  These variables make it find the
 * agent, and are set only during the query: a child of the target would search for such a library
 * in vain. */
static const char *const be_found[] = {
	"ROCPROFILER_REGISTER_LIBRARY=" AGENT_SONAME,
	"ROCPROFILER_REGISTER_FORCE_LOAD=1",
	NULL,
};

static bool is_named(const char *path, const char *name)
{
	return !strncmp(path_base_name(path), name, strlen(name));
}

static bool is_register(const struct module *module)
{
	return module->mapping && is_named(module->mapping->path, LIBRARY_NAME);
}

static uint64_t symbol_of(const struct module *module, const char *name)
{
	uint64_t address;

	return elf_image_symbol(&module->image, name, &address) ? 0 : address;
}

static int send_query(struct attachment *attachment, const struct module *module, uint32_t flags,
		      struct control_reply *ret, struct err *err)
{
	bool is_limpets = flags & CONTROL_CALLBACK;
	struct control_tables order = {
		.header = order_header(CONTROL_TABLES, sizeof(order), flags),
		.function = symbol_of(module, is_limpets ? REGISTER_EACH : REGISTER_INVOKE),
		.list = is_limpets ? 0 : symbol_of(module, REGISTER_LIST),
		.timeout_ms = attachment->link.timeout_ms,
	};

	return attach_order(attachment, &order.header, -1, ret, err);
}

/* Children started meanwhile inherit the variables: so they are set only where tables may be
 * had. */
static int query_amds(struct attachment *attachment, const struct session_options *options,
		      const struct module *module, struct err *err)
{
	struct control_reply reply;
	struct err ignored = { 0 };
	int r = send_query(attachment, module, CONTROL_LOOK, &reply, err), back;

	if (r || !reply.value)
		return r;
	r = variables_publish(attachment, options, be_found, err);
	if (!r)
		r = send_query(attachment, module, 0, &reply, err);
	back = variables_publish(attachment, options, NULL, r ? &ignored : err);
	return r ? r : back;
}

/* If a register library does not answer, the tables are lost, not the attach. */
static int note_silence(struct attachment *attachment, const struct module *module, int r,
			const struct err *why, struct err *err)
{
	if (r == -ESRCH) {
		*err = *why;
		return r;
	}
	if (r)
		snprintf(attachment->report.warning, sizeof(attachment->report.warning), "%s: %s",
			 module->mapping->path,
			 r == -ENOENT  ? "it is too old to tell its API tables (ROCm 7.0 can)"
			 : r == -ENXIO ? "it did not hand over its API tables"
				       : why->what);
	return 0;
}

/* limpet's own register library passes on what it knows, and keeps no state about the agent. */
static int query_limpets(struct attachment *attachment, const struct modules *modules,
			 struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < modules->count; i++) {
		const struct module *module = &modules->items[i];
		struct err why = { 0 };

		if (!is_register(module) || !symbol_of(module, REGISTER_EACH))
			continue;
		r = send_query(attachment, module, CONTROL_CALLBACK, NULL, &why);
		r = note_silence(attachment, module, r, &why, err);
	}
	return r;
}

static bool is_known(const struct attachment *attachment, const char *name)
{
	const struct agent_page *page = &attachment->resident.page;

	for (unsigned i = 0; i < page->table_count; i++)
		if (!strcmp(page->tables[i].name, name))
			return true;
	return false;
}

static int send_found(struct attachment *attachment, const struct found_table *table,
		      struct err *err)
{
	struct control_found order = { .header = order_header(CONTROL_FOUND, sizeof(order), 0),
				       .part_count = table->part_count,
				       .timeout_ms = attachment->link.timeout_ms };

	memcpy(order.name, table->name, sizeof(order.name));
	memcpy(order.parts, table->parts, sizeof(order.parts));
	return attach_order(attachment, &order.header, -1, NULL, err);
}

/* Searches for tables that no register library has passed on.  -EAGAIN: found, but the agent did
 * not take them. */
static int find_others(struct attachment *attachment, const struct modules *modules,
		       struct err *err)
{
	uint64_t budget_bytes = TABLE_SCAN_MAX_BYTES;
	int r = 0;

	if (resident_refresh(&attachment->target, &attachment->resident))
		return 0;
	for (size_t i = 0; !r && i < modules->count; i++) {
		struct found_table found[FOUND_TABLES_MAX];
		size_t count =
			table_scan(&attachment->target, &modules->items[i], &budget_bytes, found);

		for (size_t at = 0; !r && at < count; at++)
			if (!is_known(attachment, found[at].name))
				r = send_found(attachment, &found[at], err);
	}
	return r == -ESRCH ? r : r ? -EAGAIN : 0;
}

/* Runtimes that are mapped and whose tables are not known: bits. */
static uint32_t lacking_tables(const struct attachment *attachment)
{
	const struct maps *maps = &attachment->target.process.maps;
	uint32_t found = 0;

	for (size_t i = 0; i < maps->count; i++)
		for (size_t at = 0; at < ARRAY_SIZE(runtimes); at++)
			if (is_named(maps->items[i].path, runtimes[at].library) &&
			    !is_known(attachment, runtimes[at].table))
				found |= 1u << at;
	return found;
}

/* Is AMD's profiler mapped?  It has the tables, or is to get them: SDK 1.0 ends the program when it
 * gets a table twice, and an attach by AMD's tools fails when its register library takes the agent
 * for the SDK. */
static bool has_profiler(const struct modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		for (size_t at = 0; at < ARRAY_SIZE(profilers); at++)
			if (symbol_of(&modules->items[i], profilers[at]) &&
			    !symbol_of(&modules->items[i], AGENT_VERSION_SYMBOL))
				return true;
	return false;
}

/* The last resort, AMD's register library: for missing tables, and only where no other profiler has
 * them. */
static int query_others(struct attachment *attachment, const struct session_options *options,
			const struct modules *modules, struct err *err)
{
	bool is_alone = !has_profiler(modules);
	int r = 0;

	for (size_t i = 0; !r && i < modules->count; i++) {
		const struct module *module = &modules->items[i];
		struct err why = { 0 };

		if (!is_register(module) || symbol_of(module, REGISTER_EACH))
			continue;
		if (!is_alone) {
			snprintf(attachment->report.warning, sizeof(attachment->report.warning),
				 "%s: not asked for the API tables that were not found, since "
				 "AMD's profiler is in the process",
				 module->mapping->path);
			continue;
		}
		r = symbol_of(module, REGISTER_INVOKE)
			    ? query_amds(attachment, options, module, &why)
			    : -ENOENT;
		r = note_silence(attachment, module, r, &why, err);
	}
	return r;
}

static int query_due(struct attachment *attachment, const struct session_options *options,
		     const struct modules *modules, struct registers_watch *watch, struct err *err)
{
	bool is_due = watch->query_ns <= now_ns();
	int r = is_due ? query_limpets(attachment, modules, err) : 0;

	if (!r)
		r = find_others(attachment, modules, err);
	watch->is_refused = r == -EAGAIN;
	r = r == -EAGAIN ? 0 : r;
	if (!r && is_due && !resident_refresh(&attachment->target, &attachment->resident) &&
	    lacking_tables(attachment))
		r = query_others(attachment, options, modules, err);
	return r;
}

int registers_query(struct attachment *attachment, const struct session_options *options,
		    struct registers_watch *watch, struct err *err)
{
	struct modules modules;
	struct err ignored;
	int r;

	if (attachment->target.memory < 0 || modules_read(&attachment->target, &modules, &ignored))
		return 0;
	r = query_due(attachment, options, &modules, watch, err);
	modules_done(&modules);
	return r;
}

static uint64_t pause_double(uint64_t pause_ns)
{
	return pause_ns ? MIN(2 * pause_ns, PAUSE_MAX_NS) : PAUSE_NS;
}

/* Reading the mappings does not disturb the target. */
static void put_off_read(struct registers_watch *watch, size_t mappings, uint64_t longest_ns)
{
	bool has_changed = mappings != watch->mappings;

	watch->mappings = mappings;
	watch->has_changed |= has_changed;
	watch->read_pause_ns =
		has_changed ? PAUSE_NS : MIN(pause_double(watch->read_pause_ns), longest_ns);
	watch->next_ns = now_ns() + watch->read_pause_ns;
}

/* At once for a new runtime, then less and less often: earlier where mappings have changed, unless
 * the agent refused what the last scan found. */
static bool scan_is_due(struct registers_watch *watch, uint32_t lacking)
{
	uint64_t now = now_ns();
	uint64_t early_ns = watch->scan_pause_ns - MIN(watch->scan_pause_ns, BUSY_MAX_NS);

	if (lacking & ~watch->lacking) {
		watch->scan_ns = watch->scan_pause_ns = 0;
		watch->query_ns = watch->query_pause_ns = 0;
		watch->is_refused = false;
	}
	watch->lacking |= lacking;
	if (now >= watch->query_ns)
		return true;
	return !watch->is_refused &&
	       (now >= watch->scan_ns || (watch->has_changed && now >= watch->scan_ns - early_ns));
}

static void put_off_scan(struct registers_watch *watch, bool has_queried)
{
	uint64_t now = now_ns();

	watch->has_changed = false;
	watch->scan_pause_ns = pause_double(watch->scan_pause_ns);
	watch->scan_ns = now + watch->scan_pause_ns;
	if (!has_queried)
		return;
	watch->query_pause_ns = pause_double(watch->query_pause_ns);
	watch->query_ns = now + watch->query_pause_ns;
}

void registers_query_again(struct attachment *attachment, const struct session_options *options,
			   struct registers_watch *watch)
{
	struct process *process = &attachment->target.process;
	struct err ignored = { 0 };
	struct maps maps;
	uint32_t lacking;
	bool queries;

	if (now_ns() < watch->next_ns || attachment->target.memory < 0 ||
	    maps_read(process->pid, &maps, &ignored))
		return;
	/* The mappings read during the attach are outdated. */
	maps_done(&process->maps);
	process->maps = maps;
	put_off_read(watch, maps.count, options->tool_count ? TOOLS_MAX_NS : PAUSE_MAX_NS);
	if (resident_refresh(&attachment->target, &attachment->resident))
		return;
	lacking = lacking_tables(attachment);
	if (!lacking || !scan_is_due(watch, lacking))
		return;
	queries = now_ns() >= watch->query_ns;
	(void)!registers_query(attachment, options, watch, &ignored); /* the next may succeed */
	put_off_scan(watch, queries);
}
