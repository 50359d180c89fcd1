/*
 * A part of a session as a file that other programs read.
 */
#include "host/core/cleanup.h"
#include "host/core/threads/quiet_thread.h"
#include "host/export/exporter.h"
#include "host/live/freeze.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTS_MAX 2u

/* The kept samples of a live session, as a recording in memory. */
static int session_freeze(struct ui_session *session, const char *version, int *ret_fd,
			  struct err *err)
{
	int copy, fd = memfd_create("limpet-session", MFD_CLOEXEC);
	uint64_t samples = 0;
	int r;

	copy = fd < 0 ? -1 : dup(fd);
	if (copy < 0) {
		r = err_set(err, -errno, "memory file: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return r;
	}
	r = freeze_write(session->live,
			 &(struct freeze_options){ .path = session->name,
						   .new_file = copy,
						   .version = version,
						   .source = &session->facts,
						   .hz = session->wish.hz,
						   .has_off_cpu = session->wish.off_cpu },
			 &samples, err);
	if (r)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

/* One export: it has a model of its own, so that others are answered meanwhile. */
struct export_job {
	struct ui *ui;
	const struct exporter *exporter;
	struct reply reply;
	struct ui_command command;
	uint64_t origin_ns; /* CLOCK_MONOTONIC of the session's time 0 */
	const char *path;   /* of a recording; or: */
	int fd;             /* of the frozen recording; -1 */
	char name[64];
};

/* Ranges count from the session's time 0, as in every answer: the oldest sample that a live session
 * still has is often younger. */
static int range_apply(const struct export_job *self, struct model *model)
{
	const struct ui_range *range = &self->command.range;
	uint64_t boot_ns = self->origin_ns + (model->first.boot_ns - model->first.monotonic_ns);

	if (!range->from_ns && !range->to_ns)
		return 0;
	return model_narrow_between(model, boot_ns + range->from_ns,
				    range->to_ns ? boot_ns + range->to_ns : UINT64_MAX);
}

static int exporter_check(const struct exporter *exporter, const struct ui_command *command,
			  struct err *err)
{
	if (!exporter)
		return err_set(err, -EINVAL, "there is no format '%s'", command->format);
	if (exporter->format->write)
		return 0;
	err_set(err, -EOPNOTSUPP, "%s consists of files: a browser cannot save it", exporter->name);
	return err_fix(err, "limpet export FILE -f %s", exporter->name);
}

static int export_write(struct export_job *self, struct err *err)
{
	CLEANUP(model_free) struct model *model = NULL;
	const struct exporter *exporter = self->exporter;
	FILE *out = self->reply.out;
	int r = self->path ? model_open(self->path, &model, err)
			   : model_open_fd(TAKE_FD(self->fd), self->name, &model, err);

	if (r)
		return r;
	if (model_name_late(model) || range_apply(self, model))
		return err_set(err, -ENOMEM, "export: no memory");
	if (!(exporter->holds & exporter_content(model)))
		return err_set(err, -ENODATA, "%s is a format of %s, and this range has none",
			       exporter->name, exporter_content_name(exporter->holds));
	r = exporter->format->write(model, out);
	if (r || fflush(out) || ferror(out))
		return err_set(err, r ? r : -ENOMEM, "write %s: %s", exporter->name,
			       strerror(r ? -r : ENOMEM));
	self->reply.head.type = UI_TYPE_FILE;
	snprintf(self->reply.head.file, sizeof(self->reply.head.file), "limpet-%u%s",
		 self->command.range.session, exporter->extensions[0]);
	return 0;
}

static void export_free(struct export_job *self)
{
	if (self->fd >= 0)
		close(self->fd);
	reply_close(&self->reply);
	free(self);
}

static void *export_run(void *argument)
{
	struct export_job *self = argument;
	struct ui *ui = self->ui;
	struct err err = { 0 };

	if (export_write(self, &err))
		reply_fail(&self->reply, &err);
	/* The reader of the answer may request the next export at once. */
	ui->exports--;
	(void)!reply_send(&self->reply, ui->broker);
	export_free(self);
	return NULL;
}

static int export_begin(struct export_job *self, struct reply *reply, struct err *err)
{
	pthread_t thread;
	int r;

	self->reply = *reply;
	r = quiet_thread(&thread, export_run, self);
	if (r) {
		self->reply.out = NULL;
		return err_set(err, r, "a thread for the export: %s", strerror(-r));
	}
	pthread_detach(thread);
	reply->out = NULL;
	reply->is_later = true;
	return 0;
}

/* The job has what it needs of the session: that may be closed during the writing. */
int answer_export(struct answer *self)
{
	const struct ui_command *command = self->command;
	const struct exporter *exporter = exporter_find(command->format);
	struct ui_session *session = self->session;
	struct ui *ui = self->ui;
	struct export_job *job;
	int r = 0;

	if (exporter_check(exporter, command, self->err))
		return self->err->code;
	if (ui->exports >= EXPORTS_MAX)
		return err_set(self->err, -EBUSY, "%u exports are being written already",
			       EXPORTS_MAX);
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	*job = (struct export_job){ .ui = ui,
				    .exporter = exporter,
				    .command = *command,
				    .origin_ns = session->origin_ns,
				    .path = session->path,
				    .fd = -1 };
	snprintf(job->name, sizeof(job->name), "%s", session->name);
	ui->exports++;
	if (ui_session_is_live(session))
		r = session_freeze(session, ui->options->version, &job->fd, self->err);
	if (!r)
		r = export_begin(job, self->reply, self->err);
	if (r) {
		ui->exports--;
		export_free(job);
	}
	return r;
}
