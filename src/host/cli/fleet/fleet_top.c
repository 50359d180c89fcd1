/*
 * limpet fleet top: the activity of all ranks of a job, once a second, until it is stopped.
 */
#include "host/fleet/top/fleet_top.h"
#include "host/cli/fleet/fleet.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TOP_HZ         49u
#define ROW_END        100u /* letters of a function's name and module */
#define SILENT_SHOWN   4u   /* nodes */
#define RANK_LABEL_MAX 48u
#define ROWS_USUAL     20u
#define ROWS_MAX       1000u
#define LINES_BESIDE   8u /* of a screen: heads, and room for the cursor */
#define PICTURE_NS     1000000000ull
#define UNLIMITED_NS   (30ull * 24 * 3600 * 1000000000u) /* "until Ctrl-C" */

struct top_values {
	struct fleet_values fleet; /* first */
	uint64_t hz, rows, duration_ns;
	const char *sampler;
};

#define FIELD(member) offsetof(struct top_values, member)

static const struct option_desc top_options[] = {
	FLEET_OPTIONS(FIELD(fleet)),
	{ 'F', "frequency", "HZ", "take HZ samples a second at most, 1 to 999 (default: 49)",
	  FIELD(hz), OPTION_NUMBER },
	{ 0, "sampler", "NAME", "use only this sampler: bpf, copy, read or state", FIELD(sampler),
	  OPTION_TEXT },
	{ 'n', "rows", "N", "show N rows of each table (default: 20, or what the screen has)",
	  FIELD(rows), OPTION_NUMBER },
	{ 'd', "duration", "TIME", "stop after TIME (default: at Ctrl-C)", FIELD(duration_ns),
	  OPTION_SPAN },
	{ 0 },
};

struct top_visit {
	const struct top_values *values;
	struct fleet fleet;
	struct fleet_top top;
	uint64_t next_ns;  /* when the next picture is due */
	uint64_t shown_ns; /* the latest message included in the last picture */
	bool is_screen;
	bool has_shown;     /* a picture with ranks in it */
	bool is_unwritable; /* the pictures' file cannot be written */
	bool has_failed;    /* no memory for a picture */
};

/* Of one processor. */
static double cpu_percent(uint64_t ns_per_second)
{
	return (double)ns_per_second / 1e7;
}

/* "5"; "n1:4711" where nothing numbers ranks. */
static const char *rank_label(const struct fleet *fleet, size_t index, char ret[RANK_LABEL_MAX])
{
	const struct fleet_rank *rank = &fleet->ranks[index];

	if (rank->is_told)
		print_into(ret, RANK_LABEL_MAX, "%u", rank->number);
	else
		print_into(ret, RANK_LABEL_MAX, "%.20s:%d", fleet_node_name(fleet, rank),
			   rank->pid);
	return ret;
}

static void head_print(const struct top_view *view, const struct fleet *fleet, FILE *out)
{
	print(out, "%s: %zu of %zu rank%s on %zu of %zu node%s, %lu sample%s in %.2g s",
	      fleet->title, view->rank_count, fleet->rank_count, plural(fleet->rank_count),
	      view->heard_count, fleet->node_count, plural(fleet->node_count), view->samples,
	      plural(view->samples), (double)view->window_ns / 1e9);
	print_counted(out, view->lost, ", # lost since the beginning");
	if (view->costly_node != NODE_NONE)
		print(out, "; limpet takes %.2f %% of a CPU (%s)", view->own_share * 100,
		      fleet->nodes[view->costly_node].name);
	fputc('\n', out);
}

/* Nodes that are not in the picture, and why, on one line. */
static void silent_print(const struct top_view *view, const struct fleet *fleet, FILE *out)
{
	size_t silent = 0;

	for (size_t i = 0; i < fleet->node_count; i++) {
		const struct fleet_node *node = &fleet->nodes[i];

		if (view->is_heard[i] || silent++ >= SILENT_SHOWN)
			continue;
		print(out, "%s%s: %.60s", silent > 1 ? "; " : "", node->name,
		      *node->trouble                ? node->trouble
		      : node->phase == NODE_ENDED   ? "has ended"
		      : node->phase == NODE_GREETED ? "no data lately"
						    : "no answer yet");
	}
	if (silent > SILENT_SHOWN)
		print(out, "; and %zu more", silent - SILENT_SHOWN);
	if (silent)
		fputc('\n', out);
}

static void function_print(const struct top_view *view, const struct fleet *fleet,
			   const struct spread *row, FILE *out)
{
	uint64_t mean = spread_mean(row, view->rank_count);
	const char *name = pool_text(&view->functions.texts, row->name);
	const char *module = pool_text(&view->functions.texts, row->module);
	char least[RANK_LABEL_MAX + 16], most[RANK_LABEL_MAX + 16], label[RANK_LABEL_MAX];

	/* If nodes omit functions, the minimum may be a little more than 0. */
	if (row->ranks < view->rank_count)
		snprintf(least, sizeof(least), "%s0 in %zu", view->other_ns ? "~" : "",
			 view->rank_count - row->ranks);
	else
		print_into(least, sizeof(least), "%.1f [%s]", cpu_percent(row->least_ns),
			   rank_label(fleet, row->least_rank, label));
	print_into(most, sizeof(most), "%.1f [%s]", cpu_percent(row->most_ns),
		   rank_label(fleet, row->most_rank, label));
	print(out, "%7.1f %14s %14s %7.1f  %.*s%s%.*s%s\n", cpu_percent(mean), least, most,
	      cpu_percent(row->total_ns / MAX(view->rank_count, 1u)), (int)ROW_END, name,
	      *module ? " (" : "", (int)ROW_END, module, *module ? ")" : "");
}

static void rank_print(const struct top_view *view, const struct fleet *fleet, size_t index,
		       FILE *out)
{
	const struct top_view_rank *rank = &view->ranks[index];
	char label[RANK_LABEL_MAX];

	print(out, "%14s  %-14.14s %8d %7.1f  %.*s\n", rank_label(fleet, rank->rank, label),
	      fleet_node_name(fleet, &fleet->ranks[rank->rank]), fleet->ranks[rank->rank].pid,
	      cpu_percent(rank->running_ns), (int)ROW_END, rank->function);
}

/* Of many ranks, those that run most and those that run least. */
static void view_print(const struct top_view *view, const struct fleet *fleet, size_t rows,
		       FILE *out)
{
	size_t count = view->rank_count;
	size_t head = count <= rows ? count : rows - rows / 2;
	size_t tail = count <= rows ? 0 : rows / 2;

	head_print(view, fleet, out);
	silent_print(view, fleet, out);
	print(out, "\n%7s %14s %14s %7s  %s\n", "MEAN %", "LEAST [RANK]", "MOST [RANK]", "IN ALL",
	      "FUNCTION");
	for (size_t i = 0; i < MIN(view->functions.count, rows); i++)
		function_print(view, fleet, &view->functions.items[i], out);
	print(out, "\n%14s  %-14s %8s %7s  %s\n", "RANK", "NODE", "PID", "CPU %", "MOST IN");
	for (size_t i = 0; i < head; i++)
		rank_print(view, fleet, i, out);
	if (count > rows)
		print(out, "%14s  and %zu between\n", "", count - head - tail);
	for (size_t i = count - tail; i < count; i++)
		rank_print(view, fleet, i, out);
}

static void rank_name_write(struct json *json, const char *key, const struct fleet *fleet,
			    size_t index)
{
	const struct fleet_rank *rank = &fleet->ranks[index];

	json_object(json, key);
	if (rank->is_told)
		json_number(json, "rank", rank->number);
	json_text(json, "node", fleet_node_name(fleet, rank));
	json_signed(json, "pid", rank->pid);
	json_object_end(json);
}

/* Times are nanoseconds of a processor in a second of a rank. */
static void function_write(struct json *json, const struct top_view *view,
			   const struct fleet *fleet, const struct spread *row)
{
	json_object(json, NULL);
	json_text(json, "function", pool_text(&view->functions.texts, row->name));
	json_text(json, "module", pool_text(&view->functions.texts, row->module));
	json_number(json, "ranks", row->ranks);
	json_number(json, "mean_ns", spread_mean(row, view->rank_count));
	json_number(json, "mean_total_ns", row->total_ns / MAX(view->rank_count, 1u));
	json_number(json, "least_ns", row->ranks < view->rank_count ? 0 : row->least_ns);
	if (row->ranks >= view->rank_count)
		rank_name_write(json, "least", fleet, row->least_rank);
	json_number(json, "most_ns", row->most_ns);
	rank_name_write(json, "most", fleet, row->most_rank);
	json_object_end(json);
}

static void view_write(const struct top_view *view, const struct fleet *fleet, size_t rows)
{
	struct json json = json_event(stdout, "top");

	json_number(&json, "real_ns", clock_read_ns(CLOCK_REALTIME));
	json_number(&json, "ranks", view->rank_count);
	json_number(&json, "nodes", view->heard_count);
	json_number(&json, "samples", view->samples);
	json_number(&json, "window_ns", view->window_ns);
	json_number(&json, "lost", view->lost);
	json_number(&json, "hz", view->least_hz);
	json_number(&json, "other_ns", view->other_ns);
	if (view->costly_node != NODE_NONE)
		json_rounded(&json, "limpet_percent", view->own_share * 100, 3);
	json_list(&json, "functions");
	for (size_t i = 0; i < MIN(view->functions.count, rows); i++)
		function_write(&json, view, fleet, &view->functions.items[i]);
	json_list_end(&json);
	json_list(&json, "by_rank");
	for (size_t i = 0; i < view->rank_count; i++) {
		json_object(&json, NULL);
		rank_name_write(&json, "who", fleet, view->ranks[i].rank);
		json_number(&json, "running_ns", view->ranks[i].running_ns);
		json_text(&json, "function", view->ranks[i].function);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_object_end(&json);
}

static int on_message(void *context, uint32_t node, uint32_t kind, struct cursor *cursor)
{
	struct top_visit *self = context;

	return fleet_top_take(&self->top, node, kind, cursor);
}

/* Half of the lines of a screen for each table. */
static size_t rows_of(const struct top_visit *self)
{
	struct winsize size = { 0 };

	if (self->values->rows)
		return self->values->rows;
	if (!self->is_screen || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
		return ROWS_USUAL;
	return size.ws_row > LINES_BESIDE + 2 ? (size.ws_row - LINES_BESIDE) / 2u : 1;
}

/* Each line is cut to the screen, in letters, and clears the rest of the line. */
static void lines_draw(const char *text, unsigned columns)
{
	fputs("\033[H", stdout);
	while (*text) {
		size_t size = strcspn(text, "\n"), shown = 0;

		for (unsigned left = columns;
		     shown < size && ((text[shown] & 0xc0) == 0x80 || left--);)
			shown++;
		print(stdout, "%.*s", (int)shown, text);
		fputs("\033[K\n", stdout);
		text += size + (text[size] == '\n');
	}
	fputs("\033[J", stdout);
}

static void screen_draw(struct top_visit *self, const struct top_view *view)
{
	CLEANUP(free) char *text = NULL;
	struct winsize size = { 0 };
	size_t room;
	FILE *out = open_memstream(&text, &room);

	if (!out) {
		self->has_failed = true;
		return;
	}
	view_print(view, &self->fleet, rows_of(self), out);
	self->has_failed |= fclose(out) != 0;
	if (self->has_failed)
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		size.ws_col = 80;
	lines_draw(text, size.ws_col - 1u);
}

static void picture_show(struct top_visit *self)
{
	CLEANUP(top_view_done) struct top_view view = { 0 };

	self->shown_ns = fleet_top_heard_ns(&self->top);
	if (top_view_make(&view, &self->top, &self->fleet)) {
		self->has_failed = true;
		return;
	}
	/* Before the first message there is nothing to show; when all nodes have become silent,
	 * their last messages disappear. */
	if (!view.rank_count && (view.heard_count || !self->has_shown))
		return;
	self->has_shown = true;
	if (self->values->fleet.is_json) {
		view_write(&view, &self->fleet, rows_of(self));
	} else if (self->is_screen) {
		screen_draw(self, &view);
	} else {
		view_print(&view, &self->fleet, rows_of(self), stdout);
		fputc('\n', stdout);
	}
	/* There is no use in going on. */
	if (fflush(stdout) || ferror(stdout))
		self->is_unwritable = self->fleet.is_interrupted = true;
}

static void on_poll(void *context)
{
	struct top_visit *self = context;
	uint64_t now = now_ns();

	if (now < self->next_ns || self->fleet.is_interrupted)
		return;
	self->next_ns = now + PICTURE_NS;
	picture_show(self);
}

static int top_query(struct top_visit *self, struct err *err)
{
	const struct top_values *values = self->values;
	const struct fleet_job_listener listener = { on_message, on_poll, self };
	const struct node_request request = {
		.action = FLEET_TOP,
		.dump.sampler = "",
		.top = { .hz = (uint32_t)values->hz,
			 .sampler = values->sampler,
			 .duration_ns = values->duration_ns },
	};
	int r;

	if (self->is_screen)
		fputs("\033[2J", stdout);
	r = fleet_query(&values->fleet, &request, MIN(values->duration_ns, UNLIMITED_NS), &listener,
			&self->fleet, err);
	if (r)
		return r;
	/* The messages of the very end. */
	if (!self->fleet.is_interrupted && fleet_top_heard_ns(&self->top) > self->shown_ns)
		picture_show(self);
	if (self->has_failed)
		return err_set(err, -ENOMEM, "top: no memory");
	if (self->is_unwritable) {
		err_set(err, -EIO, "not all of the output could be written");
		return err_fix(err, "send it elsewhere, or free some space if the disk is full");
	}
	fleet_show(&self->fleet, values->fleet.is_json);
	return fleet_judge_live(&self->fleet, err);
}

static int top_run(const struct command_line *line, struct err *err)
{
	const struct top_values *values = line->values;
	struct top_visit visit = { .values = values,
				   .is_screen = isatty(STDOUT_FILENO) && !values->fleet.is_json };
	int r;

	if (!values->hz || values->hz > 999)
		return err_usage(err, NULL, "--frequency is from 1 to 999");
	if (values->rows > ROWS_MAX)
		return err_usage(err, NULL, "--rows is at most %u", ROWS_MAX);
	r = top_query(&visit, err);
	fleet_top_done(&visit.top);
	fleet_done(&visit.fleet);
	return r;
}

const struct command command_fleet_top = {
	.name = "fleet top",
	.summary = "show what all ranks of a job do, once a second",
	.usage = FLEET_USAGE " [-F HZ] [-n ROWS] [--duration TIME] [--json]",
	.options = top_options,
	.values_size = sizeof(struct top_values),
	.defaults = &(const struct top_values){ .fleet = FLEET_VALUES,
						.hz = TOP_HZ,
						.duration_ns = UINT64_MAX },
	.operands = &operands_none,
	.run = top_run,
	.notes =
		"Functions by their mean, least and most over the ranks, and which rank that is; percent of one\n"
		"CPU, of the last five seconds.  Each node samples its ranks and adds them up; where that takes\n"
		"more than 1 % of a CPU it takes fewer samples.  Nothing is injected, no thread is stopped.\n"
		"Ctrl-C ends it on all nodes.\n"
		"\n"
		"examples:\n"
		"  limpet fleet top --local\n"
		"  limpet fleet top --slurm 17 --json\n",
};
