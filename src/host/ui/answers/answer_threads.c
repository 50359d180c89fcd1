/*
 * Answers about threads and the process as a whole: their activity in a range, and now.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/ui/answers/answer_cache.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <math.h>

#define TOP_FUNCTIONS 20u
#define TOP_WINDOW_NS UINT64_C(10000000000)

static const struct column_name thread_columns[] = {
	{ "number", COLUMN_U32 },    { "pid", COLUMN_U32 },        { "tid", COLUMN_U32 },
	{ "name", COLUMN_TEXTS },    { "process", COLUMN_TEXTS },  { "samples", COLUMN_F64 },
	{ "on_cpu_ns", COLUMN_F64 }, { "waited_ns", COLUMN_F64 },  { "runnable_ns", COLUMN_F64 },
	{ "disk_ns", COLUMN_F64 },   { "incomplete", COLUMN_F64 },
};

static void thread_write(struct columns *columns, const struct thread_profile *row)
{
	cell_u32(columns, row->thread->number);
	cell_u32(columns, (uint32_t)row->thread->process->pid);
	cell_u32(columns, (uint32_t)row->thread->tid);
	cell_text(columns, row->thread->name);
	cell_text(columns, row->thread->process->name);
	cell_f64(columns, (double)thread_profile_count(row));
	cell_f64(columns, (double)row->weights_ns[SAMPLE_RUNNING]);
	cell_f64(columns, (double)row->weights_ns[SAMPLE_BLOCKED]);
	cell_f64(columns, (double)row->weights_ns[SAMPLE_RUNNABLE]);
	cell_f64(columns, (double)row->disk_ns);
	cell_f64(columns, (double)row->incomplete);
}

static int threads_read_slice(const struct slice *slice, void *context)
{
	CLEANUP(free) struct thread_profile *rows = NULL;
	struct columns *columns = context;

	if (slice_threads(slice, &rows))
		return -ENOMEM;
	columns_begin(columns, thread_columns, ARRAY_SIZE(thread_columns));
	for (uint32_t i = 0; i < slice->model->thread_count; i++)
		if (thread_profile_count(&rows[i]))
			thread_write(columns, &rows[i]);
	json_text(&columns->facts, "empty",
		  columns->items[0].count ? "" : "no sample is in this range");
	return 0;
}

int answer_threads(struct ui *ui, const struct ui_command *command, struct reply *reply,
		   struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	int r;

	if (!session)
		return err->code;
	r = columns_init(&columns);
	if (!r)
		r = ui_session_read(session, &command->range, KINDS_ALL, threads_read_slice,
				    &columns);
	return r ? err_set(err, r, "threads: no memory")
		 : reply_columns(reply, &columns, command->is_json, err);
}

/* The report about a running session. */
struct live_answer {
	struct json json;
	struct ui_session *session;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

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

static void curve_write(struct live_answer *self, const char *key, size_t offset, double origin)
{
	const struct curves *curves = &self->session->curves;

	json_list(&self->json, key);
	for (size_t i = 0; i < curves->count; i++)
		if (curves->points[i].time_ns > self->since_ns) {
			const char *at = (const char *)&curves->points[i] + offset;

			json_rounded(&self->json, NULL, *(const double *)(const void *)at - origin,
				     1);
		}
	json_list_end(&self->json);
}

static void curve_times_write(struct live_answer *self)
{
	const struct curves *curves = &self->session->curves;

	json_list(&self->json, "time_ns");
	for (size_t i = 0; i < curves->count; i++)
		if (curves->points[i].time_ns > self->since_ns)
			json_number(&self->json, NULL,
				    curves->points[i].time_ns - self->session->origin_ns);
	json_list_end(&self->json);
}

static void now_write(struct live_answer *self)
{
	const struct curves *curves = &self->session->curves;
	const struct curve_point *last =
		curves->count ? &curves->points[curves->count - 1] : &(struct curve_point){ 0 };

	json_rounded(&self->json, "cpu_percent", last->cpu_percent, 1);
	json_rounded(&self->json, "rss_bytes", last->rss_bytes, 0);
	json_object(&self->json, "curves");
	curve_times_write(self);
	curve_write(self, "cpu_percent", offsetof(struct curve_point, cpu_percent), 0);
	curve_write(self, "rss_bytes", offsetof(struct curve_point, rss_bytes), 0);
	curve_write(self, "threads", offsetof(struct curve_point, threads), 0);
	json_object_end(&self->json);
}

/* `since` is the time up to which the client has curves, in the time of the session, and one. */
int answer_live(struct ui *ui, const struct ui_command *command, struct reply *reply,
		struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct live_answer self = { .json.out = reply->out, .session = session };
	uint64_t end_ns;
	int r;

	if (!session)
		return err->code;
	pthread_mutex_lock(&ui->sessions.lock);
	end_ns = ui_session_end_ns(session);
	self.since_ns = session->origin_ns + command->since - (command->since != 0);
	if (!command->since)
		self.since_ns = 0;
	json_object(&self.json, NULL);
	ui_session_write(session, &self.json, "session");
	json_number(&self.json, "now_ns", end_ns);
	json_number(&self.json, "since",
		    session->curves.last_ns > session->origin_ns
			    ? session->curves.last_ns - session->origin_ns + 1
			    : 0);
	json_bool(&self.json, "changed", session->state == UI_RECORDING || !command->since);
	now_write(&self);
	r = now_renew(session, end_ns);
	if (!r) {
		json_raw(&self.json, "threads", session->now.threads);
		json_raw(&self.json, "top", session->now.top);
		json_number(&self.json, "top_total_ns", session->now.top_total_ns);
	}
	json_object_end(&self.json);
	pthread_mutex_unlock(&ui->sessions.lock);
	return r ? err_set(err, r, "live: no memory") : 0;
}
