/*
 * Runs inside every hooked call, even malloc, on application threads and in signal handlers.
 */
#include "target/hooks/writer_private.h"

#include "shared/arch/thunk.h"
#include "shared/arch/ticks.h"
#include "target/hooks/stack.h"
#include "target/hooks/thread.h"

#include <stddef.h>

#define RETRY_CLAIM    4096u /* calls */
#define STRAYS_MAX     4096u
#define STACK_PAGE     4096u
#define SEAL           0x6c696d7065747772u
#define IGNORED_THREAD UINT32_MAX
#define CLAIMING       (UINT32_MAX - GENERATIONS) /* from here on: in a claim for that generation */

/* Sixteen bytes of the small reserve of static TLS for libraries loaded later. */
struct thread_state {
	struct writer *writer; /* NULL: no ring was free */
	uint32_t session;      /* of the writer */
	uint32_t retry;        /* calls until it tries again to get a ring, or a constant above */
};
static __thread struct thread_state self __attribute__((tls_model("initial-exec")));

_Static_assert(offsetof(struct thread_state, writer) == SELF_AT_WRITER, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct thread_state, session) == SELF_AT_SESSION, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct writer, sample_left) == WRITER_AT_SAMPLE_LEFT,
	       "alloc_thunk.S counts it down");
_Static_assert(offsetof(struct writer, handing_on) == WRITER_AT_HANDING_ON,
	       "alloc_thunk.S reads it");

void writer_ignore_me(void)
{
	self.retry = IGNORED_THREAD;
}

/*
 * The writer is busy: either a signal interrupted the writing call and this is the handler, on any
 * stack; or the handler left by longjmp, and the writing call is gone. The latter is certain only
 * if the call's seal is gone: this seal has the same address, or lies in the same page, which is
 * therefore mapped, and the old seal was overwritten.
 */
static bool is_left(uint64_t busy, const writer_seal *seal)
{
	uint64_t here = (uint64_t)seal;

	if (busy == here)
		return true;
	return busy / STACK_PAGE == here / STACK_PAGE &&
	       *(const writer_seal *)busy != (SEAL ^ busy);
}

/* Frees the writer of an earlier session if this thread has left its write by longjmp. */
static void leave_earlier(uint32_t now, writer_seal *seal)
{
	struct writer *earlier = self.writer;

	if (self.session && earlier && now - self.session < GENERATIONS && earlier->busy &&
	    is_left(earlier->busy, seal))
		writer_end(earlier, seal);
}

static void count_drops_without_ring(struct rings *from)
{
	__atomic_fetch_add(&from->drops_without_ring, 1, __ATOMIC_RELAXED);
}

/* Stores the claim's seal, so that a claim left by longjmp in a signal handler is recognized. The
 * seal is never taken for a writer, nor a writer for a seal. */
static void begin_claim(uint32_t now, writer_seal *seal)
{
	*seal = SEAL ^ (uint64_t)seal;
	self.writer = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.retry = CLAIMING + now % GENERATIONS;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A signal handler may have interrupted before that, and claimed a writer. */
	self.writer = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.session = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.writer = (struct writer *)(uintptr_t)seal;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void end_claim(uint32_t now, struct writer *writer)
{
	/* A signal handler that interrupts here claims a ring of its own; the host frees both. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.retry = RETRY_CLAIM;
	/* In this order: else a handler would take the writer for the seal of an abandoned
	 * claim. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.writer = writer;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.session = now;
}

/* True if the claim's seal is still there. It may lie on any stack, even an unmapped one. */
static bool is_sealed(const writer_seal *claim, const writer_seal *seal)
{
	return claim != seal && stack_has_word(claim) && *claim == (SEAL ^ (uint64_t)claim);
}

/* True if the call interrupts a claim of its own thread. A claim that was left is ended, once: an
 * interrupting signal handler may also find it. */
static bool is_in_claim(const writer_seal *seal)
{
	uint32_t retry = self.retry;
	struct generation *generation = &writer_generations[(retry - CLAIMING) % GENERATIONS];

	if (retry < CLAIMING || retry == IGNORED_THREAD)
		return false;
	if (self.session || !self.writer || is_sealed((const writer_seal *)self.writer, seal)) {
		if (generation->rings)
			count_drops_without_ring(generation->rings);
		return true;
	}
	if (__atomic_compare_exchange_n(&self.retry, &retry, 1, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		__atomic_fetch_sub(&generation->claiming, 1, __ATOMIC_RELEASE);
	return false;
}

/* Claims a ring for the thread's first record in this session, or retries without a ring. */
static struct writer *writer_claim(struct rings *from, uint32_t now, writer_seal *seal)
{
	struct ring_writer made;
	struct writer *writer = NULL;

	if (self.session == now && --self.retry) {
		count_drops_without_ring(from);
		return NULL;
	}
	begin_claim(now, seal);
	if (ring_claim(from, thread_number(), (char[sizeof(made.ring->name)]){ 0 }, &made)) {
		writer = writer_at(now, (uint32_t)(made.ring - rings_slot(from, 0)));
		*writer = (struct writer){
			.ring = made,
			.rings = from,
		};
	} else {
		count_drops_without_ring(from);
	}
	end_claim(now, writer);
	return writer;
}

/* Counts this thread in, which keeps the rings mapped; NULL if the session is over. */
static struct rings *enter_rings(uint32_t now)
{
	struct generation *generation = generation_of(now);

	__atomic_fetch_add(&generation->claiming, 1, __ATOMIC_SEQ_CST);
	return writers_current() == now ? generation->rings : NULL;
}

static void leave_rings(uint32_t now)
{
	__atomic_fetch_sub(&generation_of(now)->claiming, 1, __ATOMIC_RELEASE);
}

static struct writer *find_writer(uint32_t now, writer_seal *seal)
{
	struct writer *writer = NULL;
	struct rings *entered;

	if (is_in_claim(seal))
		return NULL;
	if (self.session != now && writers_own(thread_number()))
		writer_ignore_me(); /* a call of limpet's own thread is not the application's */
	if (self.retry == IGNORED_THREAD)
		return NULL;
	if (self.session != now)
		leave_earlier(now, seal);
	entered = enter_rings(now);
	if (entered)
		writer = writer_claim(entered, now, seal);
	leave_rings(now);
	return writer;
}

bool writer_admit(struct writer_pass *pass)
{
	uint32_t now = writer_switches ? writers_current() : 0;
	struct rings *entered;
	writer_seal seal;

	if (self.retry != IGNORED_THREAD || !now)
		return false;
	if (pass->session == now && pass->thread == thread_number()) {
		end_claim(now, pass->writer);
		return true;
	}
	entered = enter_rings(now);
	self.retry = 1;
	if (entered)
		(void)writer_claim(entered, now, &seal);
	leave_rings(now);
	return true;
}

void writer_dismiss(struct writer_pass *pass)
{
	*pass = (struct writer_pass){ self.writer, self.session, thread_number() };
	self.writer = NULL;
	self.session = 0;
	writer_ignore_me();
}

/* Marks the writer busy, unless the session is over. */
static bool writer_occupy(struct writer *writer, uint32_t now, writer_seal *seal)
{
	uint64_t here = (uint64_t)seal;

	*seal = SEAL ^ here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&writer->busy, here, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (writers_current() == now)
		return true;
	*seal = 0;
	__atomic_compare_exchange_n(&writer->busy, &here, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return false;
}

/* A busy writer keeps its ring. If the interrupted call never returns, the thread gets another. */
static void writer_note_stray(struct writer *writer, uint32_t now)
{
	if (writers_current() == now)
		writer->ring.ring->drops[DROP_NESTED]++;
	if (++writer->strays < STRAYS_MAX)
		return;
	self.retry = 1;
	self.writer = NULL;
}

struct writer *writer_begin(writer_seal *seal)
{
	uint32_t now = writer_switches ? writers_current() : 0;
	struct writer *writer;

	if (!now)
		return NULL;
	writer = self.session == now && self.writer ? self.writer : find_writer(now, seal);
	if (!writer)
		return NULL;
	if (!writer->busy || is_left(writer->busy, seal))
		return writer_occupy(writer, now, seal) ? writer : NULL;
	writer_note_stray(writer, now);
	return NULL;
}

void writer_note(unsigned note)
{
	uint32_t now = writer_switches ? writers_current() : 0;
	struct rings *entered = now ? enter_rings(now) : NULL;

	if (entered)
		__atomic_store_n(&entered->notes[note].is_said, 1, __ATOMIC_RELAXED);
	if (now)
		leave_rings(now);
}

static void count_lost_without_ring(uint32_t now)
{
	struct rings *entered = enter_rings(now);

	if (entered)
		count_drops_without_ring(entered);
	leave_rings(now);
}

void writer_count_lost(void)
{
	uint32_t now = writer_switches ? writers_current() : 0;
	struct writer *writer = self.session == now ? self.writer : NULL;
	writer_seal seal;

	if (!now || self.retry == IGNORED_THREAD)
		return;
	if (!writer || (writer->busy && !is_left(writer->busy, &seal))) {
		count_lost_without_ring(now);
	} else if (writer_occupy(writer, now, &seal)) {
		writer->ring.ring->drops[DROP_NO_COUNTER]++;
		writer_end(writer, &seal);
	}
}

bool writers_are_on(void)
{
	return writer_switches && writers_current();
}

struct writer *writer_known(void)
{
	uint32_t now = writer_switches ? writers_current() : 0;

	return now && self.session == now ? self.writer : NULL;
}

struct writer_path writer_path(void)
{
	return (struct writer_path){ &writer_switches->session, (char *)&self - thread_pointer() };
}

struct writer *writer_mine(void)
{
	uint32_t now = writer_switches ? writers_current() : 0;
	writer_seal seal;

	if (!now)
		return NULL;
	return self.session == now ? self.writer : find_writer(now, &seal);
}

void writer_end(struct writer *writer, writer_seal *seal)
{
	*seal = 0;
	writer->strays = 0;
	/* Release: pairs with the acquire in is_used(), before the rings are unmapped. */
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELEASE);
}
