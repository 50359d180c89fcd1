/*
 * limpet fleet top: the activity of all ranks of a job, once a second, until it is stopped.
 */
#include "host/cli/command.h"
#include "host/cli/fleet/fleet.h"
#include "host/cli/fleet/top_print.h"
#include "host/cli/report.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/print.h"
#include "host/recorder/samples/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TOP_HZ       49u
#define ROWS_USUAL   20u
#define ROWS_MAX     1000u
#define LINES_BESIDE 8u /* of a screen: heads, and room for the cursor */
#define PICTURE_NS   1000000000ull
#define UNLIMITED_NS (30ull * 24 * 3600 * 1000000000u) /* "until Ctrl-C" */

struct top_values {
	struct fleet_values fleet; /* first */
	uint64_t hz, rows, duration_ns;
	const char *sampler;
};

#define FIELD(member) offsetof(struct top_values, member)

static const struct option_desc top_options[] = {
	FLEET_OPTIONS(FIELD(fleet)),
	{ 'F', "frequency", "HZ", "take HZ samples a second at most, 1 to 999 (default: 49)",
	  OPTION_NUMBER, FIELD(hz) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf, copy, read or state", OPTION_TEXT,
	  FIELD(sampler) },
	{ 'n', "rows", "N", "show N rows of each table (default: 20, or what the screen has)",
	  OPTION_NUMBER, FIELD(rows) },
	{ 'd', "duration", "TIME", "stop after TIME (default: at Ctrl-C)", OPTION_SPAN,
	  FIELD(duration_ns) },
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

/* Bytes of the first letters, so many at most, of a line. */
static size_t letters_size(const char *line, size_t size, unsigned letters)
{
	size_t at = 0;

	while (at < size && ((line[at] & 0xc0) == 0x80 || letters--))
		at++;
	return at;
}

/* Each line is cut to the screen and clears the rest of the line. */
static void lines_draw(const char *text, unsigned columns)
{
	fputs("\033[H", stdout);
	while (*text) {
		size_t size = strcspn(text, "\n");

		print(stdout, "%.*s", (int)letters_size(text, size, columns), text);
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
	top_print_text(view, &self->fleet, rows_of(self), out);
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
	if (self->values->fleet.is_json)
		top_print_json(&view, &self->fleet, rows_of(self), stdout);
	else if (self->is_screen)
		screen_draw(self, &view);
	else {
		top_print_text(&view, &self->fleet, rows_of(self), stdout);
		fputc('\n', stdout);
	}
	/* There is no use in going on. */
	if (fflush(stdout) || ferror(stdout))
		self->is_unwritable = self->fleet.is_interrupted = true;
}

static void on_look(void *context)
{
	struct top_visit *self = context;
	uint64_t now = now_ns();

	if (now < self->next_ns || self->fleet.is_interrupted)
		return;
	self->next_ns = now + PICTURE_NS;
	picture_show(self);
}

static int values_check(const struct top_values *values, struct err *err)
{
	if (!values->hz || values->hz > 999)
		err_set(err, -EINVAL, "--frequency is from 1 to 999");
	else if (values->rows > ROWS_MAX)
		err_set(err, -EINVAL, "--rows is at most %u", ROWS_MAX);
	else
		return 0;
	return err_exit(err, EXIT_USAGE);
}

static int top_ask(struct top_visit *self, struct err *err)
{
	const struct top_values *values = self->values;
	const struct fleet_job_listener listener = { on_message, on_look, self };
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
	r = fleet_ask(&values->fleet, &request, MIN(values->duration_ns, UNLIMITED_NS), &listener,
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
	if (values->fleet.is_json)
		fleet_write_json(&self->fleet);
	else
		fleet_tell_failures(&self->fleet);
	return fleet_judge_live(&self->fleet, err);
}

static enum exit_code top_run(char **argv)
{
	struct top_values values = { .fleet = FLEET_VALUES,
				     .hz = TOP_HZ,
				     .duration_ns = UINT64_MAX };
	struct top_visit visit = { .values = &values };
	struct err err = { 0 };
	int operands = options_parse(top_options, argv, &values, &err);

	visit.is_screen = isatty(STDOUT_FILENO) && !values.fleet.is_json;
	if (!fleet_check_operands(operands, argv, &err) && !values_check(&values, &err))
		(void)!top_ask(&visit, &err);
	fleet_top_done(&visit.top);
	fleet_done(&visit.fleet);
	return report_end("fleet top", values.fleet.is_json, &err);
}

const struct command command_fleet_top = {
	.name = "fleet top",
	.summary = "show what all ranks of a job do, once a second",
	.usage = FLEET_USAGE " [-F HZ] [-n ROWS] [--duration TIME] [--json]",
	.options = top_options,
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
