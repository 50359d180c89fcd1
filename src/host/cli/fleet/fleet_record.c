/*
 * limpet fleet record: one recording for each rank of a job, in a folder, and their totals.
 */
#include "host/cli/fleet/fleet.h"
#include "host/cli/record/visit.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/fleet/child.h"
#include "host/fleet/folder/received.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TRACED_MAX   64u
#define UNLIMITED_NS (30ull * 24 * 3600 * 1000000000u) /* "until Ctrl-C" */
#define LIST_BYTES   2048u
#define OPTIONS_MAX  1024u

struct record_fleet_values {
	struct fleet_values fleet; /* first */
	const char *output;
	bool is_sent;
	uint64_t traced_max, rows;
	struct record_values record;
};

#define FIELD(member) offsetof(struct record_fleet_values, member)

static const struct option_desc what_options[] = {
#define RECORD_FIELD(member) offsetof(struct record_values, member)
#include "host/cli/record/what.def"
	{ 0 },
};

static const struct option_desc record_options[] = {
	FLEET_OPTIONS(FIELD(fleet)),
	{ 'o', "output", "DIR", "write the recordings to this folder, which is made", FIELD(output),
	  OPTION_ONCE },
	{ 0, "send", NULL, "send recordings home, even where DIR is seen by the nodes",
	  FIELD(is_sent) },
	{ 0, "max-traced", "N", "trace at most N ranks (default: 64)", FIELD(traced_max),
	  OPTION_NUMBER },
	{ 'n', "rows", "N", "show N rows of each table (default: 20)", FIELD(rows), OPTION_NUMBER },
#define RECORD_FIELD(member) FIELD(record.member)
#define RECORD_NO_LETTERS
#include "host/cli/record/what.def"
	{ 0 },
};

/* One recording of a fleet. */
struct fleet_recording {
	const struct record_fleet_values *values;
	struct fleet_values whom; /* the values', with fewer ranks where too many would be traced */
	char ranks[LIST_BYTES];   /* the list of those */
	struct words words;
	char options[OPTIONS_MAX]; /* the same, for people */
	struct fleet_folder folder;
	struct received received;
	struct fleet fleet;
	uint64_t begin_ns;
	bool shows_progress, has_shown;
};

static int on_message(void *context, uint32_t node, uint32_t kind, struct cursor *cursor)
{
	struct fleet_recording *self = context;

	return received_take(&self->received, &self->fleet, node, kind, cursor);
}

static void on_poll(void *context)
{
	struct fleet_recording *self = context;
	uint64_t passed_s = (now_ns() - self->begin_ns) / 1000000000u;

	if (!self->shows_progress)
		return;
	print(stderr, "\r%02lu:%02lu  %zu rank%s on %zu node%s, %lu ended, %lu KiB received ",
	      passed_s / 60, passed_s % 60, self->fleet.rank_count, plural(self->fleet.rank_count),
	      self->fleet.node_count, plural(self->fleet.node_count), self->fleet.settled,
	      self->received.bytes / 1024);
	self->has_shown = true;
}

/* An option that was typed, as words again: for the limpets on the nodes.  Nothing if it has its
 * default; an option for several others is written as those. */
static void option_add(struct words *ret, const struct option_desc *option, const void *value,
		       const void *usual)
{
	const struct option_list *list = value;
	const uint64_t *number = value, *usual_number = usual;
	const char *name = option->long_name, *const *text = value;
	uint64_t multiple;
	unsigned suffix = 0;

	switch (option->kind) {
	case OPTION_FLAG:
		if (*(const bool *)value && !*(const bool *)usual)
			words_add(ret, "--%s", name);
		break;
	case OPTION_TEXT:
	case OPTION_ONCE:
		if (*text)
			words_add(ret, "--%s=%s", name, *text);
		break;
	case OPTION_NUMBER:
		if (*number != *usual_number)
			words_add(ret, "--%s=%lu", name, *number);
		break;
	case OPTION_SIZE:
		for (multiple = *number; multiple && multiple % 1024 == 0 && suffix < 3; suffix++)
			multiple /= 1024;
		if (*number != *usual_number)
			words_add(ret, "--%s=%lu%.*s", name, multiple, suffix ? 1 : 0,
				  &" KMG"[suffix]);
		break;
	case OPTION_DURATION:
	case OPTION_SPAN:
		if (*number != *usual_number)
			words_add(ret, "--%s=%lu.%09lus", name, *number / 1000000000u,
				  *number % 1000000000u);
		break;
	case OPTION_LIST:
		for (size_t i = 0; i < list->count; i++)
			words_add(ret, "--%s=%s", name, list->items[i]);
		break;
	case OPTION_BITS:
		if ((*(const uint32_t *)value & option->bits) == option->bits)
			words_add(ret, "--%s", name);
		break;
	}
}

static int words_fill(struct fleet_recording *self, struct err *err)
{
	static const struct record_values usual = RECORD_VALUES;

	for (const struct option_desc *option = what_options; option->long_name; option++)
		option_add(&self->words, option,
			   (const char *)&self->values->record + option->offset,
			   (const char *)&usual + option->offset);
	if (self->words.has_failed || self->words.count > RECORD_WORDS_MAX)
		return err_set(err, -ENOMEM, "options: no memory");
	for (size_t i = 0; i < self->words.count; i++)
		print_append(self->options, sizeof(self->options), "%s%s", i ? " " : "",
			     self->words.items[i]);
	return 0;
}

static int traced_refuse(uint64_t count, uint64_t most, struct err *err)
{
	err_set(err, -E2BIG, "the job has %lu ranks, and at most %lu are traced", count, most);
	err_why(err, "a trace loads code into a rank; nothing numbers these, to choose from them");
	err_fix(err, "--max-traced %lu", count);
	return err_exit(err, EXIT_USAGE);
}

/* The first ones, and which.  Ranks on nodes that were silent may answer later: numbers alone keep
 * them out. */
static int ranks_choose(struct fleet_recording *self, const struct fleet *all, uint64_t most,
			struct err *err)
{
	CLEANUP(rank_set_done) struct rank_set chosen = { 0 };

	for (size_t i = 0; i < most; i++) {
		if (!all->ranks[i].is_told && all->rank_count > most)
			return traced_refuse(all->rank_count, most, err);
		if (!all->ranks[i].is_told) {
			err_set(err, -EIO,
				"%lu of %zu nodes did not answer while ranks were counted",
				fleet_count_silent(all), all->node_count);
			err_why(err,
				"a trace loads code into a rank; nothing numbers these, to keep to --max-traced");
			return err_fix(err, "leave those nodes out");
		}
		if (rank_set_add(&chosen, all->ranks[i].number))
			return err_set(err, -ENOMEM, "ranks: no memory");
	}
	rank_set_describe(&chosen, self->ranks, sizeof(self->ranks));
	if (strstr(self->ranks, "..."))
		return traced_refuse(all->rank_count, most, err);
	self->whom.who.ranks = self->ranks;
	print(stderr,
	      "note: %lu of %zu ranks are traced: %s; --ranks chooses others, --max-traced allows more\n",
	      most, all->rank_count, self->ranks);
	return 0;
}

/* Tracing costs a rank more than sampling does: the number of traced ranks is limited. */
static int traced_limit(struct fleet_recording *self, struct err *err)
{
	CLEANUP(fleet_done) struct fleet all = { 0 };
	const struct node_request request = { .action = FLEET_PS, .dump.sampler = "" };
	uint64_t most = self->values->traced_max;
	int r = fleet_query(&self->whom, &request, /* time_ns */ 0, /* listener */ NULL, &all, err);

	if (!r && all.is_interrupted)
		r = err_set(err, -EINTR, "stopped while ranks were counted; nothing is recorded");
	else if (!r && !all.rank_count)
		r = fleet_judge_live(&all, err);
	if (r || (all.rank_count <= most && !fleet_count_silent(&all)))
		return r;
	return ranks_choose(self, &all, MIN(most, all.rank_count), err);
}

static int recording_query(struct fleet_recording *self, struct err *err)
{
	const struct fleet_job_listener listener = { on_message, on_poll, self };
	uint64_t duration_ns = self->values->record.duration_ns;
	struct node_request request = {
		.action = FLEET_RECORD,
		.dump.sampler = "",
		.record = { .folder = self->values->is_sent ? "" : self->folder.path,
			    .mark = self->folder.mark,
			    .duration_ns = duration_ns,
			    .words = (const char **)(uintptr_t)self->words.items,
			    .word_count = self->words.count },
	};
	int r = fleet_query(&self->whom, &request, MIN(duration_ns, UNLIMITED_NS), &listener,
			    &self->fleet, err);

	if (self->has_shown)
		fputs("\r\033[K", stderr);
	if (!r && received_settle(&self->received, &self->fleet))
		r = err_set(err, -ENOMEM, "recordings: no memory");
	return r ? r : fleet_folder_write(&self->folder, &self->fleet, /* is_whole */ true, err);
}

/* Shows the results of some ranks and reports missing ones, before the verdict. */
static int recording_show(struct fleet_recording *self, struct err *err)
{
	const struct record_fleet_values *values = self->values;
	struct err nothing = { 0 };
	uint64_t troubled;
	int r;

	if (values->fleet.is_json)
		fleet_show(&self->fleet, /* is_json */ true);
	r = totals_show(&self->fleet, self->folder.path, values->rows, values->fleet.is_json,
			&troubled, &nothing);
	if (!values->fleet.is_json) {
		fleet_show(&self->fleet, /* is_json */ false);
		if (!r)
			print(stdout, "\nrecordings are in %s\n", values->output);
	}
	if (fleet_judge_live(&self->fleet, err) && err->exit != EXIT_PARTLY)
		return err->code;
	if (r)
		*err = nothing;
	return err->code ? err->code : totals_judge(&self->fleet, troubled, err);
}

static int recording_run(struct fleet_recording *self, struct err *err)
{
	const struct record_fleet_values *values = self->values;
	bool is_traced = false;
	int r;

	if (!values->output)
		return err_usage(err, "-o DIR", "no folder for the recordings is given");
	r = record_values_check(&values->record, &is_traced, err);
	if (!r)
		r = words_fill(self, err);
	if (!r && is_traced && !values->fleet.who.ranks)
		r = traced_limit(self, err);
	if (!r)
		r = fleet_folder_make(&self->folder, values->output, LIMPET_VERSION, self->options,
				      err);
	if (r)
		return r;
	self->received.folder = &self->folder;
	self->begin_ns = now_ns();
	r = recording_query(self, err);
	return r ? r : recording_show(self, err);
}

static int record_run(const struct command_line *line, struct err *err)
{
	const struct record_fleet_values *values = line->values;
	struct fleet_recording recording = { .values = values, .whom = values->fleet };
	int r;

	recording.shows_progress = isatty(STDERR_FILENO) && !values->fleet.is_json;
	r = recording_run(&recording, err);
	words_done(&recording.words);
	received_done(&recording.received);
	fleet_folder_done(&recording.folder);
	fleet_done(&recording.fleet);
	return r;
}

const struct command command_fleet_record = {
	.name = "fleet record",
	.summary = "record all ranks of a job into a folder, and summarize them",
	.usage = FLEET_USAGE
	" -o DIR [--duration TIME] [-F HZ] [--off-cpu] [--hip-trace] [--json] and what else limpet record takes",
	.options = record_options,
	.values_size = sizeof(struct record_fleet_values),
	.defaults = &(const struct record_fleet_values){ .fleet = FLEET_VALUES,
							 .traced_max = TRACED_MAX,
							 .rows = TOTALS_ROWS,
							 .record = RECORD_VALUES },
	.operands = &operands_none,
	.run = record_run,
	.notes =
		"One recording for each rank, and fleet.json, which says what became of each.  Nodes that see\n"
		"DIR write into it; others send their recordings home while they grow.\n"
		"Stops after the duration or at Ctrl-C, on all nodes.  Exit code 8: some ranks are missing or\n"
		"not complete; what is there is kept.\n"
		"\n"
		"examples:\n"
		"  limpet fleet record --local -d 10 -o run1\n"
		"  limpet fleet record --hosts 'n[1-4]' --match train.py -d 10 --off-cpu -o run1\n"
		"  limpet fleet report run1\n",
};
