/*
 * Makes the memory of the tracer's rings, and the request that selects what it traces; reads what
 * the tracer notes and counts there.
 */
#include "host/session/trace.h"

#include "host/attach/children/blobs.h"
#include "host/attach/children/spawn.h"
#include "host/attach/library.h"
#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "shared/base/hash.h"
#include "shared/wire/domains.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REQUEST_SPARE 32 /* for parts added later */

static void trace_add(char *text, const char *format, ...) PRINTF_LIKE(2, 3);
static void trace_add(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, RINGS_REQUEST_MAX - length, format, args);
	va_end(args);
}

/* Option names and their domains: "alloc" is --alloc-trace. */
static const struct {
	const char *option;
	uint32_t domains;
} named_domains[] = {
/* clang-format off */
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, option, help) { option, 1u << (number) },
#define DOMAIN_NO_OPTION(...)
#define DOMAIN_SET(name, letter, option, help) { option, DOMAINS_##name },
#include "shared/wire/domains.def"
	/* clang-format on */
};

uint32_t trace_domains_named(const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i < ARRAY_SIZE(named_domains); i++)
		if (strncmp(named_domains[i].option, word, size) == 0 &&
		    strcmp(named_domains[i].option + size, "-trace") == 0)
			return named_domains[i].domains;
	return 0;
}

uint32_t trace_domains(const struct trace_options *options)
{
	return options->domains |
	       (uint32_t)(options->all_locks || options->lock_stacks) << DOMAIN_LOCK |
	       (uint32_t)options->io_stacks << DOMAIN_IO |
	       (uint32_t)(options->alloc_stacks || options->alloc_sample) << DOMAIN_ALLOC |
	       (uint32_t) !!options->function_count << DOMAIN_FUNCTION |
	       (uint32_t) !!options->counters << DOMAIN_COUNTER |
	       (uint32_t) !!options->windows << DOMAIN_WINDOW;
}

bool trace_reads_launches(const struct trace_options *options)
{
	return options->runtime_options & RUNTIME_OPTION_BIT(LAUNCH_STACKS);
}

bool trace_reads_python(const struct trace_options *options)
{
	return trace_reads_launches(options) || options->alloc_sample || options->io_stacks ||
	       options->lock_stacks;
}

static int check_options(const struct trace_options *options, struct err *err)
{
	uint64_t size = options->ring_size;

	if (!trace_domains(options))
		return err_set(err, -EINVAL, "no trace was requested");
	if (options->slot_count > RINGS_SLOTS_MAX)
		return err_set(err, -EINVAL, "more than %u threads", RINGS_SLOTS_MAX);
	if (size && (size < 4 * RECORD_MAX_BYTES || size > 1u << 30 || size & (size - 1)))
		return err_set(err, -EINVAL,
			       "a ring of %lu bytes: not a power of two from 4K to 1G", size);
	return 0;
}

int trace_request(const struct trace_options *options, char text[RINGS_REQUEST_MAX],
		  struct err *err)
{
	const struct {
		bool is_wanted;
		const char *text;
	} words[] = {
		{ options->all_locks, "lock-all;" },
		{ options->address_entries, "address-entries;" },
		{ options->alloc_stacks, "alloc-stack;" },
		{ options->io_stacks, "io-stack;" },
		{ options->lock_stacks, "lock-stack;" },
	};
	uint32_t wanted = trace_domains(options);
	int r = check_options(options, err);

	text[0] = '\0';
	if (r)
		return r;
	for (unsigned i = 0; i < DOMAINS; i++)
		if (domain_key(i) && wanted & 1u << i)
			trace_add(text, "%s;", domain_key(i));
	if (options->counters)
		trace_add(text, "%s", options->counters);
	if (options->windows)
		trace_add(text, "%s", options->windows);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].is_wanted)
			trace_add(text, "%s", words[i].text);
	for (unsigned i = 0; i < RUNTIME_OPTIONS; i++)
		if (options->runtime_options >> i & 1)
			trace_add(text, "%s;", runtime_options[i].request);
	if (options->alloc_sample)
		trace_add(text, "alloc-sample=%lu;", options->alloc_sample);
	for (size_t i = 0; i < options->function_count; i++) {
		if (strchr(options->functions[i], ';'))
			return err_set(err, -EINVAL, "'%s' is not LIBRARY:SYMBOL",
				       options->functions[i]);
		trace_add(text, "function=%s;", options->functions[i]);
	}
	return strlen(text) + REQUEST_SPARE < RINGS_REQUEST_MAX
		       ? 0
		       : err_set(err, -E2BIG, "the names of functions are too long together");
}

static uint64_t ring_size(const struct trace_options *options)
{
	const uint32_t devices =
		DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY) | DOMAINS_BUSY | DOMAIN_BIT(COUNTER);

	if (options->ring_size)
		return options->ring_size;
	return trace_domains(options) & devices ? TRACE_RING_SIZE_DEVICES : TRACE_RING_SIZE;
}

int trace_open(struct trace *ret, const struct trace_options *options, struct err *err)
{
	struct rings layout;
	size_t size = rings_layout(options->slot_count ? options->slot_count : TRACE_SLOTS,
				   ring_size(options), TRACE_FUNCTIONS_MAX, &layout);
	int r = trace_request(options, layout.request, err);

	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	if (r)
		return r;
	ret->fd = shared_open("limpet-rings", size, /* is_allocated */ false);
	if (ret->fd < 0)
		err_set(err, ret->fd, "%zu bytes of memory for records: %s", size,
			strerror(-ret->fd));
	if (ret->fd == -EFBIG) {
		err_why(err, "the limit of file sizes (ulimit -f) holds for shared memory too");
		err_fix(err,
			"a higher limit (ulimit -f unlimited), or smaller rings (--ring-size 4K)");
	}
	if (ret->fd < 0)
		return ret->fd;
	ret->rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd, 0);
	if (ret->rings == MAP_FAILED) {
		ret->rings = NULL;
		err_set(err, -errno, "map %zu bytes for records: %s", size, strerror(errno));
		trace_close(ret);
		return err->code;
	}
	*ret->rings = ret->layout = layout;
	ret->domains_wanted = trace_domains(options);
	ret->wants_stacks = trace_reads_python(options);
	ret->notes = calloc(TRACE_NOTES, sizeof(*ret->notes));
	if (ret->notes)
		return 0;
	trace_close(ret);
	return err_set(err, -ENOMEM, "no memory");
}

void trace_close(struct trace *trace)
{
	if (trace->rings)
		munmap(trace->rings, trace->layout.size);
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace->notes);
	trace->notes = NULL;
	trace->rings = NULL;
	trace->fd = -1;
}

static uint32_t read_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

uint32_t trace_absent(const struct trace *trace)
{
	return trace->domains_wanted & ~read_word(&trace->rings->domains_found);
}

/* The tracer's notes lie in memory that the target can write to: each is copied, bounded and made
 * printable before it is shown. */
static void copy_text(const struct trace_note *note, char ret[TRACE_NOTE_TEXT_MAX])
{
	size_t length = 0;

	for (; length < TRACE_NOTE_TEXT_MAX - 1; length++) {
		char letter = ((const volatile char *)note->text)[length];

		if (!letter)
			break;
		ret[length] = (char)(letter >= ' ' && letter <= '~' ? letter : '?');
	}
	ret[length] = '\0';
}

static bool note_is_about(const struct trace *trace, unsigned number, enum note_about about)
{
	const struct trace_note *note = &trace->rings->notes[number];

	return read_word(&note->is_said) && read_word(&note->about) == about;
}

/* The copy lives as long as the trace, or until the same note is read again. */
static const char *note_text(const struct trace *trace, unsigned number)
{
	copy_text(&trace->rings->notes[number], trace->notes[number]);
	return trace->notes[number];
}

const char *trace_note(const struct trace *trace, unsigned domain)
{
	uint32_t asked = domain < DOMAINS ? 1u << domain & trace->domains_wanted : 0;

	for (unsigned i = 0; i < TRACE_NOTES; i++) {
		uint32_t domains = read_word(&trace->rings->notes[i].domains) & asked;

		if (((note_is_about(trace, i, NOTE_DOMAINS) ||
		      note_is_about(trace, i, NOTE_HELD)) &&
		     domains) ||
		    (note_is_about(trace, i, NOTE_ABSENT) && domains & trace_absent(trace)))
			return note_text(trace, i);
	}
	return NULL;
}

uint32_t trace_held(const struct trace *trace)
{
	uint32_t domains = 0;

	for (unsigned i = 0; i < TRACE_NOTES; i++)
		if (note_is_about(trace, i, NOTE_HELD))
			domains |= read_word(&trace->rings->notes[i].domains);
	return domains & trace_absent(trace);
}

const char *trace_end_note(const struct trace *trace, unsigned note)
{
	return note < TRACE_NOTES && note_is_about(trace, note, NOTE_END) ? note_text(trace, note)
									  : NULL;
}

void trace_queues_add(struct trace_queues *to, const struct trace_queues *more)
{
	to->timed += more->timed;
	to->estimated += more->estimated;
	to->left += more->left;
	for (uint32_t i = 0; i < more->reason_count; i++) {
		uint32_t at = 0;

		while (at < to->reason_count && strcmp(to->reasons[at], more->reasons[i]))
			at++;
		if (at == to->reason_count && at < TRACE_REASONS_MAX)
			snprintf(to->reasons[to->reason_count++], TRACE_NOTE_TEXT_MAX, "%s",
				 more->reasons[i]);
	}
}

void trace_queues(const struct trace *trace, struct trace_queues *ret)
{
	const struct rings *rings = trace->rings;

	*ret = (struct trace_queues){ .timed = read_word(&rings->queues_timed),
				      .estimated = read_word(&rings->queues_estimated),
				      .left = read_word(&rings->queues_left) };
	for (unsigned i = 0; i < TRACE_NOTES && ret->reason_count < TRACE_REASONS_MAX; i++)
		if (note_is_about(trace, i, NOTE_QUEUES))
			copy_text(&rings->notes[i], ret->reasons[ret->reason_count++]);
}

void trace_words(const struct trace *trace, struct trace_words *ret)
{
	const struct rings *rings = trace->rings;

	*ret = (struct trace_words){ .hooked = read_word(&rings->words_hooked),
				     .restored = read_word(&rings->words_restored),
				     .foreign = read_word(&rings->words_foreign),
				     .unwritable = read_word(&rings->words_unwritable),
				     .refused = read_word(&rings->words_refused) };
	/* Acquire: pairs with the release in report_left() of the tracer; the names are foreign. */
	ret->left = __atomic_load_n(&rings->words_left, __ATOMIC_ACQUIRE);
	snprintf(ret->left_function, sizeof(ret->left_function), "%.*s",
		 (int)sizeof(rings->left_function) - 1, rings->left_function);
	snprintf(ret->left_module, sizeof(ret->left_module), "%.*s",
		 (int)sizeof(rings->left_module) - 1, rings->left_module);
}

/* A child made without libc has its parent's number in libc's thread block.  libc registers each
 * thread's robust list with the kernel, in its forked children, too; such a child has none. */
static bool is_unknown_to_libc(pid_t pid)
{
	void *list = NULL;
	size_t size = 0;

	return !syscall(SYS_get_robust_list, pid, &list, &size) && !list;
}

static int send_rings(struct attachment *attachment, const struct trace *trace, struct err *err)
{
	struct control_rings order = { .header = order_header(CONTROL_RINGS, sizeof(order), 0),
				       .size = trace->layout.size };

	if (is_unknown_to_libc(attachment->target.process.pid))
		trace_add(trace->rings->request, "ask-number;");
	return attach_order(attachment, &order.header, trace->fd, NULL, err);
}

/* A thread in strict seccomp mode is killed when it reads the time as traced calls do. */
static int refuse_strict(pid_t pid, struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status status;
	size_t count;
	int r = proc_list(pid, "task", &tids, &count, err);

	for (size_t i = 0; !r && i < count; i++) {
		if (status_read(pid, tids[i], &status, NULL) || status.seccomp != 1)
			continue;
		err_set(err, -ENOTSUP, "thread %d is in seccomp's strict mode", tids[i]);
		return err_why(
			err,
			"a traced call reads the clock, and the kernel would kill the thread for that");
	}
	return r;
}

int trace_load(struct attachment *attachment, const struct trace *trace, struct session_tool *tool,
	       struct err *err)
{
	size_t size = (size_t)(blob_tracer_end - blob_tracer);
	size_t id_size = (size_t)(blob_tracer_id_end - blob_tracer_id);
	/* Two builds of limpet have different tracers: distinguished by their build ids. */
	struct control_load load = { .header = order_header(CONTROL_LOAD, sizeof(load), 0),
				     .identity = { .inode = hash_bytes(blob_tracer_id, id_size),
						   .size = size },
				     .path = TRACER_NAME,
				     .timeout_ms = attachment->link.timeout_ms };
	struct library library = LIBRARY_NONE;
	struct control_reply reply = { 0 };
	int r = send_rings(attachment, trace, err);

	if (r)
		return r;
	if (attachment->report.way == BOOT_WAY_CALL) {
		err_set(err, -ENOTSUP, "this program uses musl");
		return err_why(
			err,
			"limpet's tracer needs static thread-local storage, which musl does not give "
			"to a library that is loaded later");
	}
	r = refuse_strict(attachment->target.process.pid, err);
	if (!r)
		r = library_pack(&attachment->target, TRACER_NAME, blob_tracer, size, &library,
				 err);
	if (r)
		return r;
	load.header.flags = library_flags(&library);
	if (!(trace->domains_wanted & ~TRACE_DOMAINS_APART))
		load.header.flags |= CONTROL_APART;
	tool->by_content = true;
	r = attach_order(attachment, &load.header, library.fd, &reply, err);
	library_close(&library);
	tool->index = reply.value;
	return r;
}
