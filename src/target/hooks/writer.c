/*
 * Runs inside every traced call, malloc included, on threads of the program's and in its signal
 * handlers.  Also looked at from the thread that ends a session: that one must know when nobody is
 * in the rings any more, since their memory goes.
 */
#include "target/hooks/writer.h"

#include "shared/arch/syscall.h"
#include "shared/wire/boot.h"
#include "target/hooks/thread.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define PAGE_BYTES     65536u
#define SETTLE_NS      5000000 /* what a store needs to be seen by all, and much more */
#define CLOSE_TRIES    40
#define RETRY_CLAIM    4096u /* calls */
#define IGNORED_THREAD UINT32_MAX
#define GENERATIONS    8u

/* Sixteen bytes of the little room that libraries which come late may have. */
struct thread_state {
	struct writer *writer; /* NULL: no ring was free */
	uint32_t session;      /* of the writer */
	uint32_t retry;        /* calls until it tries for a ring again */
};
static __thread struct thread_state self __attribute__((tls_model("initial-exec")));

/* In a page that a forked child finds empty: there, nothing is on. */
struct switches {
	uint32_t session; /* that is on; 0: none */
};

/*
 * Never unmapped: a thread may stop between looking at the switch and looking at its writer, and go
 * on when that session is over.  What it then says to its writer must not reach a thread of a later
 * session, so each session has writers of its own, until the eighth after it.
 */
struct writers {
	struct writer items[GENERATIONS][RINGS_SLOTS_MAX];
};

static struct switches *switches;
static struct writers *writers;
static struct rings *rings;
static uint32_t session, claiming;

static void *map(size_t size)
{
	long r = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

static int make_switches(void)
{
	struct switches *made = switches ? switches : map(PAGE_BYTES);

	if (!made)
		return -ENOMEM;
	if (!switches && raw3(SYS_madvise, made, PAGE_BYTES, MADV_WIPEONFORK)) {
		raw2(SYS_munmap, made, PAGE_BYTES);
		return -ENOTSUP;
	}
	switches = made;
	return 0;
}

static struct writer *writer_at(uint32_t index)
{
	return &writers->items[session % GENERATIONS][index];
}

int writers_open(struct rings *given)
{
	int r = make_switches();

	if (r)
		return r;
	if (!writers)
		writers = map(sizeof(*writers));
	if (!writers)
		return -ENOMEM;
	rings = given;
	if (++session == 0)
		session = 1;
	memset(writer_at(0), 0, given->slot_count * sizeof(struct writer));
	/* Release: who sees it on sees all of the above. */
	__atomic_store_n(&switches->session, session, __ATOMIC_RELEASE);
	return 0;
}

void writers_forget(void)
{
	claiming = 0;
	rings = NULL;
}

/* The session that is on. */
static uint32_t current(void)
{
	return __atomic_load_n(&switches->session, __ATOMIC_ACQUIRE);
}

static bool is_used(void)
{
	if (__atomic_load_n(&claiming, __ATOMIC_ACQUIRE))
		return true;
	for (uint32_t i = 0; i < rings->slot_count; i++)
		/* Acquire: pairs with writer_end(). */
		if (__atomic_load_n(&writer_at(i)->busy, __ATOMIC_ACQUIRE) &&
		    raw3(SYS_tgkill, raw0(SYS_getpid), rings_slot(rings, i)->tid, 0) != -ESRCH)
			return true;
	return false;
}

/*
 * A writer first says that it is busy and then looks whether all is still on; we switch off, give
 * what it said time to arrive, and look who is busy.  So one of the two sees the other.
 */
bool writers_close(void)
{
	struct timespec pause = { 0, SETTLE_NS };
	bool is_quiet = false;

	if (!rings)
		return true;
	__atomic_store_n(&switches->session, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; !is_quiet && i < CLOSE_TRIES; i++) {
		raw2(SYS_nanosleep, &pause, 0);
		is_quiet = !is_used();
	}
	rings = NULL;
	return is_quiet;
}

struct rings *writers_rings(void)
{
	return rings;
}

uint32_t writers_session(void)
{
	return session;
}

void writer_ignore_me(void)
{
	self.retry = IGNORED_THREAD;
}

/* limpet's own threads in the target: what they do is not the program's. */
static bool is_ours(void)
{
	char name[16] = "";

	raw2(SYS_prctl, PR_GET_NAME, name);
	return text_equal(name, CONTROL_THREAD_NAME) || text_equal(name, RUNNER_THREAD_NAME);
}

/* The first record of a thread in this session, or one of a thread that found no ring. */
static struct writer *claim(void)
{
	struct ring_writer made;
	struct writer *writer = NULL;

	if (self.session == session && --self.retry) {
		__atomic_fetch_add(&rings->drops_without_ring, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (ring_claim(rings, thread_number(), (char[sizeof(made.ring->name)]){ 0 }, &made)) {
		writer = writer_at((uint32_t)(made.ring - rings_slot(rings, 0)));
		*writer = (struct writer){ .ring = made };
	} else {
		__atomic_fetch_add(&rings->drops_without_ring, 1, __ATOMIC_RELAXED);
	}
	self.retry = RETRY_CLAIM;
	self.writer = writer;
	/* A signal handler that comes in between claims a ring of its own; the host frees both. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.session = session;
	return writer;
}

static struct writer *find_writer(void)
{
	struct writer *writer = NULL;

	if (self.session != session && is_ours())
		writer_ignore_me();
	if (self.retry == IGNORED_THREAD)
		return NULL;
	__atomic_fetch_add(&claiming, 1, __ATOMIC_SEQ_CST);
	if (current())
		writer = claim();
	__atomic_fetch_sub(&claiming, 1, __ATOMIC_RELEASE);
	return writer;
}

/*
 * A writer that is busy was interrupted by a signal, and we are in its handler, further down the
 * stack.  Where the stack is not longer than it was when that writer began, it began in a call that
 * is no more: the handler has left by longjmp.
 */
static bool is_interrupted(const struct writer *writer, uint64_t stack)
{
	return writer->busy && stack < writer->busy;
}

/* Says that it is busy, unless that session is over. */
static bool occupy(struct writer *writer, uint32_t now, uint64_t stack)
{
	__atomic_store_n(&writer->busy, stack, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (current() == now)
		return true;
	__atomic_compare_exchange_n(&writer->busy, &stack, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return false;
}

struct writer *writer_begin(void)
{
	uint64_t stack = (uint64_t)__builtin_frame_address(0);
	uint32_t now = switches ? current() : 0;
	bool is_nested;
	struct writer *writer;

	if (!now)
		return NULL;
	writer = self.session == now && self.writer ? self.writer : find_writer();
	if (!writer)
		return NULL;
	is_nested = is_interrupted(writer, stack);
	if (!is_nested)
		return occupy(writer, now, stack) ? writer : NULL;
	/* The writer below keeps the ring where it is. */
	if (current() == now)
		writer->ring.ring->drops[DROP_NESTED]++;
	return NULL;
}

bool writers_are_on(void)
{
	return switches && current();
}

struct writer *writer_mine(void)
{
	uint32_t now = switches ? current() : 0;

	if (!now)
		return NULL;
	return self.session == now ? self.writer : find_writer();
}

void writer_end(struct writer *writer)
{
	/* Release: whoever sees that nobody is here may take the memory away. */
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELEASE);
}

bool writer_call(struct writer *writer, const struct record_call *call, const uint64_t *values)
{
	size_t size = record_call_size(call->head.count);
	struct record_call *record = ring_reserve(&writer->ring, size);
	uint64_t *into = (uint64_t *)(record + 1);

	if (!record)
		return false;
	*record = *call;
	record->head.size = (uint16_t)size;
	record->head.kind = RECORD_CALL;
	for (unsigned i = 0; i < call->head.count; i++)
		into[i] = values[i];
	/* A child forked by a signal handler in the midst of this is not to touch the ring. */
	if (current())
		ring_commit(&writer->ring, size);
	return true;
}

void writer_text(struct writer *writer, const char *text, size_t length)
{
	size_t size;
	struct record_text *record;

	length = MIN(length, (size_t)RECORD_TEXT_MAX);
	size = ALIGN_UP(sizeof(*record) + length, RECORD_ALIGNMENT);
	record = ring_reserve(&writer->ring, size);
	if (!record)
		return;
	*record = (struct record_text){ { (uint16_t)size, RECORD_TEXT, 0 }, (uint32_t)length };
	memcpy(record + 1, text, length);
	ring_commit(&writer->ring, size);
}

void writer_stack(struct writer *writer, const uint64_t *frames, unsigned count)
{
	size_t size = sizeof(struct record_stack) + count * sizeof(*frames);
	struct record_stack *record = ring_reserve(&writer->ring, size);

	if (!record)
		return;
	*record = (struct record_stack){ { (uint16_t)size, RECORD_STACK, (uint8_t)count }, 0 };
	memcpy(record + 1, frames, count * sizeof(*frames));
	ring_commit(&writer->ring, size);
}

static bool write_part(struct writer *writer, const struct record_name *given, const char *text)
{
	size_t size = ALIGN_UP(sizeof(*given) + given->bytes, RECORD_ALIGNMENT);
	struct record_name *record = ring_reserve(&writer->ring, size);

	if (!record)
		return false;
	*record = *given;
	record->head.size = (uint16_t)size;
	memcpy(record + 1, text, given->bytes);
	if (current())
		ring_commit(&writer->ring, size);
	return true;
}

bool writer_name(struct writer *writer, enum name_space space, uint64_t id, const char *text,
		 size_t length)
{
	const size_t part_max = RECORD_MAX_BYTES - sizeof(struct record_name);
	size_t at = 0;
	bool is_written = true;

	length = MIN(length, (size_t)NAME_BYTES_MAX);
	for (unsigned part = 0; is_written && (at < length || !part); part++) {
		size_t bytes = MIN(length - at, part_max);
		struct record_name record = {
			{ 0, RECORD_NAME, (uint8_t)part }, (uint16_t)bytes, (uint16_t)space, id
		};

		is_written = write_part(writer, &record, text + at);
		at += bytes;
	}
	return is_written;
}
