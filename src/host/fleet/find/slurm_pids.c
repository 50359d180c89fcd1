/*
 * Reads Slurm's table of processes.  Runs on nodes.
 *
 *   PID      JOBID    STEPID   LOCALID GLOBALID
 *   4711     17       0        0       4
 *   4712     17       0        -       -
 */
#include "host/fleet/find/job_processes.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/fleet/child.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_MAX (4u << 20)
#define LIMIT_NS  3000000000ull

enum column { COLUMN_PID, COLUMN_JOB, COLUMN_STEP, COLUMN_LOCAL, COLUMN_GLOBAL, COLUMNS };

static bool word_number(struct text word, uint64_t max, uint64_t *ret)
{
	return text_take_number(&word, 10, ret) && word.at == word.end && *ret <= max;
}

static bool row_parse(struct text line, const struct slurm_steps *steps, struct known_rank *ret)
{
	struct text words[COLUMNS];
	uint64_t pid, rank, step;

	for (unsigned i = 0; i < COLUMNS; i++)
		if (!text_take_word(&line, &words[i]))
			return false;
	if (!word_number(words[COLUMN_PID], INT32_MAX, &pid) || !pid ||
	    !word_number(words[COLUMN_GLOBAL], RANK_MAX, &rank))
		return false;
	*ret = (struct known_rank){ (uint32_t)rank, (pid_t)pid };
	/* "batch" and "extern" have numbers, too, and are no tasks. */
	if (!word_number(words[COLUMN_STEP], UINT32_MAX, &step))
		return false;
	if (*steps->unwanted && text_equals(words[COLUMN_STEP], steps->unwanted))
		return false;
	return !*steps->wanted || text_equals(words[COLUMN_STEP], steps->wanted);
}

int slurm_pids_parse(const char *string, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count)
{
	CLEANUP(free) struct known_rank *rows = NULL;
	struct text text = text_of(string), line;
	size_t count = 0, room = 0;

	while (text_take_line(&text, &line)) {
		struct known_rank row;

		if (!row_parse(line, steps, &row))
			continue;
		if (make_room(&rows, count, &room, sizeof(*rows)))
			return -ENOMEM;
		rows[count++] = row;
	}
	*ret = TAKE(rows);
	*ret_count = count;
	return 0;
}

void slurm_pids_read(const char *job, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count)
{
	/* The node is named, too: several may be one machine. */
	const char *node = secure_getenv("SLURMD_NODENAME");
	const char *argv[] = { "scontrol", "listpids", job, node && *node ? node : NULL, NULL };
	CLEANUP(free) char *text = NULL;
	struct err ignored = { 0 };

	*ret = NULL;
	*ret_count = 0;
	if (!child_capture(argv, TABLE_MAX, LIMIT_NS, &text, &ignored))
		(void)!slurm_pids_parse(text, steps, ret, ret_count);
}
