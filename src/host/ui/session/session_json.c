/*
 * A session as JSON.
 */
#include "host/core/clock.h"
#include "host/core/text/foreign.h"
#include "host/model/statistics.h"
#include "host/runtimes/runtimes.h"
#include "host/ui/session/session.h"

#include <stdio.h>
#include <string.h>

static const char *const state_names[] = {
	[UI_RECORDING] = "recording", [UI_STOPPED] = "stopped", [UI_DETACHED] = "detached",
	[UI_ENDED] = "ended",         [UI_FAILED] = "failed",   [UI_FILE] = "file",
};

/* The facts about samples that both kinds of sessions have. */
struct sample_facts {
	const char *sampler, *reasons;
	uint64_t samples, lost, forgotten, oldest_ns, unnamed, guessed;
	uint64_t ends[STACK_ENDS];
	uint64_t calls, dropped;
	bool has_off_cpu, has_alloc, has_gpu, has_lock, has_io;
	char recording[256]; /* the file that is written and kept; "" */
};

static int oldest_read(const struct slice *slice, void *context)
{
	struct sample_facts *facts = context;

	for (size_t i = 0; i < slice->model->samples->frame_count; i++)
		facts->unnamed += slice->model->samples->frames[i].is_unnamed;
	if (facts->forgotten && slice->count)
		facts->oldest_ns = slice->items[0].time_ns - slice->origin_ns;
	return 0;
}

static void domains_add(uint32_t domains, struct sample_facts *ret)
{
	ret->has_alloc |= domains & DOMAIN_BIT(ALLOC);
	ret->has_lock |= domains & DOMAIN_BIT(LOCK);
	ret->has_io |= domains & DOMAIN_BIT(IO);
	for (unsigned i = 0; i < DOMAINS; i++)
		ret->has_gpu |= domains & 1u << i && domain_is_activity(i);
}

/* Facts about the recording besides the samples. */
static void calls_facts(struct ui_session *session, struct sample_facts *ret)
{
	const struct source_facts *facts = &session->facts;

	if (!session->source || !session->is_attached)
		return;
	ret->calls = facts->calls;
	ret->dropped = facts->dropped;
	/* Requested: there may be some at any time. */
	domains_add(session->traced, ret);
	/* These include the work of devices. */
	ret->has_gpu |= session->traced & DOMAINS_WORK;
	foreign_copy(ret->recording, sizeof(ret->recording), facts->path);
	/* The first poll, and each after the end, reads the calls before it lists their domains. */
	if (session->traced && (!session->calls.bytes || session->state != UI_RECORDING))
		ui_session_follow(session);
	domains_add(session->calls.domains, ret);
}

static void live_facts(struct ui_session *session, struct sample_facts *ret)
{
	struct live_counts counts = live_counts(session->live);
	const struct ui_range all = { 0 };

	ret->sampler = session->facts.sampler ? session->facts.sampler : "";
	ret->reasons = session->facts.reasons;
	ret->samples = counts.seen;
	ret->lost = session->lost + session->facts.lost;
	ret->forgotten = counts.forgotten;
	for (unsigned i = 0; i < STACK_ENDS; i++)
		ret->ends[i] = counts.ends[i];
	(void)!ui_session_read(session, &all, KINDS_ALL, oldest_read, ret);
	calls_facts(session, ret);
}

static void file_facts(const struct ui_session *session, struct sample_facts *ret)
{
	const struct model *model = session->store.model;
	const struct samples *samples = model->samples;

	ret->sampler = samples->sampler;
	ret->reasons = samples->reasons;
	ret->samples = samples->count;
	ret->lost = samples->lost;
	ret->unnamed = samples->unnamed;
	ret->guessed = samples->guessed;
	ret->calls = model->calls;
	domains_add(session->calls.domains, ret);
	for (unsigned i = 0; i < STACK_ENDS; i++)
		ret->ends[i] = samples->ends[i];
	for (unsigned i = 0; i < DROP_REASONS; i++)
		ret->dropped += model->drops[i];
}

static void ends_write(struct json *json, const struct sample_facts *facts)
{
	uint64_t complete = facts->ends[STACK_COMPLETE], all = 0;

	json_object(json, "stack_ends");
	for (unsigned i = 0; i < STACK_ENDS; i++) {
		all += facts->ends[i];
		if (facts->ends[i])
			json_number(json, stack_end_key(i), facts->ends[i]);
	}
	json_object_end(json);
	json_number(json, "incomplete", all - complete);
}

static void kinds_write(struct json *json, const struct sample_facts *facts)
{
	json_list(json, "kinds");
	json_text(json, NULL, "cpu");
	if (facts->has_off_cpu) {
		json_text(json, NULL, "off-cpu");
		json_text(json, NULL, "runnable");
		json_text(json, NULL, "wall");
	}
	if (facts->has_alloc)
		json_text(json, NULL, "alloc");
	if (facts->has_gpu)
		json_text(json, NULL, "gpu");
	if (facts->has_lock)
		json_text(json, NULL, "lock");
	if (facts->has_io)
		json_text(json, NULL, "io");
	json_list_end(json);
}

/* Of one processor, since the session began: all that limpet did meanwhile. */
static double overhead_percent(const struct ui_session *session)
{
	uint64_t cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - session->own_cpu_ns;

	return 100 * (double)cpu_ns / (double)MAX(now_ns() - session->origin_ns, 1u);
}

static void samples_write(struct json *json, const struct sample_facts *facts)
{
	json_text(json, "sampler", facts->sampler);
	json_text(json, "sampler_why", facts->reasons);
	json_number(json, "samples", facts->samples);
	json_number(json, "lost", facts->lost);
	json_number(json, "forgotten", facts->forgotten);
	json_number(json, "oldest_ns", facts->oldest_ns);
	json_number(json, "unnamed", facts->unnamed);
	json_number(json, "guessed", facts->guessed);
	json_number(json, "calls", facts->calls);
	json_number(json, "dropped", facts->dropped);
	ends_write(json, facts);
	kinds_write(json, facts);
}

/* "alloc;io" of the recording; the requested ones of a live session. */
static void traces_write(struct json *json, const struct ui_session *session)
{
	const char *at = session->store.model ? session->store.model->options : "";
	char word[64];

	json_list(json, "traces");
	for (unsigned i = 0; i < session->wish.trace_count; i++)
		json_text(json, NULL, session->wish.traces[i]);
	for (; *at; at += strcspn(at, ";"), at += *at == ';') {
		snprintf(word, sizeof(word), "%.*s", (int)MIN(strcspn(at, ";"), 63u), at);
		json_text(json, NULL, word);
	}
	json_list_end(json);
}

void ui_session_write(struct ui_session *session, struct json *json, const char *key)
{
	struct sample_facts facts = { .has_off_cpu = ui_session_has_off_cpu(session) };
	bool is_live = ui_session_is_live(session);
	char damage[256] = "";

	ui_session_poll(session);
	if (is_live)
		live_facts(session, &facts);
	else
		file_facts(session, &facts);
	json_object(json, key);
	json_number(json, "id", session->id);
	json_text(json, "kind", is_live ? "live" : "file");
	json_text(json, "state", state_names[session->state]);
	json_text(json, "name", session->name);
	json_signed(json, "pid", session->wish.pid);
	json_text(json, "file", session->file);
	json_signed(json, "start_unix_ms", session->start_unix_ms);
	json_number(json, "begin_ns", 0);
	json_number(json, "end_ns", ui_session_end_ns(session));
	json_number(json, "hz", session->wish.hz);
	json_bool(json, "off_cpu", session->wish.off_cpu);
	samples_write(json, &facts);
	traces_write(json, session);
	json_text(json, "recording", facts.recording);
	if (is_live)
		json_rounded(json, "overhead_percent", overhead_percent(session), 2);
	json_text(json, "error", session->facts.error.code ? session->facts.error.what : "");
	json_text(json, "stopped_why", session->stopped_why);
	if (session->store.model)
		model_describe_end(session->store.model, damage, sizeof(damage));
	json_text(json, "is_damaged", damage);
	json_object_end(json);
}
