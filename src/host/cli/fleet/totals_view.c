/*
 * Reads the recordings of a fleet, saying how far it is, and shows them.
 */
#include "host/cli/fleet/totals_view.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <unistd.h>

#define SILENT_NS 1000000000ull
#define EVERY_NS  200000000ull

/* For the terminal: several threads report progress. */
struct reading_line {
	uint64_t begin_ns;
	_Atomic uint64_t told_ns;
};

static void reading_tell(void *context, size_t done, size_t count)
{
	struct reading_line *self = context;
	uint64_t now = now_ns(), told = atomic_load(&self->told_ns);

	if (now - self->begin_ns < SILENT_NS || now - told < EVERY_NS ||
	    !atomic_compare_exchange_strong(&self->told_ns, &told, now))
		return;
	print(stderr, "\rreading recordings: %zu of %zu ", done, count);
}

static int totals_check(const struct totals_view *view, struct err *err)
{
	const struct fleet_totals *totals = view->totals;

	if (totals->samples || totals->calls)
		return 0;
	err_set(err, -ENODATA, "'%s': %s", view->folder,
		totals->read_count ? "no recording has anything in it"
				   : "there is no recording that can be read");
	for (size_t i = 0; i < totals->rank_count; i++)
		if (*totals->ranks[i].trouble) {
			err_why(err, "rank %u: %s", totals->ranks[i].rank,
				totals->ranks[i].trouble);
			break;
		}
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static uint64_t troubles_count(const struct fleet_totals *totals)
{
	uint64_t count = 0;

	for (size_t i = 0; i < totals->rank_count; i++)
		count += *totals->ranks[i].trouble != '\0';
	return count;
}

int totals_judge(const struct fleet *fleet, uint64_t troubled, struct err *err)
{
	if (!troubled)
		return 0;
	err_set(err, -EIO, "the recording%s of %" PRIu64 " of %zu ranks %s missing or not complete",
		plural(troubled), troubled, fleet->rank_count, is_are(troubled));
	return err_exit(err, EXIT_PARTLY);
}

int totals_show(const struct fleet *fleet, const char *folder, uint64_t rows, bool is_json,
		uint64_t *ret_troubled, struct err *err)
{
	CLEANUP(fleet_totals_done) struct fleet_totals totals = { 0 };
	struct reading_line line = { .begin_ns = now_ns() };
	const struct totals_watcher watcher = { reading_tell, &line };
	const struct totals_view view = { fleet, &totals, folder, rows };
	int r = fleet_totals_read(&totals, folder, fleet, isatty(STDERR_FILENO) ? &watcher : NULL,
				  err);

	if (atomic_load(&line.told_ns))
		fputs("\r\033[K", stderr);
	if (!r)
		r = totals_check(&view, err);
	if (!r)
		(is_json ? totals_view_json : totals_view_text)(&view);
	*ret_troubled = r ? 0 : troubles_count(&totals);
	return r;
}
