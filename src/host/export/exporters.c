/*
 * Every format, and finding one.
 */
#include "host/export/exporter.h"

#include <string.h>

extern const struct exporter exporter_pftrace, exporter_chrome, exporter_csv, exporter_json,
	exporter_rocpd, exporter_rocprof_csv, exporter_rocprof_json, exporter_flamegraph,
	exporter_svg, exporter_folded, exporter_pprof, exporter_speedscope, exporter_perf_script,
	exporter_firefox;

const struct exporter *const exporters[] = {
	&exporter_pftrace,      &exporter_chrome,      &exporter_csv,
	&exporter_json,         &exporter_rocpd,       &exporter_rocprof_csv,
	&exporter_rocprof_json, &exporter_flamegraph,  &exporter_svg,
	&exporter_folded,       &exporter_pprof,       &exporter_speedscope,
	&exporter_firefox,      &exporter_perf_script, NULL,
};

const struct exporter *exporter_find(const char *name)
{
	for (const struct exporter *const *exporter = exporters; *exporter; exporter++)
		if (strcmp((*exporter)->name, name) == 0)
			return *exporter;
	return NULL;
}

static bool ends_with(const char *path, const char *extension)
{
	size_t length = strlen(path), end = strlen(extension);

	return length > end && strcmp(path + length - end, extension) == 0;
}

/* The longest ending counts: a.chrome.json is not json. */
const struct exporter *exporter_for_path(const char *path)
{
	const struct exporter *best = NULL;
	size_t best_length = 0;

	for (const struct exporter *const *exporter = exporters; *exporter; exporter++)
		for (const char *const *end = (*exporter)->extensions; *end; end++)
			if (ends_with(path, *end) && strlen(*end) > best_length) {
				best = *exporter;
				best_length = strlen(*end);
			}
	return best;
}

void export_stack(const struct call *call, char *ret, size_t room)
{
	size_t length = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < call->frame_count && length + 1 < room; i++) {
		if (i)
			ret[length++] = ';';
		frame_text(call->process, call->frames[i], ret + length, room - length);
		length += strlen(ret + length);
	}
}
