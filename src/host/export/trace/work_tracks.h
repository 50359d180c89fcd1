/*
 * The tracks of devices' work: by queue and by the agent of the memory, or by stream; not by the
 * thread that recorded it.
 */
#pragma once

#include "host/export/amd/view/agents.h"

#define WORK_TRACK_NAME 128u

struct work_track {
	const struct model_process *process;
	char name[WORK_TRACK_NAME];
};

struct work_tracks {
	const struct model *model;
	enum agent_index agent_index;
	bool is_by_stream;
	bool is_by_source;     /* separates copies to the host by their source */
	struct agents *agents; /* of each process */
	struct work_track *items;
	uint32_t count;
	uint32_t max; /* so many at most; 0: any */
	size_t room;
	struct table by_owner; /* (process and kind, device and queue or stream): number and one */
};

int work_tracks_init(struct work_tracks *ret, const struct model *model,
		     enum agent_index agent_index, bool is_by_stream) MUST_CHECK;
void work_tracks_done(struct work_tracks *tracks);

/* The track of a piece of work, numbered from 0.  0, -ENOMEM, or -EFBIG for one beyond `max`. */
int work_tracks_find(struct work_tracks *tracks, const struct call *call, uint32_t *ret_number,
		     bool *ret_is_new) MUST_CHECK;

/* An agent in names of tracks: "Agent [1]", "GPU [0]". */
int work_tracks_agent(struct work_tracks *tracks, const struct model_process *process,
		      uint64_t device, char *ret, size_t room, const char **ret_type) MUST_CHECK;
