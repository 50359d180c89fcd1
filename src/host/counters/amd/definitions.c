/*
 * The list of definitions, and the search for AMD's file.
 */
#include "host/counters/amd/definitions.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Newer releases have the second name. */
static const char *const files[] = { "counter_defs.yaml", "config.yaml" };

static struct amd_counter *counter_find(const struct amd_counters *counters,
					const char *architecture, const char *name)
{
	uint32_t name_at = pool_find(&counters->texts, name);
	uint32_t architecture_at = pool_find(&counters->texts, architecture);

	if (name_at == POOL_NONE || architecture_at == POOL_NONE)
		return NULL;
	/* Texts are kept once: equal ones are the same. */
	for (size_t i = 0; i < counters->count; i++)
		if (counters->items[i].name == pool_text(&counters->texts, name_at) &&
		    counters->items[i].architecture == pool_text(&counters->texts, architecture_at))
			return &counters->items[i];
	return NULL;
}

const struct amd_counter *amd_counter_find(const struct amd_counters *counters,
					   const char *architecture, const char *name)
{
	return counter_find(counters, architecture, name);
}

bool amd_counters_know(const struct amd_counters *counters, const char *architecture)
{
	for (size_t i = 0; i < counters->count; i++)
		if (!strcmp(counters->items[i].architecture, architecture))
			return true;
	return false;
}

static const char *text_keep(struct amd_counters *counters, const char *text, bool *is_whole)
{
	const char *kept = text ? pool_keep(&counters->texts, text) : NULL;

	*is_whole &= kept || !text;
	return kept;
}

int amd_counters_add(struct amd_counters *counters, const struct amd_counter *counter)
{
	bool is_whole = true;
	struct amd_counter kept = *counter;
	struct amd_counter *there;

	kept.name = text_keep(counters, counter->name, &is_whole);
	kept.description = text_keep(counters, counter->description, &is_whole);
	kept.architecture = text_keep(counters, counter->architecture, &is_whole);
	kept.block = text_keep(counters, counter->block, &is_whole);
	kept.expression = text_keep(counters, counter->expression, &is_whole);
	if (!is_whole)
		return -ENOMEM;
	if (counters->is_limited && !counters->more--)
		return -E2BIG;
	/* Only a second file can have it again: the first one is not searched, line for line. */
	there = counters->path[0] ? counter_find(counters, kept.architecture, kept.name) : NULL;
	if (there) {
		*there = kept;
		return 0;
	}
	if (counters->count == DEFINITIONS_MAX)
		return -E2BIG;
	if (make_room(&counters->items, counters->count, &counters->room, sizeof(kept)))
		return -ENOMEM;
	counters->items[counters->count++] = kept;
	return 0;
}

int amd_counters_read(struct amd_counters *counters, const char *path, struct err *err)
{
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	int r = text_read_file(path, DEFINITIONS_FILE_MAX, &text, &size);

	if (r == -EFBIG) {
		err_set(err, r, "read '%s': it has more than 8 MiB", path);
		return err_why(err, "definitions of counters have a tenth of that");
	}
	if (r)
		return err_set(err, r, "read '%s': %s", path, strerror(-r));
	r = amd_counters_parse(counters, text, size, path, err);
	if (!r)
		print_into(counters->path, sizeof(counters->path), "%s", path);
	return r;
}

/* Limited: each is searched for among those before, and a plan is made of it while a program
 * waits. */
int amd_counters_parse_tool(struct amd_counters *counters, const char *text, size_t size,
			    struct err *err)
{
	counters->is_limited = true;
	counters->more = DEFINITIONS_TOOL_MAX;
	return amd_counters_parse(counters, text, size, "definitions of a tool", err);
}

/* 0, -ENOENT: there is neither. */
static int folder_read(struct amd_counters *counters, const char *folder, struct err *err)
{
	char path[512];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct err one = { 0 };

		print_into(path, sizeof(path), "%s/%s", folder, files[i]);
		if (!amd_counters_read(counters, path, &one))
			return 0;
		if (one.code == -ENOENT || one.code == -ENOTDIR)
			continue;
		*err = one;
		return one.code;
	}
	return -ENOENT;
}

static int refuse_none(const char *folder, struct err *err)
{
	if (folder)
		err_set(err, -ENOENT, "'%s' has neither counter_defs.yaml nor config.yaml", folder);
	else
		err_set(err, -ENOENT, "definitions of AMD's counters are not found");
	err_why(err,
		"what a counter is, is read from ROCm's own files: those of ROCm's releases differ, "
		"and limpet carries none");
	err_fix(err, "install rocprofiler-sdk, or name the folder that has counter_defs.yaml: "
		     "ROCPROFILER_METRICS_PATH=FOLDER (of rocprofv3 also --config-dir FOLDER)");
	return err_exit(err, EXIT_USAGE);
}

int amd_counters_load(struct amd_counters *counters, const char *folder, struct err *err)
{
	static const char *const roots[] = { "/opt/rocm/share/rocprofiler-sdk",
					     "/usr/share/rocprofiler-sdk",
					     "/usr/local/share/rocprofiler-sdk" };
	const char *named = folder ? folder : secure_getenv("ROCPROFILER_METRICS_PATH");
	int r = -ENOENT;

	if (named && named[0]) {
		r = folder_read(counters, named, err);
		return r == -ENOENT ? refuse_none(named, err) : r;
	}
	for (size_t i = 0; r == -ENOENT && i < ARRAY_SIZE(roots); i++)
		r = folder_read(counters, roots[i], err);
	return r == -ENOENT ? refuse_none(NULL, err) : r;
}

void amd_counters_done(struct amd_counters *counters)
{
	free(counters->items);
	pool_done(&counters->texts);
	*counters = (struct amd_counters){ 0 };
}
