/*
 * Runs inside every traced call, malloc included, on threads of the program's and in its signal
 * handlers.  Also looked at from the thread that ends a session: that one must know when nobody is
 * in the rings any more, since their memory goes.
 */
#include "target/hooks/writer_private.h"

#include "shared/arch/syscall.h"
#include "shared/arch/thunk.h"
#include "shared/arch/ticks.h"
#include "target/hooks/stack.h"
#include "target/hooks/thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE_BYTES     65536u
#define SETTLE_NS      5000000 /* what a store needs to be seen by all, and much more */
#define CLOSE_TRIES    200     /* a thread that has lost its processor gets it back in this time */
#define RETRY_CLAIM    4096u   /* calls */
#define STRAYS_MAX     4096u
#define STACK_PAGE     4096u
#define SEAL           0x6c696d7065747772u
#define IGNORED_THREAD UINT32_MAX
#define GENERATIONS    8u
#define CLAIMING       (UINT32_MAX - GENERATIONS) /* and up: in a claim, of that generation */

/* Sixteen bytes of the little room that libraries which come late may have. */
struct thread_state {
	struct writer *writer; /* NULL: no ring was free */
	uint32_t session;      /* of the writer */
	uint32_t retry;        /* calls until it tries for a ring again, or one of the above */
};
static __thread struct thread_state self __attribute__((tls_model("initial-exec")));

_Static_assert(offsetof(struct thread_state, writer) == SELF_AT_WRITER, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct thread_state, session) == SELF_AT_SESSION, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct writer, sample_left) == WRITER_AT_SAMPLE_LEFT,
	       "alloc_thunk.S counts it down");
_Static_assert(offsetof(struct writer, handing_on) == WRITER_AT_HANDING_ON,
	       "alloc_thunk.S reads it");

/*
 * Never unmapped: a thread may stop between looking at the switch and looking at its writer, and go
 * on when that session is over.  What it then says to its writer must not reach a thread of a later
 * session, so each session has writers of its own, until the eighth after it.
 */
struct writers {
	struct writer items[GENERATIONS][RINGS_SLOTS_MAX];
};

/* One for each of those eight. */
struct generation {
	struct rings *rings; /* NULL: nobody can be in it */
	uint32_t claiming;   /* threads that look for a ring */
};

struct writer_switches *writer_switches;
static struct writers *writers;
static struct generation generations[GENERATIONS];
static struct rings *rings; /* NULL: no session */
static writer_is_own *is_own;
static uint32_t session;
static int32_t owner; /* a forked child finds its parent's here */

static void *memory_map(size_t size)
{
	long r = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

static int make_switches(void)
{
	struct writer_switches *made = writer_switches ? writer_switches : memory_map(PAGE_BYTES);

	if (!made)
		return -ENOMEM;
	if (!writer_switches && raw3(SYS_madvise, made, PAGE_BYTES, MADV_WIPEONFORK)) {
		raw2(SYS_munmap, made, PAGE_BYTES);
		return -ENOTSUP;
	}
	writer_switches = made;
	return 0;
}

static struct generation *generation_of(uint32_t number)
{
	return &generations[number % GENERATIONS];
}

static struct writer *writer_at(uint32_t number, uint32_t index)
{
	return &writers->items[number % GENERATIONS][index];
}

/* The next number whose writers nobody uses; 0: all are held by threads that do not come out. */
static uint32_t next_session(void)
{
	for (uint32_t i = 1; i <= GENERATIONS; i++)
		if (session + i && !generation_of(session + i)->rings)
			return session + i;
	return 0;
}

int writers_open(struct rings *given, writer_is_own *given_is_own)
{
	int r = make_switches();
	uint32_t next;

	if (r)
		return r;
	if (!writers)
		writers = memory_map(sizeof(*writers));
	if (!writers)
		return -ENOMEM;
	writers_settle();
	next = next_session();
	if (!next)
		return -EBUSY;
	session = next;
	rings = given;
	is_own = given_is_own;
	owner = (int32_t)raw0(SYS_getpid);
	*generation_of(session) = (struct generation){ .rings = given };
	memset(writer_at(session, 0), 0, given->slot_count * sizeof(struct writer));
	/* Release: who sees it on sees all of the above. */
	__atomic_store_n(&writer_switches->session, session, __ATOMIC_RELEASE);
	return 0;
}

void writers_forget(void)
{
	memset(generations, 0, sizeof(generations));
	rings = NULL;
}

static bool is_used(uint32_t number)
{
	const struct generation *generation = generation_of(number);

	if (__atomic_load_n(&generation->claiming, __ATOMIC_ACQUIRE))
		return true;
	for (uint32_t i = 0; i < generation->rings->slot_count; i++)
		/* Acquire: pairs with writer_end(). */
		if (__atomic_load_n(&writer_at(number, i)->busy, __ATOMIC_ACQUIRE) &&
		    raw3(SYS_tgkill, raw0(SYS_getpid), rings_slot(generation->rings, i)->tid, 0) !=
			    -ESRCH)
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
	__atomic_store_n(&writer_switches->session, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; !is_quiet && i < CLOSE_TRIES; i++) {
		raw2(SYS_nanosleep, &pause, 0);
		is_quiet = !is_used(session);
	}
	if (is_quiet)
		generation_of(session)->rings = NULL;
	rings = NULL;
	return is_quiet;
}

/* What a forked child finds here is its parent's, its memory is gone, and that word is shared. */
void writers_settle(void)
{
	if (owner != (int32_t)raw0(SYS_getpid)) {
		writers_forget();
		return;
	}
	for (uint32_t i = 0; i < GENERATIONS; i++) {
		struct rings *held = generations[i].rings;

		if (!held || held == rings || is_used(i))
			continue;
		generations[i].rings = NULL;
		/* Release: from here on it may be unmapped. */
		__atomic_store_n(&held->is_held, 0, __ATOMIC_RELEASE);
	}
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
	return is_own && is_own(thread_number());
}

/*
 * Who is busy was interrupted by a signal, and we are in its handler, on whatever stack; or the
 * handler has left by longjmp, and he is no more.  The second is sure only where his seal is gone:
 * we stand at the same address, or in the same page, which is therefore there, and it was
 * overwritten.
 */
static bool is_left(uint64_t busy, const writer_seal *seal)
{
	uint64_t here = (uint64_t)seal;

	if (busy == here)
		return true;
	return busy / STACK_PAGE == here / STACK_PAGE &&
	       *(const writer_seal *)busy != (SEAL ^ busy);
}

/* The thread has left a write of an earlier session by longjmp: nobody waits for it any more. */
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

/* Notes where it is: a signal handler may leave this by longjmp, and somebody has to know.  The
 * seal is never found where a writer is looked for, nor a writer where a seal is. */
static void begin_claim(uint32_t now, writer_seal *seal)
{
	*seal = SEAL ^ (uint64_t)seal;
	self.writer = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.retry = CLAIMING + now % GENERATIONS;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A signal handler may have come before that, and claimed one. */
	self.writer = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.session = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.writer = (struct writer *)(uintptr_t)seal;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void end_claim(uint32_t now, struct writer *writer)
{
	/* A signal handler that comes in between claims a ring of its own; the host frees both. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.retry = RETRY_CLAIM;
	/* Not the other way round: in a claim, a handler takes this for the claim's seal, gone. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.writer = writer;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.session = now;
}

/* Is the seal of who makes it still there?  It may lie on any stack, also on one that is gone. */
static bool is_sealed(const writer_seal *claim, const writer_seal *seal)
{
	return claim != seal && stack_has_word(claim) && *claim == (SEAL ^ (uint64_t)claim);
}

/* True when the call came in the midst of a claim of its own thread.  One that was left is ended,
 * once: a signal handler that comes now sees it, too. */
static bool is_in_claim(const writer_seal *seal)
{
	uint32_t retry = self.retry;
	struct generation *generation = &generations[(retry - CLAIMING) % GENERATIONS];

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

/* The first record of a thread in this session, or one of a thread that found no ring. */
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
		*writer = (struct writer){ .ring = made };
	} else {
		count_drops_without_ring(from);
	}
	end_claim(now, writer);
	return writer;
}

/* The memory stays while we are counted; NULL when that session is over. */
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
	if (self.session != now && is_ours())
		writer_ignore_me();
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

/* Says that it is busy, unless that session is over. */
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

/* Who is busy keeps the ring where it is.  When he never comes back, the thread gets another. */
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

static void lose_without_ring(uint32_t now)
{
	struct rings *entered = enter_rings(now);

	if (entered)
		count_drops_without_ring(entered);
	leave_rings(now);
}

void writer_lose(void)
{
	uint32_t now = writer_switches ? writers_current() : 0;
	struct writer *writer = self.session == now ? self.writer : NULL;
	writer_seal seal;

	if (!now || self.retry == IGNORED_THREAD)
		return;
	if (!writer || (writer->busy && !is_left(writer->busy, &seal))) {
		lose_without_ring(now);
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
	/* Release: whoever sees that nobody is here may take the memory away. */
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELEASE);
}
