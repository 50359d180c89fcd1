/*
 * Traces a process for a while and prints what was seen as one JSON object: the recorder's smallest
 * form, for tests.
 *
 *	trace_probe PID MILLISECONDS WORD...
 *
 * A word is alloc, io, lock, lock-all, marker, alloc-stack, alloc-sample=BYTES,
 * function=LIB:SYMBOL, ring=BYTES, slots=COUNT, or calls: then every call is printed, one object a
 * line, before the summary.  least=NAME:COUNT makes it stay on, for a minute at most, until that
 * function was called, or that number of the summary has become, so much.  0 milliseconds: until a
 * line comes on standard input.  "attached" is printed once it is.
 */
#include "host/model/domains.h"
#include "host/session/session.h"
#include "host/session/trace.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS_MAX 64
#define GOALS_MAX     8
#define PATIENCE_MS   60000
#define PAUSE_MS      5

struct seen {
	uint64_t calls, ticks, total;           /* total: of the sizes */
	uint64_t texts, stacks, frames, copies; /* that came with it */
	uint64_t failed;
	char text[RECORD_TEXT_MAX + 1]; /* the last one */
};

/* What must have been seen before the probe leaves. */
struct goal {
	char name[64];
	uint64_t count;
};

struct probe {
	struct trace trace;
	struct goal goals[GOALS_MAX];
	unsigned goal_count;
	struct seen *seen;
	uint32_t last; /* function of the last call */
	uint64_t records, bad;
	bool prints_calls;
};

static const struct trace_function *function_of(const struct probe *probe, uint32_t index)
{
	const struct rings *layout = &probe->trace.layout;

	return (const struct trace_function *)((const char *)probe->trace.rings +
					       layout->functions_at) +
	       index % layout->function_max;
}

static void print_call(const struct trace_function *function, const struct record_call *call,
		       int32_t tid)
{
	const uint64_t *values = (const uint64_t *)(call + 1);

	printf("{\"event\":\"call\",\"name\":\"%.*s\",\"tid\":%d,\"begin\":%lu,\"end\":%lu,\"values\":[",
	       (int)sizeof(function->name), function->name, tid, call->begin, call->end);
	for (unsigned i = 0; i < call->head.count; i++)
		printf("%s%ld", i ? "," : "", (long)values[i]);
	printf("]}\n");
}

static void take_call(struct probe *probe, const struct record_call *call, int32_t tid)
{
	const struct trace_function *function = function_of(probe, call->function);
	struct seen *seen = &probe->seen[call->function % TRACE_FUNCTIONS_MAX];
	const uint64_t *values = (const uint64_t *)(call + 1);

	probe->last = call->function % TRACE_FUNCTIONS_MAX;
	seen->calls++;
	seen->ticks += call->end - call->begin;
	probe->bad += call->end < call->begin || call->head.count != function->value_count;
	for (unsigned i = 0; i < call->head.count && i < RECORD_VALUES_MAX; i++) {
		seen->total += function->values[i] == VALUE_SIZE ? values[i] : 0;
		seen->failed += function->values[i] == VALUE_RESULT && (int64_t)values[i] < 0;
	}
	if (probe->prints_calls)
		print_call(function, call, tid);
}

static void take(struct probe *probe, const struct record *record, int32_t tid)
{
	struct seen *seen = &probe->seen[probe->last];

	probe->records++;
	if (record->kind == RECORD_CALL) {
		take_call(probe, (const void *)record, tid);
	} else if (record->kind == RECORD_STACK) {
		seen->stacks++;
		seen->frames += record->count;
	} else if (record->kind == RECORD_STACK_PART) {
		seen->copies += !record->count;
	} else if (record->kind == RECORD_TEXT) {
		const struct record_text *text = (const void *)record;

		seen->texts++;
		snprintf(seen->text, sizeof(seen->text), "%.*s", (int)text->bytes,
			 (const char *)(text + 1));
	}
}

static void drain_ring(struct probe *probe, uint32_t index)
{
	const struct rings *layout = &probe->trace.layout;
	struct ring *ring = rings_slot(probe->trace.rings, index);
	const unsigned char *data = (const unsigned char *)probe->trace.rings + layout->data_at +
				    index * layout->ring_size;
	union {
		struct record record;
		char bytes[RECORD_MAX_BYTES];
	} buffer;
	long r;

	if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != RING_USED)
		return;
	while ((r = ring_read(ring, data, layout->ring_size, &buffer, sizeof(buffer)))) {
		probe->bad += r < 0;
		if (r > 0)
			take(probe, &buffer.record, ring->tid);
	}
}

/* A ring whose thread has ended is given to the next one. */
static void free_ring(struct probe *probe, pid_t pid, uint32_t index)
{
	struct ring *ring = rings_slot(probe->trace.rings, index);
	char path[64];

	if (ring->state != RING_USED)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, ring->tid);
	if (!access(path, F_OK))
		return;
	drain_ring(probe, index);
	ring_release(ring);
}

static void drain(struct probe *probe, pid_t pid)
{
	for (uint32_t i = 0; i < probe->trace.layout.slot_count; i++) {
		drain_ring(probe, i);
		free_ring(probe, pid, i);
	}
}

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t calls_of(const struct probe *probe, const char *name)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; i < probe->trace.layout.function_max; i++)
		if (probe->seen[i].calls &&
		    !strncmp(function_of(probe, i)->name, name, sizeof(((struct goal *)0)->name)))
			calls += probe->seen[i].calls;
	return calls;
}

static void count_drops(const struct probe *probe, uint64_t ret[DROP_REASONS])
{
	for (uint32_t i = 0; i < probe->trace.layout.slot_count; i++)
		for (unsigned reason = 0; reason < DROP_REASONS; reason++)
			ret[reason] += rings_slot(probe->trace.rings, i)->drops[reason];
}

static uint64_t count_threads(const struct probe *probe)
{
	uint64_t threads = 0;

	for (uint32_t i = 0; i < probe->trace.layout.slot_count; i++)
		threads += rings_slot(probe->trace.rings, i)->generation;
	return threads;
}

static bool is_reached(const struct probe *probe, const struct goal *goal)
{
	uint64_t drops[DROP_REASONS] = { 0 };
	const struct {
		const char *name;
		uint64_t count;
	} numbers[] = {
		{ "records", probe->records },
		{ "threads", count_threads(probe) },
		{ "full", (count_drops(probe, drops), drops[DROP_FULL]) },
		{ "nested", drops[DROP_NESTED] },
		{ "no_ring", probe->trace.rings->drops_without_ring },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(goal->name, numbers[i].name))
			return numbers[i].count >= goal->count;
	return calls_of(probe, goal->name) >= goal->count;
}

static bool has_seen_enough(const struct probe *probe)
{
	for (unsigned i = 0; i < probe->goal_count; i++)
		if (!is_reached(probe, &probe->goals[i]))
			return false;
	return true;
}

static void stay(struct probe *probe, pid_t pid, uint64_t duration_ms)
{
	struct pollfd input = { duration_ms ? -1 : STDIN_FILENO, POLLIN, 0 };
	uint64_t begin_ms = clock_ms(), end_ms = duration_ms ? begin_ms + duration_ms : UINT64_MAX;

	while (clock_ms() < end_ms ||
	       (!has_seen_enough(probe) && clock_ms() < begin_ms + PATIENCE_MS)) {
		if (poll(&input, 1, PAUSE_MS) > 0)
			break;
		drain(probe, pid);
	}
}

static void print_functions(const struct probe *probe)
{
	bool is_first = true;

	printf("\"functions\":{");
	for (uint32_t i = 0; i < probe->trace.layout.function_max; i++) {
		const struct trace_function *function = function_of(probe, i);
		const struct seen *seen = &probe->seen[i];

		if (!seen->calls)
			continue;
		printf("%s\"%.*s@%.*s#%u\":{\"domain\":\"%s\",\"calls\":%lu,\"ticks\":%lu,\"bytes\":%lu,"
		       "\"failed\":%lu,\"texts\":%lu,\"text\":\"%s\",\"stacks\":%lu,\"frames\":%lu,\"copies\":%lu}",
		       is_first ? "" : ",", (int)sizeof(function->name), function->name,
		       (int)sizeof(function->library), function->library, i,
		       domain_name(function->domain), seen->calls, seen->ticks, seen->total,
		       seen->failed, seen->texts, seen->text, seen->stacks, seen->frames,
		       seen->copies);
		is_first = false;
	}
	printf("}");
}

static void print_absent(const struct probe *probe)
{
	uint32_t absent = trace_absent(&probe->trace);
	bool is_first = true;

	printf("\"absent\":[");
	for (unsigned i = 0; i < DOMAINS; i++)
		if (absent & 1u << i) {
			printf("%s\"%s\"", is_first ? "" : ",", domain_name(i));
			is_first = false;
		}
	printf("]");
}

static void print_summary(const struct probe *probe)
{
	const struct rings *rings = probe->trace.rings;
	uint64_t drops[DROP_REASONS] = { 0 };

	count_drops(probe, drops);
	printf("{\"event\":\"trace\",\"records\":%lu,\"bad\":%lu,\"threads\":%lu,\"full\":%lu,"
	       "\"nested\":%lu,\"no_ring\":%lu,\"hooked\":%u,\"unwritable\":%u,\"refused\":%u,\"left\":%u,"
	       "\"restored\":%u,\"foreign\":%u,\"held\":%u,",
	       probe->records, probe->bad, count_threads(probe), drops[DROP_FULL],
	       drops[DROP_NESTED], rings->drops_without_ring, rings->words_hooked,
	       rings->words_unwritable, rings->words_refused, rings->words_left,
	       rings->words_restored, rings->words_foreign, rings->is_held);
	print_absent(probe);
	printf(",");
	print_functions(probe);
	printf("}\n");
}

static bool take_goal(struct probe *probe, const char *word)
{
	struct goal *goal = &probe->goals[probe->goal_count % GOALS_MAX];

	return probe->goal_count++ < GOALS_MAX &&
	       sscanf(word, "%63[^:]:%lu", goal->name, &goal->count) == 2;
}

static bool take_word(const char *word, struct trace_options *options, const char **functions,
		      struct probe *probe)
{
	struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "lock-all", &options->all_locks },
		{ "address-entries", &options->address_entries },
		{ "alloc-stack", &options->alloc_stacks },
		{ "calls", &probe->prints_calls },
	};

	for (unsigned i = 0; i < DOMAINS; i++)
		if (!strcmp(word, domain_name(i)))
			return options->domains |= 1u << i;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (!strcmp(word, flags[i].name))
			return *flags[i].flag = true;
	if (!strncmp(word, "alloc-sample=", 13)) {
		options->alloc_sample = strtoul(word + 13, NULL, 10);
		return true;
	}
	if (!strncmp(word, "ring=", 5)) {
		options->ring_size = strtoul(word + 5, NULL, 10);
		return true;
	}
	if (!strncmp(word, "slots=", 6)) {
		options->slot_count = (uint32_t)strtoul(word + 6, NULL, 10);
		return true;
	}
	if (!strncmp(word, "least=", 6))
		return take_goal(probe, word + 6);
	if (strncmp(word, "function=", 9) || options->function_count == FUNCTIONS_MAX)
		return false;
	functions[options->function_count++] = word + 9;
	return true;
}

static int fail(const struct err *err)
{
	fprintf(stderr, "trace_probe: %s%s%s\n", err->what, err->why[0] ? ": " : "", err->why);
	return 1;
}

static int visit(struct probe *probe, pid_t pid, uint64_t duration_ms)
{
	static struct session session;
	struct session_options options = { .trace = &probe->trace };
	struct session_left left;
	struct err err = { 0 };

	if (session_open(&session, pid, &options, &err))
		return fail(&err);
	printf("attached\n");
	fflush(stdout);
	stay(probe, pid, duration_ms);
	if (session_detach(&session, false, &left, &err) && err.code != -ESRCH)
		return fail(&err);
	session_close(&session);
	drain(probe, pid);
	print_summary(probe);
	return 0;
}

int main(int argc, char **argv)
{
	const char *functions[FUNCTIONS_MAX];
	struct trace_options options = { .functions = functions };
	struct probe probe = { .seen = calloc(TRACE_FUNCTIONS_MAX, sizeof(struct seen)) };
	struct err err = { 0 };
	int r;

	if (argc < 4 || !probe.seen)
		return 2;
	for (int i = 3; i < argc; i++)
		if (!take_word(argv[i], &options, functions, &probe)) {
			fprintf(stderr, "trace_probe: '%s'?\n", argv[i]);
			return 2;
		}
	if (trace_open(&probe.trace, &options, &err))
		return fail(&err);
	r = visit(&probe, (pid_t)strtol(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
	trace_close(&probe.trace);
	free(probe.seen);
	return r;
}
