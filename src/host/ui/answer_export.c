/*
 * A part of a session as a file that other programs read.
 */
#include "host/core/cleanup.h"
#include "host/export/exporter.h"
#include "host/model/narrow.h"
#include "host/top/freeze.h"
#include "host/ui/export_model.h"
#include "host/ui/handlers.h"
#include "host/ui/ui.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is kept of a live session, as a recording in memory. */
static int session_freeze(struct ui_session *session, const char *version, int *ret_fd,
			  struct err *err)
{
	const struct picture picture = { .hz = session->wish.hz,
					 .has_off_cpu = session->wish.off_cpu,
					 .source = session->facts };
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
						   .picture = &picture },
			 &samples, err);
	if (r)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

int export_model_open(struct ui_session *session, const struct ui_range *range, const char *version,
		      struct model **ret, struct err *err)
{
	uint64_t to_ns = range->to_ns ? range->to_ns : UINT64_MAX;
	CLEANUP(close) int fd = -1;
	int r;

	if (!ui_session_is_live(session))
		r = model_open(session->path, ret, err);
	else if (!(r = session_freeze(session, version, &fd, err)))
		r = model_open_fd(TAKE_FD(fd), session->name, ret, err);
	if (r)
		return r;
	if (model_name_late(*ret))
		r = err_set(err, -ENOMEM, "export: no memory");
	if (!r && (range->from_ns || range->to_ns) && model_narrow(*ret, range->from_ns, to_ns))
		r = err_set(err, -ENOMEM, "export: no memory");
	if (r)
		model_free(*ret);
	return r;
}

static int exporter_check(const struct exporter *exporter, const struct ui_command *command,
			  struct err *err)
{
	if (!exporter) {
		err_set(err, -EINVAL, "there is no format '%s'", command->format);
		return err->code;
	}
	if (exporter->format->write)
		return 0;
	err_set(err, -EOPNOTSUPP, "%s consists of files: a browser cannot save it", exporter->name);
	return err_fix(err, "limpet export FILE -f %s", exporter->name);
}

static int content_check(const struct model *model, const struct exporter *exporter,
			 struct err *err)
{
	unsigned content =
		(model->samples->count ? HOLDS_SAMPLES : 0u) | (model->calls ? HOLDS_CALLS : 0u);

	if (exporter->holds & content)
		return 0;
	return err_set(err, -ENODATA, "%s is a format of %s, and this range has none",
		       exporter->name, exporter->holds & HOLDS_SAMPLES ? "samples" : "calls");
}

int answer_export(struct ui *ui, const struct ui_command *command, struct reply *reply,
		  struct err *err)
{
	CLEANUP(model_free) struct model *model = NULL;
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	const struct exporter *exporter = exporter_find(command->format);
	int r;

	if (!session)
		return err->code;
	r = exporter_check(exporter, command, err);
	if (!r)
		r = export_model_open(session, &command->range, ui->options->version, &model, err);
	if (!r)
		r = content_check(model, exporter, err);
	if (r)
		return r;
	r = exporter->format->write(model, reply->out);
	if (r || fflush(reply->out) || ferror(reply->out))
		return err_set(err, r ? r : -ENOMEM, "write %s: %s", exporter->name,
			       strerror(r ? -r : ENOMEM));
	reply->head.type = UI_TYPE_FILE;
	snprintf(reply->head.file, sizeof(reply->head.file), "limpet-%u%s", session->id,
		 exporter->extensions[0]);
	return 0;
}
