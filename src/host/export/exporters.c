/*
 * Every format, and finding one.
 */
#include "host/export/exporter.h"

#include "host/model/samples/samples.h"

#include <string.h>

/* clang-format off */
#define EXPORTER(symbol, name, holds, help, ...)          \
	extern const struct exporter_format format_##symbol; \
	static const char *const extensions_##symbol[] = { __VA_ARGS__, NULL };
#include "host/export/exporters.def"

#define CALLS   HOLDS_CALLS
#define SAMPLES HOLDS_SAMPLES
#define WINDOWS HOLDS_WINDOWS

const struct exporter exporters[] = {
#define EXPORTER(symbol, name, holds, help, ...) { name, help, extensions_##symbol, holds, &format_##symbol },
#include "host/export/exporters.def"
	{ 0 },
};
/* clang-format on */

const struct exporter *exporter_find(const char *name)
{
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		if (strcmp(exporter->name, name) == 0)
			return exporter;
	return NULL;
}

unsigned exporter_content(const struct model *model)
{
	return (model->calls ? HOLDS_CALLS : 0u) | (model->samples->count ? HOLDS_SAMPLES : 0u) |
	       (model->windows.count ? HOLDS_WINDOWS : 0u);
}

const char *exporter_content_name(unsigned holds)
{
	return holds & HOLDS_CALLS     ? "calls"
	       : holds & HOLDS_SAMPLES ? "samples"
				       : "counters over time";
}

static const struct exporter *next_that_holds(const struct exporter *exporter, unsigned holds)
{
	while (exporter->name && !(exporter->holds & holds))
		exporter++;
	return exporter;
}

void exporter_names(unsigned holds, char ret[EXPORTER_NAMES_MAX])
{
	const struct exporter *exporter = next_that_holds(exporters, holds);
	size_t length = 0;

	ret[0] = '\0';
	while (exporter->name && length < EXPORTER_NAMES_MAX) {
		const struct exporter *next = next_that_holds(exporter + 1, holds);
		const char *before = !length ? "" : next->name ? ", " : " or ";

		length += (size_t)snprintf(ret + length, EXPORTER_NAMES_MAX - length, "%s%s",
					   before, exporter->name);
		exporter = next;
	}
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

	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		for (const char *const *end = exporter->extensions; *end; end++)
			if (ends_with(path, *end) && strlen(*end) > best_length) {
				best = exporter;
				best_length = strlen(*end);
			}
	return best;
}
