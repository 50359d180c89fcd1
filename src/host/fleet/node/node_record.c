/*
 * Records every rank of this node at once, each by a limpet of its own.  Recordings are written
 * into home's folder if this node sees it, else sent home while they grow.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/output/output_location.h"
#include "host/core/text/text.h"
#include "host/fleet/child.h"
#include "host/fleet/node/node_private.h"
#include "host/fleet/node/rank_recorder.h"
#include "host/fleet/rank.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LOOK_MS    100
#define KILL_NS    2000000000ull /* for a killed one to end */
#define MARK_BYTES 4096u
#define FDS_OF_ONE 3u

struct recording_round {
	struct node *node;
	struct rank_recorder *recorders; /* by rank */
	bool *is_told;
	struct pollfd *fds;
	bool is_there; /* this node sees home's folder */
	const char *name;
	uint64_t stop_ns; /* when they are stopped, if they still run */
};

static bool is_ours(const char *path, mode_t kind)
{
	struct stat present;

	return !lstat(path, &present) && (present.st_mode & S_IFMT) == kind &&
	       output_is_trusted(&present);
}

/* Home's fleet.json, with home's mark in it: another folder of that path is not used, nor one that
 * other users may write to. */
static bool folder_is_here(const struct record_wish *wish)
{
	char path[PATH_MAX], text[MARK_BYTES];
	ssize_t size;

	if (!*wish->folder || !*wish->mark ||
	    snprintf(path, sizeof(path), "%s/fleet.json", wish->folder) >= (int)sizeof(path))
		return false;
	if (!is_ours(wish->folder, S_IFDIR) || !is_ours(path, S_IFREG))
		return false;
	size = text_read_small(path, text, sizeof(text));
	return size > 0 && strstr(text, wish->mark) && !access(wish->folder, W_OK);
}

static void arguments_fill(struct words *ret, const struct recording_round *round,
			   const struct found_rank *rank)
{
	const struct node_request *request = &round->node->request;
	char name[RECORDING_NAME_MAX];

	words_add_line(ret, "limpet record --json -p");
	words_add(ret, "%d", rank->pid);
	words_add_text(ret, "-o");
	if (round->is_there)
		words_add(ret, "%s/%s", request->record.folder,
			  recording_name(rank->number, round->name, rank->top, name));
	else
		words_add_text(ret, "/dev/fd/3");
	if (request->find.family == FAMILY_DESCENDANTS)
		words_add_text(ret, "--children");
	for (size_t i = 0; i < request->record.word_count; i++)
		words_add_text(ret, request->record.words[i]);
}

static void recorder_begin(struct recording_round *round, size_t index)
{
	CLEANUP(words_done) struct words words = { 0 };
	struct rank_recorder *recorder = &round->recorders[index];
	struct err err = { 0 };

	arguments_fill(&words, round, &round->node->ranks.items[index]);
	if (words.has_failed)
		err_set(&err, -ENOMEM, "recorder: no memory");
	else
		(void)!rank_recorder_start(recorder, (const char *const *)words.items,
					   !round->is_there, &err);
	if (!err.code)
		return;
	node_tell_error(round->node, index, &err);
	round->is_told[index] = true;
}

static void recorded_tell(struct recording_round *round, size_t index)
{
	const struct rank_recorder *recorder = &round->recorders[index];
	struct bytes message = { 0 };
	char reason[640];
	enum rank_state state = rank_recorder_judge(recorder, reason, sizeof(reason));

	recorded_put(&message, &(struct recorded_message){
				       .pid = (uint32_t)round->node->ranks.items[index].top,
				       .is_there = round->is_there,
				       .size_bytes = round->is_there ? recorder->size_bytes
								     : recorder->sent_bytes });
	channel_send(&round->node->channel, &message);
	node_tell_state(round->node, index, state, reason);
	round->is_told[index] = true;
	bytes_done(&message);
}

static void file_send(struct recording_round *round, size_t index)
{
	struct rank_recorder *recorder = &round->recorders[index];
	unsigned char bytes[PIECE_BYTES_MAX];
	uint64_t offset = recorder->sent_bytes;
	ssize_t got = rank_recorder_read_file(recorder, bytes, sizeof(bytes));
	struct bytes message = { 0 };

	if (got <= 0)
		return;
	piece_put(&message,
		  &(struct piece_message){ .pid = (uint32_t)round->node->ranks.items[index].top,
					   .offset = offset,
					   .bytes = bytes,
					   .size = (size_t)got });
	channel_send(&round->node->channel, &message);
	bytes_done(&message);
}

static void recorder_serve(struct recording_round *round, size_t index, const struct pollfd *fds)
{
	struct rank_recorder *recorder = &round->recorders[index];

	if (fds[0].revents)
		rank_recorder_hear(recorder);
	if (fds[1].revents)
		rank_recorder_drain_errors(recorder);
	if (fds[2].revents)
		file_send(round, index);
	if (rank_recorder_has_ended(recorder) || rank_recorder_is_stuck(recorder, KILL_NS))
		recorded_tell(round, index);
}

static size_t fds_fill(struct recording_round *round)
{
	struct node *node = round->node;
	size_t used = 0;

	for (size_t i = 0; i < node->ranks.count; i++) {
		const struct rank_recorder *recorder = &round->recorders[i];
		const int fds[FDS_OF_ONE] = { recorder->output, recorder->errors, recorder->file };

		for (unsigned k = 0; k < FDS_OF_ONE; k++)
			round->fds[used++] =
				(struct pollfd){ round->is_told[i] ? -1 : fds[k], POLLIN, 0 };
	}
	/* stdout towards home: only this shows that home is gone. */
	round->fds[used++] = (struct pollfd){ node->channel.fd, 0, 0 };
	return used;
}

/* The number of those still running. */
static size_t round_serve(struct recording_round *round)
{
	struct node *node = round->node;
	size_t left = 0, count = fds_fill(round);
	bool shall_stop;

	poll(round->fds, count, LOOK_MS);
	lifeline_wait(&node->lifeline, -1, now_ns());
	shall_stop = node_shall_stop(node) || now_ns() >= round->stop_ns ||
		     round->fds[count - 1].revents & (POLLERR | POLLHUP);
	for (size_t i = 0; i < node->ranks.count; i++) {
		struct rank_recorder *recorder = &round->recorders[i];

		if (round->is_told[i])
			continue;
		if (shall_stop)
			rank_recorder_ask(recorder);
		/* Recorders get half of a rank's time limit to stop. */
		if (recorder->asked_ns &&
		    now_ns() - recorder->asked_ns > node->request.rank_limit_ns / 2)
			rank_recorder_kill(recorder);
		recorder_serve(round, i, &round->fds[FDS_OF_ONE * i]);
		left += !round->is_told[i];
	}
	return left;
}

static bool round_init(struct recording_round *round, struct node *node)
{
	const struct record_wish *wish = &node->request.record;
	size_t count = node->ranks.count;
	uint64_t now = now_ns();

	*round = (struct recording_round){
		.node = node,
		.recorders = calloc(count + 1, sizeof(*round->recorders)),
		.is_told = calloc(count + 1, sizeof(*round->is_told)),
		.fds = calloc(FDS_OF_ONE * count + 1, sizeof(*round->fds)),
		.is_there = folder_is_here(wish),
		.name = node_name(node),
	};
	round->stop_ns = wish->duration_ns > UINT64_MAX - now - node->request.rank_limit_ns
				 ? UINT64_MAX
				 : now + wish->duration_ns + node->request.rank_limit_ns;
	return round->recorders && round->is_told && round->fds;
}

void node_record(struct node *node)
{
	struct recording_round round;

	if (!round_init(&round, node)) {
		node_note(node, "record: no memory");
	} else {
		for (size_t i = 0; i < node->ranks.count; i++) {
			round.is_told[i] = node->ranks.items[i].left_out != RANK_IS_TAKEN;
			if (!round.is_told[i])
				recorder_begin(&round, i);
		}
		while (round_serve(&round))
			;
	}
	free(round.recorders);
	free(round.is_told);
	free(round.fds);
}
