/*
 * Answers about threads and the process as a whole: their activity in a range, and now.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/ui/answers/answer_cache.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>

#define TOP_FUNCTIONS 20u
#define TOP_WINDOW_NS UINT64_C(10000000000)

static int range_threads_read(const struct slice *slice, void *context)
{
	static const struct column_name names[] = {
		{ "number", COLUMN_U32 },      { "pid", COLUMN_U32 },
		{ "tid", COLUMN_U32 },         { "name", COLUMN_TEXTS },
		{ "process", COLUMN_TEXTS },   { "samples", COLUMN_F64 },
		{ "on_cpu_ns", COLUMN_F64 },   { "waited_ns", COLUMN_F64 },
		{ "runnable_ns", COLUMN_F64 }, { "disk_ns", COLUMN_F64 },
		{ "incomplete", COLUMN_F64 },
	};
	CLEANUP(free) struct thread_profile *rows = NULL;
	struct answer *self = context;
	struct columns *columns = &self->columns;

	if (slice_threads(slice, &rows))
		return -ENOMEM;
	columns_begin(columns, names, ARRAY_SIZE(names));
	for (uint32_t i = 0; i < slice->model->thread_count; i++) {
		const struct model_thread *thread = rows[i].thread;

		if (!thread_profile_count(&rows[i]))
			continue;
		cell_u32(columns, thread->number);
		cell_u32(columns, (uint32_t)thread->process->pid);
		cell_u32(columns, (uint32_t)thread->tid);
		cell_text(columns, thread->name);
		cell_text(columns, thread->process->name);
		cell_f64(columns, (double)thread_profile_count(&rows[i]));
		cell_f64(columns, (double)rows[i].weights_ns[SAMPLE_RUNNING]);
		cell_f64(columns, (double)rows[i].weights_ns[SAMPLE_BLOCKED]);
		cell_f64(columns, (double)rows[i].weights_ns[SAMPLE_RUNNABLE]);
		cell_f64(columns, (double)rows[i].disk_ns);
		cell_f64(columns, (double)rows[i].incomplete);
	}
	json_text(self->json, "empty", columns->items[0].count ? "" : "no sample is in this range");
	return 0;
}

int answer_threads(struct answer *self)
{
	return ui_session_read(self->session, &self->command->range, KINDS_ALL, range_threads_read,
			       self);
}

static void thread_now_write(struct json *json, const struct ui_session *session,
			     const struct slice *slice, const struct thread_profile *rows, size_t i)
{
	const struct thread *thread = &session->watch.threads.items[i];
	const char state[] = { thread->state, '\0' };
	double percent = session->watch.percents[i];
	uint32_t number = UINT32_MAX;
	bool is_seen = live_thread_number(session->live, thread->tid, &number) &&
		       number < slice->model->thread_count;

	json_object(json, NULL);
	json_signed(json, "number", is_seen ? (int64_t)number : -1);
	json_text(json, "name", is_seen ? slice->model->threads[number]->name : thread->name);
	json_number(json, "samples", is_seen ? thread_profile_count(&rows[number]) : 0);
	json_number(json, "on_cpu_ns", is_seen ? rows[number].weights_ns[SAMPLE_RUNNING] : 0);
	json_signed(json, "tid", thread->tid);
	json_text(json, "state", state);
	json_rounded(json, "percent", percent > 0 ? percent : 0, 1);
	json_object_end(json);
}

/* A list as text; NULL: no memory. */
static char *threads_now_text(const struct ui_session *session, const struct slice *slice,
			      const struct thread_profile *rows)
{
	char *text = NULL;
	size_t size;
	struct json json = { .out = open_memstream(&text, &size) };

	if (!json.out)
		return NULL;
	json_list(&json, NULL);
	for (size_t i = 0; i < session->watch.threads.count; i++)
		thread_now_write(&json, session, slice, rows, i);
	json_list_end(&json);
	fclose(json.out);
	return text;
}

static char *top_text(const struct slice *slice, const struct hot_functions *hot)
{
	char *text = NULL;
	size_t size;
	struct json json = { .out = open_memstream(&text, &size) };

	if (!json.out)
		return NULL;
	json_list(&json, NULL);
	for (size_t i = 0; i < MIN(hot->count, TOP_FUNCTIONS); i++) {
		const struct hot_function *row = &hot->rows[i];

		json_object(&json, NULL);
		json_text(&json, "name", row->function->name);
		json_text(&json, "module", slice->model->samples->codes[row->function->code].name);
		json_number(&json, "self_ns", row->self_ns);
		json_number(&json, "total_ns", row->total_ns);
		json_object_end(&json);
	}
	json_list_end(&json);
	fclose(json.out);
	return text;
}

/* Threads and functions of the last seconds. */
static int now_read_slice(const struct slice *slice, void *context)
{
	CLEANUP(free) struct thread_profile *rows = NULL;
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	struct ui_session *session = context;
	struct ui_now *now = &session->now;

	if (slice_threads(slice, &rows) ||
	    slice_gather(slice, /* is_by_thread */ false, &profile) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	now->threads = threads_now_text(session, slice, rows);
	now->top = top_text(slice, &hot);
	now->top_total_ns = profile.weight_ns;
	return now->threads && now->top ? 0 : -ENOMEM;
}

/* All pages of a session share one answer, for a while. */
static int now_renew(struct ui_session *session, uint64_t end_ns)
{
	const struct ui_range range = { .from_ns = end_ns - MIN(end_ns, TOP_WINDOW_NS) };
	struct ui_now *now = &session->now;
	uint64_t began_ns = now_ns();
	int r;

	if (now->threads && now->state == session->state && began_ns < now->until_ns)
		return 0;
	ui_now_done(now);
	now->state = session->state;
	r = ui_session_read(session, &range, KINDS_ON_CPU, now_read_slice, session);
	now->until_ns = answer_good_until(began_ns);
	if (r)
		ui_now_done(now);
	return r;
}

/* The points that are newer than that; the times as of the session. */
static void curves_write(struct json *json, const struct ui_session *session, uint64_t since_ns)
{
	static const struct {
		const char *name;
		size_t offset;
	} kinds[] = { { "cpu_percent", offsetof(struct curve_point, cpu_percent) },
		      { "rss_bytes", offsetof(struct curve_point, rss_bytes) },
		      { "threads", offsetof(struct curve_point, threads) } };
	const struct curves *curves = &session->curves;
	size_t first = 0;

	while (first < curves->count && curves->points[first].time_ns <= since_ns)
		first++;
	json_object(json, "curves");
	json_list(json, "time_ns");
	for (size_t i = first; i < curves->count; i++)
		json_number(json, NULL, curves->points[i].time_ns - session->origin_ns);
	json_list_end(json);
	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		json_list(json, kinds[kind].name);
		for (size_t i = first; i < curves->count; i++) {
			const char *at = (const char *)&curves->points[i] + kinds[kind].offset;

			json_rounded(json, NULL, *(const double *)(const void *)at, 1);
		}
		json_list_end(json);
	}
	json_object_end(json);
}

static int live_write(struct answer *self)
{
	struct ui_session *session = self->session;
	const struct curves *curves = &session->curves;
	const struct curve_point *last =
		curves->count ? &curves->points[curves->count - 1] : &(struct curve_point){ 0 };
	uint64_t end_ns = ui_session_end_ns(session), since = self->command->since;
	struct json *json = self->json;
	int r;

	ui_session_write(session, json, "session");
	json_number(json, "now_ns", end_ns);
	json_number(json, "since",
		    curves->last_ns > session->origin_ns ? curves->last_ns - session->origin_ns + 1
							 : 0);
	json_bool(json, "changed", session->state == UI_RECORDING || !since);
	json_rounded(json, "cpu_percent", last->cpu_percent, 1);
	json_rounded(json, "rss_bytes", last->rss_bytes, 0);
	curves_write(json, session, since ? session->origin_ns + since - 1 : 0);
	r = now_renew(session, end_ns);
	if (r)
		return r;
	json_raw(json, "threads", session->now.threads);
	json_raw(json, "top", session->now.top);
	json_number(json, "top_total_ns", session->now.top_total_ns);
	return 0;
}

/* `since` is the time up to which the client has curves, in the time of the session, and one. */
int answer_live(struct answer *self)
{
	int r;

	pthread_mutex_lock(&self->ui->sessions.lock);
	r = live_write(self);
	pthread_mutex_unlock(&self->ui->sessions.lock);
	return r;
}
