/*
 * One output file of the recorder, from creation to its end.
 */
#include "host/recorder/recorder_private.h"

#include "host/collect/facts.h"
#include "host/core/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int recorder_output_open(struct recorder_output *ret, const struct recorder *recorder,
			 const char *path, int new_file, struct err *err)
{
	uint32_t domains = trace_domains(&recorder->given.trace);
	/* Only traced I/O refers to descriptors. */
	bool with_files = recorder->traces && (!domains || domains & 1u << DOMAIN_IO);
	char request[RINGS_REQUEST_MAX] = "";
	int r;

	ret->path = strdup(path);
	if (!ret->path) {
		if (new_file >= 0)
			close(new_file);
		return err_set(err, -ENOMEM, "no memory for the recording");
	}
	ret->is_unused = new_file >= 0;
	r = new_file < 0 ? recording_create(path, &ret->recording, err)
			 : recording_create_in(new_file, path, &ret->recording, err);
	if (r)
		return r;
	ret->is_unused = !recording_begins_beside(ret->recording);
	if (programs_init(&ret->programs, ret->recording, with_files, recorder->given.variables))
		return err_set(err, -ENOMEM, "no memory for the recording");
	ret->programs.without_modules = recorder->given.is_system_wide;
	if (recorder->traces || domains)
		r = trace_request(&recorder->given.trace, request, err);
	if (!r)
		r = facts_session(ret->recording, recorder->given.version, request, err);
	return r ? r : recording_clock(ret->recording, err);
}

int recorder_output_check(struct recorder_output *self, struct err *err)
{
	return self->recording && !self->is_ended ? programs_check_usage(&self->programs, err) : 0;
}

int recorder_output_end(struct recorder_output *self, const struct collect_totals *totals,
			bool gives_up, int r, struct err *err)
{
	struct recorded_end end = { .reason = gives_up ? RECORDING_GIVEN_UP : RECORDING_COMPLETE,
				    .records = totals->records,
				    .record_bytes = totals->record_bytes,
				    .invalid = totals->invalid };
	struct err ignored = { 0 };
	struct naming naming;

	self->is_ended = true;
	memcpy(end.drops, totals->drops, sizeof(end.drops));
	if (!r) {
		(void)!programs_write_usage(&self->programs, &ignored);
		/* Frames of samples have names already. */
		r = stack_list_name(&self->programs.stacks, self->recording, NAMING_LINES_NS,
				    &naming, err);
	}
	if (!r)
		return recording_end(self->recording, &end, &self->written, err);
	(void)!recording_end(self->recording, /* end */ NULL, &self->written, &ignored);
	return r;
}

uint64_t recorder_output_bytes(const struct recorder_output *self)
{
	if (!self->recording || self->is_ended)
		return self->written.bytes;
	return recording_size(self->recording);
}

void recorder_output_done(struct recorder_output *self)
{
	struct stat file;

	if (self->recording) {
		recording_abandon(TAKE(self->recording));
		programs_done(&self->programs);
	}
	/* Removes an empty recording. */
	if (self->path && self->is_unused && !lstat(self->path, &file) && S_ISREG(file.st_mode))
		unlink(self->path);
	free(self->path);
	*self = (struct recorder_output){ 0 };
}
