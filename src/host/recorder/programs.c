/*
 * Programs that one process runs, one after the other.
 */
#include "host/recorder/programs.h"

#include "host/collect/facts.h"

void programs_init(struct programs *programs, pid_t pid, bool with_files)
{
	*programs = (struct programs){ .pid = pid, .with_files = with_files };
	pthread_mutex_init(&programs->lock, NULL);
}

void programs_done(struct programs *programs)
{
	pthread_mutex_destroy(&programs->lock);
}

/* Where its memory may not be read, nobody can tell: then it is taken for another one. */
static bool is_same(const struct programs *self, const struct identity *now)
{
	return self->is_known && now->has_random &&
	       identity_compare(&self->identity, now) == IDENTITY_SAME;
}

static int write_program(struct programs *self, struct err *err)
{
	struct identity now;
	struct err ignored = { 0 };
	bool is_read = !identity_read(self->pid, self->pid, &now, &ignored);
	int r;

	if (is_read && is_same(self, &now))
		return 0;
	r = facts_process(self->recording, self->pid, self->with_files, &self->number, err);
	self->is_known = !r && is_read && now.has_random;
	if (self->is_known)
		self->identity = now;
	return r;
}

int programs_number(struct programs *self, uint32_t *ret, struct err *err)
{
	int r;

	pthread_mutex_lock(&self->lock);
	r = write_program(self, err);
	if (!r)
		*ret = self->number;
	pthread_mutex_unlock(&self->lock);
	return r;
}
