/*
 * limpet's own register library is asked in every mapped copy, found by its file name in the
 * loader's own list: Python wheels bring one beside the system's.  Other tables are found by their
 * shape; AMD's register library is asked for what is missing then.  Host only.
 */
#include "host/session/register_libraries.h"

#include "host/attach/facts/modules.h"
#include "host/core/clock.h"
#include "host/core/text/path.h"
#include "host/session/table_scan.h"
#include "host/session/variables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_NAME "librocprofiler-register.so"
#define PAUSE_NS     500000000ull
#define PAUSE_MAX_NS (60 * 1000000000ull) /* where nothing changes */
#define TOOLS_MAX_NS 2000000000ull        /* for tools, whom nobody else tells */

/* Libraries that have tables, and how those are called. */
static const struct {
	const char *library, *table;
} runtimes[] = {
	{ "libamdhip64.so", "hip" },    { "libhsa-runtime64.so", "hsa" },
	{ "libroctx64.so", "roctx" },   { "librocprofiler-sdk-roctx.so", "roctx" },
	{ "librccl.so", "rccl" },       { "librocdecode.so", "rocdecode" },
	{ "librocjpeg.so", "rocjpeg" },
};

#define OURS "limpet_register_each"
#define AMDS "rocprofiler_register_invoke_all_registrations"
#define LIST "rocprofiler_register_iterate_registration_info"

/* What AMD's own profiler, and the library that makes its attach possible, export. */
static const char *const profilers[] = { "rocprofiler_set_api_table",
					 "rocprofiler_attach_set_api_table" };

/* AMD's library hands its tables to the first SDK that it finds; it is told to find us, and only
 * while it is asked: a child of the target would look for a library of that name in vain. */
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

static int send_question(struct session *session, const struct module *module, bool is_ours,
			 struct err *err)
{
	struct control_tables order = { .function = symbol_of(module, is_ours ? OURS : AMDS),
					.list = is_ours ? 0 : symbol_of(module, LIST),
					.timeout_ms = session->timeout_ms };
	struct attachment *attachment = &session->attachment;
	struct control_reply reply;

	control_header_init(&order.header, CONTROL_TABLES, sizeof(order));
	order.header.flags = is_ours ? CONTROL_CALLBACK : 0;
	return link_ask(&attachment->link, &attachment->target, &order.header, -1, &reply, err);
}

static int ask_amds(struct session *session, const struct session_options *options,
		    const struct module *module, struct err *err)
{
	int r = variables_publish(session, options, be_found, err), back;
	struct err ignored = { 0 };

	if (!r)
		r = send_question(session, module, false, err);
	back = variables_publish(session, options, NULL, r ? &ignored : err);
	return r ? r : back;
}

/* A silent register library costs the tables, not the attach. */
static int note_silence(struct session *session, const struct module *module, int r,
			const struct err *why, struct err *err)
{
	if (r == -ESRCH) {
		*err = *why;
		return r;
	}
	if (r)
		snprintf(session->warning, sizeof(session->warning), "%s: %s",
			 module->mapping->path,
			 r == -ENOENT  ? "it is too old to tell its API tables (ROCm 7.0 can)"
			 : r == -ENXIO ? "it did not hand over its API tables"
				       : why->what);
	return 0;
}

/* limpet's own tells what it knows, and remembers nothing of us. */
static int ask_ours(struct session *session, const struct modules *modules, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < modules->count; i++) {
		const struct module *module = &modules->items[i];
		struct err why = { 0 };

		if (is_register(module) && symbol_of(module, OURS))
			r = note_silence(session, module,
					 send_question(session, module, true, &why), &why, err);
	}
	return r;
}

static bool is_known(const struct session *session, const char *name)
{
	const struct agent_page *page = &session->attachment.resident.page;

	for (unsigned i = 0; i < page->table_count; i++)
		if (!strcmp(page->tables[i].name, name))
			return true;
	return false;
}

static int send_found(struct session *session, const struct found_table *table, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	struct control_found order = { .part_count = table->part_count,
				       .timeout_ms = session->timeout_ms };
	struct control_reply reply;

	control_header_init(&order.header, CONTROL_FOUND, sizeof(order));
	memcpy(order.name, table->name, sizeof(order.name));
	memcpy(order.parts, table->parts, sizeof(order.parts));
	return link_ask(&attachment->link, &attachment->target, &order.header, -1, &reply, err);
}

/* What no register library has told is looked for. */
static int find_others(struct session *session, const struct modules *modules, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	uint64_t budget_bytes = TABLE_SCAN_MAX_BYTES;
	int r = 0;

	if (resident_refresh(&attachment->target, &attachment->resident))
		return 0;
	for (size_t i = 0; !r && i < modules->count; i++) {
		struct found_table found[FOUND_TABLES_MAX];
		size_t count =
			table_scan(&attachment->target, &modules->items[i], &budget_bytes, found);

		for (size_t at = 0; !r && at < count; at++)
			if (!is_known(session, found[at].name))
				r = send_found(session, &found[at], err);
	}
	return r == -ESRCH ? r : 0;
}

static bool lacks_tables(const struct session *session)
{
	const struct maps *maps = &session->attachment.target.process.maps;

	for (size_t i = 0; i < maps->count; i++)
		for (size_t at = 0; at < ARRAY_SIZE(runtimes); at++)
			if (is_named(maps->items[i].path, runtimes[at].library) &&
			    !is_known(session, runtimes[at].table))
				return true;
	return false;
}

/* Of AMD's.  It has the tables already, or is to have them: SDK 1.0 ends the program when it is
 * given one twice, and an attach of AMD's fails when its register library takes us for the SDK. */
static bool has_profiler(const struct modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		for (size_t at = 0; at < ARRAY_SIZE(profilers); at++)
			if (symbol_of(&modules->items[i], profilers[at]) &&
			    !symbol_of(&modules->items[i], AGENT_VERSION_SYMBOL))
				return true;
	return false;
}

static int ask_other(struct session *session, const struct session_options *options,
		     const struct module *module, struct err *err)
{
	struct err why = { 0 };
	int r = symbol_of(module, AMDS) ? ask_amds(session, options, module, &why) : -ENOENT;

	return note_silence(session, module, r, &why, err);
}

/* The last resort: what was not found, and only where nobody else has it. */
static int ask_others(struct session *session, const struct session_options *options,
		      const struct modules *modules, struct err *err)
{
	bool is_alone = !has_profiler(modules);
	int r = 0;

	for (size_t i = 0; !r && i < modules->count; i++) {
		const struct module *module = &modules->items[i];

		if (!is_register(module) || symbol_of(module, OURS))
			continue;
		if (is_alone)
			r = ask_other(session, options, module, err);
		else
			snprintf(session->warning, sizeof(session->warning),
				 "%s: not asked for the API tables that were not found, since "
				 "AMD's profiler is in the process",
				 module->mapping->path);
	}
	return r;
}

static int ask_all(struct session *session, const struct session_options *options,
		   const struct modules *modules, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	int r = ask_ours(session, modules, err);

	if (!r)
		r = find_others(session, modules, err);
	if (!r && !resident_refresh(&attachment->target, &attachment->resident) &&
	    lacks_tables(session))
		r = ask_others(session, options, modules, err);
	return r;
}

int registers_ask(struct session *session, const struct session_options *options, struct err *err)
{
	struct target *target = &session->attachment.target;
	struct modules modules;
	struct err ignored;
	int r;

	if (target->memory < 0 || modules_read(target, &modules, &ignored))
		return 0;
	r = ask_all(session, options, &modules, err);
	modules_done(&modules);
	return r;
}

/* The maps of the attach are old. */
static int refresh_maps(struct target *target, struct err *err)
{
	struct maps maps;
	int r = maps_read(target->process.pid, &maps, err);

	if (r)
		return r;
	maps_done(&target->process.maps);
	target->process.maps = maps;
	return 0;
}

/* Tables are looked for at once where mappings have changed, else less and less often. */
static bool watch_is_due(struct registers_watch *watch, size_t mappings, uint64_t longest_ns)
{
	uint64_t now = now_ns();
	bool has_changed = mappings != watch->mappings,
	     is_due = has_changed || now >= watch->ask_ns;

	watch->mappings = mappings;
	if (is_due) {
		watch->pause_ns = has_changed ? PAUSE_NS : MIN(2 * watch->pause_ns, PAUSE_MAX_NS);
		watch->ask_ns = now + watch->pause_ns;
	}
	watch->next_ns = now + MIN(watch->pause_ns, longest_ns);
	return is_due;
}

void registers_ask_again(struct session *session, const struct session_options *options,
			 struct registers_watch *watch)
{
	struct attachment *attachment = &session->attachment;
	uint64_t longest_ns = options->tool_count ? TOOLS_MAX_NS : PAUSE_MAX_NS;
	struct err ignored = { 0 };

	if (now_ns() < watch->next_ns || attachment->target.memory < 0 ||
	    refresh_maps(&attachment->target, &ignored) ||
	    !watch_is_due(watch, attachment->target.process.maps.count, longest_ns) ||
	    resident_refresh(&attachment->target, &attachment->resident) || !lacks_tables(session))
		return;
	if (registers_ask(session, options, &ignored))
		memset(&ignored, 0, sizeof(ignored)); /* the next look may do better */
}
