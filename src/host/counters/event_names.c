/*
 * The events that every kernel has by number, and those that it describes by files: PMUs below
 * /sys/bus/event_source/devices, tracepoints.  Names of files were checked before: they cannot lead
 * out of the folders.
 */
#include "host/counters/event_names.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/text/print.h"

#define CGROUP_SWITCHES 11 /* newer than some headers */

static const struct generic_event {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
	bool is_time, is_kernel_side;
} generic_events[] = {
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, .is_time = true },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, .is_time = true },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
	  .is_kernel_side = true },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS,
	  .is_kernel_side = true },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, CGROUP_SWITCHES, .is_kernel_side = true },
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

/* The kernel's order in both lists. */
static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				      "iTLB",      "branch",    "node" };

static const struct cache_access {
	const char *name;
	unsigned operation, result;
} cache_accesses[] = {
	{ "-loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "-load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "-stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS },
};

int counter_generic_find(const char *name, struct counter_event *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++) {
		const struct generic_event *known = &generic_events[i];

		if (strcmp(known->name, name) && (!known->alias || strcmp(known->alias, name)))
			continue;
		ret->type = known->type;
		ret->config = known->config;
		ret->is_time = known->is_time;
		ret->is_kernel_side = known->is_kernel_side;
		ret->needs_pmu = known->type == PERF_TYPE_HARDWARE;
		print_into(ret->base, sizeof(ret->base), "%s", known->name);
		return 0;
	}
	return -ENOENT;
}

int counter_cache_find(const char *name, struct counter_event *ret)
{
	for (unsigned cache = 0; cache < ARRAY_SIZE(caches); cache++)
		for (size_t i = 0; i < ARRAY_SIZE(cache_accesses); i++) {
			const struct cache_access *access = &cache_accesses[i];
			size_t length = strlen(caches[cache]);

			if (strncmp(caches[cache], name, length) ||
			    strcmp(access->name, name + length))
				continue;
			ret->type = PERF_TYPE_HW_CACHE;
			ret->config = cache | access->operation << 8 | access->result << 16;
			ret->needs_pmu = true;
			return 0;
		}
	return -ENOENT;
}

int counter_raw_find(const char *name, struct counter_event *ret)
{
	struct text rest = text_of(name);
	uint64_t config;

	if (!text_take_char(&rest, 'r') || !text_take_number(&rest, 16, &config) ||
	    rest.at != rest.end)
		return -ENOENT;
	ret->type = PERF_TYPE_RAW;
	ret->config = config;
	ret->needs_pmu = true;
	return 0;
}

void counter_generic_visit(counter_name_visitor *visit, void *context)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++)
		visit(generic_events[i].name, context);
}

void counter_cache_visit(counter_name_visitor *visit, void *context)
{
	char name[64];

	for (size_t cache = 0; cache < ARRAY_SIZE(caches); cache++)
		for (size_t i = 0; i < ARRAY_SIZE(cache_accesses); i++) {
			print_into(name, sizeof(name), "%s%s", caches[cache],
				   cache_accesses[i].name);
			visit(name, context);
		}
}

#define TERMS_DEEPEST 2u /* a name expands to terms, and those to no more names */

DEFINE_CLEANUP(DIR *, closedir)

static void pmu_path(char ret[PATH_MAX], const struct counter_sources *sources, const char *pmu,
		     const char *name)
{
	snprintf(ret, PATH_MAX, "%s/%s/%s", sources->devices, pmu, name);
}

/* The first line of a file; its size or -errno. */
static ssize_t pmu_read_line(const struct counter_sources *sources, const char *pmu,
			     const char *name, char *buffer, size_t capacity)
{
	char path[PATH_MAX];
	ssize_t size;

	pmu_path(path, sources, pmu, name);
	size = text_read_small(path, buffer, capacity);
	if (size >= 0)
		buffer[strcspn(buffer, "\n")] = '\0';
	return size;
}

int pmu_type(const struct counter_sources *sources, const char *pmu)
{
	char line[32];
	uint64_t type;

	if (pmu_read_line(sources, pmu, "type", line, sizeof(line)) < 0 ||
	    text_parse_number(line, INT_MAX, &type))
		return -ENOENT;
	return (int)type;
}

/* "cpu" on x86-64; with several kinds of processors, and on aarch64, more specific names. */
static bool pmu_is_core(const struct counter_sources *sources, const char *pmu)
{
	char path[PATH_MAX];

	if (!strcmp(pmu, "cpu"))
		return true;
	pmu_path(path, sources, pmu, "cpus");
	return access(path, F_OK) == 0;
}

static int pmu_compare(const void *left, const void *right)
{
	return strcmp(left, right);
}

void core_pmus_read(const struct counter_sources *sources, struct core_pmus *ret)
{
	CLEANUP(closedir) DIR *folder = opendir(sources->devices);
	struct dirent *entry;

	*ret = (struct core_pmus){ 0 };
	while (folder && ret->count < CORE_PMUS_MAX && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < sizeof(ret->names[0]) &&
		    pmu_is_core(sources, entry->d_name))
			memcpy(ret->names[ret->count++], entry->d_name, strlen(entry->d_name) + 1);
	qsort(ret->names, ret->count, sizeof(ret->names[0]), pmu_compare);
}

bool counter_has_pmu(const struct counter_sources *sources)
{
	struct core_pmus pmus;

	core_pmus_read(sources, &pmus);
	return pmus.count > 0;
}

/* The part of the attributes that a format names. */
static uint64_t *pmu_take_config(struct text *format, struct counter_event *event)
{
	if (text_take_prefix(format, "config1:"))
		return &event->config1;
	if (text_take_prefix(format, "config2:"))
		return &event->config2;
	return text_take_prefix(format, "config:") ? &event->config : NULL;
}

/* "0-7" or "21" */
static bool pmu_take_range(struct text *format, uint64_t *ret_low, uint64_t *ret_high)
{
	if (!text_take_number(format, 10, ret_low))
		return false;
	*ret_high = *ret_low;
	if (text_take_char(format, '-') && !text_take_number(format, 10, ret_high))
		return false;
	return *ret_low <= *ret_high && *ret_high < 64;
}

int pmu_put_bits(const char *format, uint64_t value, struct counter_event *event)
{
	struct text rest = text_of(format);
	uint64_t *config = pmu_take_config(&rest, event), low, high;

	if (!config)
		return -EINVAL;
	do {
		if (!pmu_take_range(&rest, &low, &high))
			return -EINVAL;
		for (uint64_t bit = low; bit <= high; bit++, value >>= 1)
			*config = (*config & ~(1ull << bit)) | (value & 1) << bit;
	} while (text_take_char(&rest, ','));
	if (rest.at != rest.end)
		return -EINVAL;
	return value ? -ERANGE : 0;
}

/* perf's terms without a format. */
static int pmu_put_plain(const char *key, uint64_t value, struct counter_event *event)
{
	if (!strcmp(key, "config"))
		event->config = value;
	else if (!strcmp(key, "config1"))
		event->config1 = value;
	else if (!strcmp(key, "config2"))
		event->config2 = value;
	else
		return -EINVAL;
	return 0;
}

static int pmu_put(const struct counter_sources *sources, const char *pmu, const char *key,
		   uint64_t value, struct counter_event *event)
{
	char file[80], format[128];

	snprintf(file, sizeof(file), "format/%s", key);
	if (pmu_read_line(sources, pmu, file, format, sizeof(format)) < 0)
		return pmu_put_plain(key, value, event);
	return pmu_put_bits(format, value, event);
}

static bool pmu_take_value(struct text *rest, uint64_t *ret)
{
	bool is_hex = text_take_prefix(rest, "0x") || text_take_prefix(rest, "0X");

	return text_take_number(rest, is_hex ? 16 : 10, ret) && rest->at == rest->end;
}

static bool pmu_is_word(const char *word)
{
	return *word && *word != '.' &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_.-")];
}

static int pmu_apply_terms(const struct counter_sources *sources, const char *pmu,
			   struct text terms, struct counter_event *event, unsigned depth);

/* A name without a value is a bit, or stands for other terms. */
static int pmu_apply_name(const struct counter_sources *sources, const char *pmu, const char *name,
			  struct counter_event *event, unsigned depth)
{
	char file[80], terms[256];

	snprintf(file, sizeof(file), "events/%s", name);
	if (depth < TERMS_DEEPEST && pmu_read_line(sources, pmu, file, terms, sizeof(terms)) >= 0)
		return pmu_apply_terms(sources, pmu, text_of(terms), event, depth + 1);
	return pmu_put(sources, pmu, name, 1, event);
}

static int pmu_apply_term(const struct counter_sources *sources, const char *pmu, struct text term,
			  struct counter_event *event, unsigned depth)
{
	struct text key = term;
	char name[64];
	uint64_t value;

	if (!text_take_field(&term, '=', &key) || key.end - key.at >= (ptrdiff_t)sizeof(name))
		return -EINVAL;
	text_copy(key, name, sizeof(name));
	if (!pmu_is_word(name))
		return -EINVAL;
	if (key.end == term.end) /* there was no '=' */
		return pmu_apply_name(sources, pmu, name, event, depth);
	return pmu_take_value(&term, &value) ? pmu_put(sources, pmu, name, value, event) : -EINVAL;
}

static int pmu_apply_terms(const struct counter_sources *sources, const char *pmu,
			   struct text terms, struct counter_event *event, unsigned depth)
{
	struct text term;
	int r = terms.at == terms.end ? -EINVAL : 0;

	while (!r && text_take_field(&terms, ',', &term))
		r = pmu_apply_term(sources, pmu, term, event, depth);
	return r;
}

int pmu_apply(const struct counter_sources *sources, const char *pmu, struct text terms,
	      struct counter_event *event)
{
	return pmu_apply_terms(sources, pmu, terms, event, 0);
}

bool pmu_has_event(const struct counter_sources *sources, const char *pmu, const char *name)
{
	char path[PATH_MAX], file[COUNTER_NAME_MAX + 8];

	snprintf(file, sizeof(file), "events/%s", name);
	pmu_path(path, sources, pmu, file);
	return pmu_is_word(name) && access(path, F_OK) == 0;
}

void pmu_names_visit(const struct counter_sources *sources, const char *pmu,
		     counter_name_visitor *visit, void *context)
{
	char path[PATH_MAX], name[COUNTER_NAME_MAX];
	CLEANUP(closedir) DIR *folder = NULL;
	struct dirent *entry;

	pmu_path(path, sources, pmu, "events");
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		/* Beside each event there may be files with its unit and scale. */
		if (!pmu_is_word(entry->d_name) || strchr(entry->d_name, '.'))
			continue;
		print_into(name, sizeof(name), "%s/%s/", pmu, entry->d_name);
		visit(name, context);
	}
}

int counter_tracepoint_find(const struct counter_sources *sources, const char *subsystem,
			    const char *name, struct counter_event *ret)
{
	char path[PATH_MAX], line[32];
	ssize_t size;
	uint64_t id;

	if (!pmu_is_word(subsystem) || !pmu_is_word(name))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s/%s/id", sources->tracepoints, subsystem, name);
	size = text_read_small(path, line, sizeof(line));
	if (size < 0)
		return size == -EACCES || size == -EPERM ? -EACCES : -ENOENT;
	line[strcspn(line, "\n")] = '\0';
	if (text_parse_number(line, UINT32_MAX, &id))
		return -ENOENT;
	ret->type = PERF_TYPE_TRACEPOINT;
	ret->config = id;
	ret->is_kernel_side = true;
	return 0;
}
