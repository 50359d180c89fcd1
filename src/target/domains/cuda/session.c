/*
 * One CUPTI subscription, from the first call to the last. Runs on limpet's threads, one at a time;
 * cuda_session_end() also ends a session that began only in part.
 */
#include "target/domains/cuda/cuda.h"

#include "target/runtime/kernel_clock.h"

#include <errno.h>

/* interval of flushes for live viewers; CUPTI completes full buffers without a flush */
#define TEND_NS       1000000000u
#define RENEW_NS      60000000000u /* minimum interval of renewals because of invalid times */
#define DRAIN_STEP_NS 5000000
#define DRAIN_STEPS   400u /* two seconds */

/* Constants of CUPTI. */
enum { ALREADY_SUBSCRIBED = 39 };
enum { ZEROED_BUFFERS = 5 };
enum { FLUSH_WHAT_IS_DONE = 0, FLUSH_ALL = 1 };

static const struct {
	enum trace_domain domain;
	enum cupti_kind kind;
} kinds[] = {
	{ DOMAIN_KERNEL, CUPTI_CONCURRENT_KERNEL },
	{ DOMAIN_KERNEL, CUPTI_MEMSET },
	{ DOMAIN_COPY, CUPTI_COPY },
	{ DOMAIN_COPY, CUPTI_PEER_COPY },
	{ DOMAIN_MEMORY, CUPTI_MEMORY },
};

static struct {
	bool is_on;
	uint32_t care; /* bits of enum cuda_care */
	uint32_t domains;
	uint32_t enabled; /* bits: indices of kinds[] */
	void *subscriber;
	uint64_t tended_ns, renewed_ns;
	struct cupti cupti;
	struct cuda_driver driver;
} session;

bool cuda_session_is_on(void)
{
	return session.is_on;
}

uint32_t cuda_session_domains(void)
{
	return session.domains;
}

static int session_refuse(enum cuda_note note, int code)
{
	note_raise(&cuda_notes[note]);
	return code;
}

/* limpet zeroes buffers in advance, so that CUPTI need not do it inside a launch. */
static void session_set_zeroed(uint8_t is_zeroed)
{
	size_t size = sizeof(is_zeroed);

	(void)session.cupti.set_attribute(ZEROED_BUFFERS, &size, &is_zeroed);
}

static void hold_work(void)
{
	if (session.care & CARE_HOLD)
		gate_shut();
}

static void kinds_enable(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!cuda_writes(kinds[i].domain) || session.cupti.enable(kinds[i].kind))
			continue;
		session.enabled |= 1u << i;
		session.domains |= 1u << kinds[i].domain;
	}
}

/* Enables callbacks first, because the gate works in these, and disables them if calls are not
 * recorded. */
static void session_enable(void)
{
	callbacks_enable(&session.cupti, session.subscriber);
	hold_work();
	kinds_enable();
	gate_open();
	if (cuda_writes(DOMAIN_CUDA))
		session.domains |= DOMAIN_BIT(CUDA);
	else
		callbacks_disable(&session.cupti, session.subscriber);
}

static void session_disable(void)
{
	if (!cuda_writes(DOMAIN_CUDA))
		callbacks_enable(&session.cupti, session.subscriber);
	hold_work();
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		if (session.enabled >> i & 1)
			(void)session.cupti.disable(kinds[i].kind);
	gate_end();
	callbacks_disable(&session.cupti, session.subscriber);
}

static int session_subscribe(void)
{
	int r = session.cupti.subscribe(&session.subscriber, callbacks_on_call, NULL);

	if (r == ALREADY_SUBSCRIBED)
		return session_refuse(SAY_CUDA_HELD, -EBUSY);
	return r ? session_refuse(SAY_CUDA_REFUSED, -EIO) : 0;
}

static int session_find(const struct cuda_driver *driver)
{
	uint32_t version = 0;

	session.driver = *driver;
	if (!library_find_cupti(driver, &session.cupti))
		return session_refuse(SAY_CUDA_NO_CUPTI, -ENOENT);
	if (session.cupti.version(&version) || !layout_is_known(version))
		return session_refuse(SAY_CUDA_UNKNOWN_CUPTI, -ENOTSUP);
	session.care = hazards_care(version);
	if (session.care & CARE_REFUSE)
		return session_refuse(SAY_CUDA_HAZARD, -ENOTSUP);
	if (!hazards_are_known(version))
		note_raise(&cuda_notes[SAY_CUDA_UNCHECKED]);
	return 0;
}

/* Sets up everything that callbacks use before the first callback. */
static int session_prepare(void)
{
	int r = causes_open();

	if (!r)
		r = buffers_open();
	if (!r && !callbacks_announce(&session.cupti))
		r = -ENOSPC;
	if (r)
		return r;
	devices_query(&session.driver);
	cuda_clock_set(&session.cupti);
	activities_use(&session.cupti, session.care);
	return 0;
}

/* Subscribes, and enables everything that is requested. */
static int session_open(void)
{
	int r = session_subscribe();

	session.domains = session.enabled = 0;
	if (r)
		return r;
	session.is_on = true;
	activities_renew();
	if (session.cupti.register_buffers(buffer_provide, activities_convert))
		return session_refuse(SAY_CUDA_REFUSED, -EIO);
	session_set_zeroed(1);
	session_enable();
	return session.domains ? 0 : session_refuse(SAY_CUDA_REFUSED, -EIO);
}

int cuda_session_begin(const struct cuda_driver *driver)
{
	int r = session_find(driver);

	session.renewed_ns = 0;
	if (!r)
		r = session_prepare();
	return r ? r : session_open();
}

/* Waits until devices have finished their work and CUPTI has delivered its records. Work that takes
 * longer is delivered without times, together with finished work of the same buffer. */
static void session_drain(void)
{
	(void)session.cupti.flush(FLUSH_WHAT_IS_DONE);
	for (unsigned i = 0; i < DRAIN_STEPS && buffers_in_use(); i++) {
		sleep_ns(DRAIN_STEP_NS);
		(void)session.cupti.flush(FLUSH_WHAT_IS_DONE);
	}
	if (!buffers_in_use())
		return;
	buffers_retire(true);
	(void)session.cupti.flush(FLUSH_ALL);
	buffers_retire(false);
}

/* Disables CUPTI, but never finalizes it (CARE_STAY in hazards.def). */
static void session_close(void)
{
	cuda_clock_set(&session.cupti);
	activities_end();
	session_disable();
	session_drain();
	session_set_zeroed(0);
	(void)session.cupti.unsubscribe(session.subscriber);
	session.is_on = false;
}

static void session_report(struct rings *rings)
{
	struct cuda_tally tally = activities_tally();

	rings->work_cut += (uint32_t)MIN(tally.cut, (uint64_t)UINT32_MAX);
	rings->work_lost += (uint32_t)MIN(tally.dropped + tally.unwritten, (uint64_t)UINT32_MAX);
	if (tally.dropped || tally.unwritten)
		note_raise(&cuda_notes[SAY_CUDA_DROPPED]);
	if (tally.misled)
		note_raise(&cuda_notes[SAY_CUDA_MISLED]);
	if (session.care & CARE_STAY)
		note_raise(&cuda_notes[SAY_CUDA_STAYS]);
}

static void session_leave(struct rings *rings)
{
	buffers_close();
	session_report(rings);
	causes_close();
	library_release();
}

void cuda_session_end(struct rings *rings)
{
	if (!session.is_on)
		return;
	session_close();
	session_leave(rings);
}

/* Another profiler may subscribe in between: then the session ends. */
static void session_renew(void)
{
	session_close();
	note_raise(&cuda_notes[SAY_CUDA_RENEWED]);
	if (!session_open())
		return;
	if (session.is_on)
		session_close();
	session_leave(writers_rings());
}

void cuda_session_tend(void)
{
	uint64_t now = monotonic_ns();
	struct cuda_wear wear = activities_wear();

	if (!session.is_on || now - session.tended_ns < TEND_NS)
		return;
	session.tended_ns = now;
	cuda_clock_set(&session.cupti);
	(void)session.cupti.flush(FLUSH_WHAT_IS_DONE);
	if (now - session.renewed_ns < RENEW_NS)
		wear.timeless = 0;
	if (!hazards_want_renewal(session.care, &wear))
		return;
	session.renewed_ns = now;
	session_renew();
}

/* CUDA does not work in a forked child, which has no CUPTI threads. */
void cuda_session_forget(void)
{
	gate_end();
	session.is_on = false;
}
