/*
 * One output file of the recorder, from creation to its end.
 */
#include "host/recorder/recorder_private.h"

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/recorder/samples/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_beginning(struct recording *recording, const struct recorder *recorder,
			   struct err *err)
{
	char request[RINGS_REQUEST_MAX] = "";
	bool is_traced = recorder->traces || trace_domains(&recorder->given.trace);
	int r = is_traced ? trace_request(&recorder->given.trace, request, err) : 0;

	if (!r)
		r = facts_session(recording, recorder->given.version, request, err);
	return r ? r : recording_clock(recording, err);
}

/* Only traced I/O refers to descriptors. */
static bool names_descriptors(const struct recorder *recorder)
{
	uint32_t domains = trace_domains(&recorder->given.trace);

	return recorder->traces && (!domains || domains & 1u << DOMAIN_IO);
}

int recorder_output_open(struct recorder_output *ret, const struct recorder *recorder,
			 const char *path, int new_file, struct err *err)
{
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
	if (programs_init(&ret->programs, ret->recording, names_descriptors(recorder),
			  recorder->given.variables))
		return err_set(err, -ENOMEM, "no memory for the recording");
	ret->programs.without_modules = recorder->given.is_system_wide;
	return write_beginning(ret->recording, recorder, err);
}

int recorder_output_check(struct recorder_output *self, struct err *err)
{
	return self->recording && !self->is_ended
		       ? usage_watch_check(&self->usage, &self->programs, err)
		       : 0;
}

int recorder_output_end(struct recorder_output *self, const struct recorded_end *end,
			struct err *err)
{
	struct err ignored = { 0 };
	struct naming naming;
	int r = 0;

	self->is_ended = true;
	if (end)
		(void)!usage_watch_flush(&self->usage, self->recording, &ignored);
	/* Frames of samples have names already. */
	if (end)
		r = naming_write(&self->programs.stacks, self->recording, NAMING_LINES_NS, &naming,
				 err);
	if (!r)
		return recording_end(self->recording, end, &self->written, err);
	(void)!recording_end(self->recording, /* end */ NULL, &self->written, &ignored);
	return r;
}

uint64_t recorder_output_bytes(const struct recorder_output *self)
{
	if (!self->recording || self->is_ended)
		return self->written.bytes;
	return recording_size(self->recording);
}

/* Removes an empty recording. */
static void remove_unused(const struct recorder_output *self)
{
	struct stat file;

	if (self->is_unused && !lstat(self->path, &file) && S_ISREG(file.st_mode))
		unlink(self->path);
}

void recorder_output_done(struct recorder_output *self)
{
	if (self->recording) {
		recording_abandon(TAKE(self->recording));
		programs_done(&self->programs);
	}
	if (self->path)
		remove_unused(self);
	free(self->path);
	*self = (struct recorder_output){ 0 };
}
