/*
 * Prints events of a family during a session: a line for each process that is attached, ends, or
 * cannot be attached.
 */
#include "host/cli/attach/attach.h"

#include "host/cli/common/command.h"
#include "host/core/descriptors.h"
#include "host/core/self/ending.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/session/tree/tree.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* How each way of following reads, with its limit. */
static const char *const source_texts[] = {
	[FORKS_EVENTS] = "by the kernel's events",
	[FORKS_NUMBERS] = "by the counter of process numbers, every millisecond",
	[FORKS_WALK] = "by scanning /proc, every ten milliseconds",
};

static void show_left(const struct tree_event *event, const struct tree_visit *visit)
{
	bool is_unloaded = visit->unload && !event->err && !event->left->count &&
			   strcmp(event->reason, "exit") && strcmp(event->reason, "exec") &&
			   strcmp(event->reason, "identity");
	const struct departure departure = { event->pid, event->reason, is_unloaded, event->left };
	char words[128], name[96];

	snprintf(words, sizeof(words), "detached from %s (%s)%s",
		 target_name(&event->session->attachment.target, name, sizeof(name)), event->reason,
		 is_unloaded ? ", nothing of limpet is left" : "");
	if (event->err)
		print(stderr, "warning: cannot detach from %d: %s\n", event->pid, event->err->what);
	else
		show_detached(&departure, words, visit->is_json);
}

static void show_counts_json(const char *name, const struct tree_counts *counts,
			     enum forks_source source)
{
	struct json json = json_event(stdout, name);

	json_number(&json, "processes", counts->attached);
	json_number(&json, "skipped", counts->skipped);
	json_number(&json, "missed", counts->missed);
	json_number(&json, "ended", counts->ended);
	json_text(&json, "following", forks_source_name(source));
	json_object_end(&json);
}

static void show_settled(const struct tree_event *event, const struct tree_visit *visit)
{
	if (visit->is_json) {
		show_counts_json("tree", event->counts, event->source);
		return;
	}
	print(stdout, "%zu attached, %zu skipped; new children are followed %s\n",
	      event->counts->attached, event->counts->skipped, source_texts[event->source]);
	fflush(stdout);
	if (visit->duration_ns == UINT64_MAX && isatty(STDIN_FILENO))
		fputs("press Enter or Ctrl-C to detach\n", stderr);
}

static void on_event(const struct tree_event *event, void *context)
{
	const struct tree_visit *visit = context;
	struct json json;

	switch (event->kind) {
	case TREE_ATTACHED:
		show_attached(event->session, visit->is_json);
		break;
	case TREE_SKIPPED:
		warn_process_skipped("", event->pid, event->err, visit->is_json);
		break;
	case TREE_MISSED: /* for people only their number counts */
		if (!visit->is_json)
			break;
		json = json_event(stdout, "missed");
		json_signed(&json, "pid", event->pid);
		json_object_end(&json);
		break;
	case TREE_LEFT:
		show_left(event, visit);
		break;
	case TREE_SETTLED:
		show_settled(event, visit);
		break;
	}
}

int tree_visit(pid_t root, const struct tree_visit *visit, struct err *err)
{
	struct tree_options options = { visit->session, on_event, (void *)(uintptr_t)visit };
	struct tree_counts counts;
	struct tree *tree;
	enum ending ending;
	int r;

	descriptors_raise_limit(); /* each attached process needs five */
	r = tree_open(&tree, root, &options, err);
	if (r)
		return r;
	ending = ending_wait(visit->signals, tree_end_fd(tree), visit->duration_ns);
	r = tree_detach(tree, visit->unload, ending_name(ending), err);
	counts = tree_count(tree);
	if (visit->is_json)
		show_counts_json("tree_end", &counts, tree_source(tree));
	else
		print(stdout,
		      "%zu process%s %s attached, of which %zu ended; %zu %s skipped, %zu ended before limpet had attached\n",
		      counts.attached, counts.attached == 1 ? "" : "es", was_were(counts.attached),
		      counts.ended, counts.skipped, was_were(counts.skipped), counts.missed);
	if (!r && counts.failed_tools)
		r = err_set(err, -ENOEXEC, "tools did not load %zu time%s", counts.failed_tools,
			    plural(counts.failed_tools));
	tree_close(tree);
	return r;
}
