/*
 * One live process, or one opened recording.  Used by the thread that carries out commands; the
 * lock of the sessions guards what the clock thread reads.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/live/calls/calls.h"
#include "host/live/live.h"
#include "host/live/source.h"
#include "host/live/store/curves.h"
#include "host/live/thread_watch.h"
#include "host/ui/request/command.h"

enum ui_state {
	UI_RECORDING,
	UI_STOPPED,
	UI_DETACHED,
	UI_ENDED,  /* the process did, by itself */
	UI_FAILED, /* sampling did */
	UI_FILE,
};

/* Threads and hottest functions of a live session, as JSON; one answer serves all pages until it is
 * outdated. */
struct ui_now {
	char *threads, *top;
	uint64_t top_total_ns, until_ns;
	enum ui_state state; /* as of then */
};

struct ui_session {
	uint32_t id;
	enum ui_state state;
	char name[64];
	char file[256];        /* of a recording, its name without folders */
	const char *path;      /* of a recording; the caller's */
	char stopped_why[160]; /* why limpet stopped it without a request; "" */
	struct ui_wish wish;
	uint64_t origin_ns; /* CLOCK_MONOTONIC of its time 0 */
	uint64_t ended_ns;  /* the same clock: when a live one stopped recording */
	int64_t start_unix_ms;
	struct calls calls;
	/* Live: */
	struct live *live;
	struct source *source;
	bool is_attached;          /* the source traces or writes a file */
	uint32_t traced;           /* bits of the requested domains */
	const char *version;       /* of limpet */
	struct source_facts facts; /* as of the last poll */
	uint64_t lost;             /* by sources before this one */
	uint64_t own_cpu_ns;       /* limpet's when it began */
	struct thread_watch watch;
	struct curves curves;
	struct ui_now now;
	/* Opened: */
	struct store store;
};

/* Begins to sample and to trace, where that is wished for. */
int ui_session_attach(struct ui_session **ret, const struct ui_wish *wish, const char *version,
		      struct err *err) MUST_CHECK;
/* Adopts the recording of `limpet record`. */
int ui_session_record(struct ui_session **ret, const struct source_options *options,
		      struct err *err) MUST_CHECK;
/* Reads a recording. */
int ui_session_load(struct ui_session **ret, const char *path, struct err *err) MUST_CHECK;
/* Lets go of the process where that was not done. */
void ui_session_free(struct ui_session *session);

/* Shows a completed reading of a live session's calls. */
void ui_session_follow(struct ui_session *session);
/* Loads the spans of a recording, or uses those of a live session. */
int ui_session_spans(struct ui_session *session, struct err *err) MUST_CHECK;
/* The same where the kind is one of calls: before an answer reads it, once. */
int ui_session_follow_kind(struct ui_session *session, enum ui_kind kind,
			   struct err *err) MUST_CHECK;
/* Why there are no calls to see, as a sentence.  Of a live session, *ret_is_behind: there are more
 * of them than were read. */
const char *ui_session_calls_empty(struct ui_session *session, bool *ret_is_behind);
/* The number of a thread of those calls among the session's; -1: it has no sample. */
int64_t ui_session_thread(const struct ui_session *session, int64_t number, int32_t tid);

static inline bool ui_session_is_live(const struct ui_session *session)
{
	return session->live;
}

/* Stops sampling; the state is one of those without. */
void ui_session_stop(struct ui_session *session, enum ui_state state);
/* Again, after a stop. */
int ui_session_start(struct ui_session *session, struct err *err) MUST_CHECK;

/* Polls whether it still runs. */
void ui_session_poll(struct ui_session *session);
/* Threads and curves; called now and then. */
void ui_session_tick(struct ui_session *session);

typedef int slice_reader(const struct slice *slice, void *context);

/* Passes the samples of a range, of these kinds, to the reader.  They are valid only during the
 * call.  Returns the reader's result, or -ENOMEM. */
int ui_session_read(struct ui_session *session, const struct ui_range *range, unsigned kinds,
		    slice_reader *read, void *context) MUST_CHECK;

/* The same for the user's choice, including calls: time of devices, memory. */
int ui_session_read_kind(struct ui_session *session, const struct ui_range *range,
			 enum ui_kind kind, slice_reader *read, void *context) MUST_CHECK;

/* Before the first request, while the browser starts: prepares the first picture of a recording. */
void ui_session_prepare(struct ui_session *session);
/* After an answer: adds up what was read, for later ones. */
void ui_session_settle(struct ui_session *session);

/* Are waits known, sampled or in the recording? */
bool ui_session_has_off_cpu(const struct ui_session *session);

/* Its newest data, in time of the session. */
uint64_t ui_session_end_ns(struct ui_session *session);

void ui_now_done(struct ui_now *now);

/* The object of docs/ui-api.md. */
void ui_session_write(struct ui_session *session, struct json *json, const char *key);

/* KIND_BIT()s; 0: it is no kind of samples. */
unsigned ui_sample_kinds(enum ui_kind kind);
/* The unit of its weights: "ns", "bytes". */
const char *ui_kind_unit(enum ui_kind kind);
/* Why a picture of it is empty. */
const char *ui_kind_empty(enum ui_kind kind);
