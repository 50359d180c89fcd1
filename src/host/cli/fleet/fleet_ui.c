/*
 * limpet ui DIR: all ranks of a folder on one page.
 */
#include "host/cli/fleet/fleet_ui.h"

#include "host/cli/progress.h"
#include "host/cli/version.h"
#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/fleet/export/fleet_export.h"
#include "host/fleet/folder/fleet_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

/* Not a rank's: names of ranks have no dot at the beginning. */
#define MERGED_NAME ".all-ranks.limpet"

bool is_folder(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISDIR(file.st_mode);
}

int fleet_ui_merge(const char *folder, char **ret, struct err *err)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(progress_end) struct progress progress = { 0 };
	CLEANUP(free) char *path = fleet_folder_path(folder, MERGED_NAME);
	struct fleet_export merge = { .folder = folder,
				      .fleet = &fleet,
				      .version = LIMPET_VERSION };
	uint64_t lacks;
	bool is_plain;
	int r = path ? fleet_folder_read(folder, &fleet, &is_plain, err)
		     : err_set(err, -ENOMEM, "'%s': no memory", folder);

	if (r)
		return r;
	progress_begin(&progress, "merging", folder);
	r = fleet_export_merge(&merge, -1, path, err);
	if (r == -ENODATA)
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	if (r)
		return r;
	lacks = fleet_export_lacks(&merge);
	if (lacks)
		print(stderr, "warning: %" PRIu64 " of %zu ranks %s missing or not complete: %s\n",
		      lacks, fleet.rank_count, is_are(lacks), merge.trouble);
	*ret = TAKE(path);
	return 0;
}
