/*
 * Writes shared pages.  Answers are carried as base64, so that no name in them can end a script;
 * the page's own policy lets it load nothing.
 */
#include "host/ui/answers/share.h"

#include "host/core/cleanup.h"
#include "host/core/text/base64.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define PART_MAX     (4u << 20)
#define SHARE_WIDTH  2000u
#define SHARE_ROWS   1000u
#define SHARE_FLOWS  2000u
#define HEAT_CELLS   20000u
#define MILLISECOND  1000000u
#define GZIP_WINDOW  (16 + MAX_WBITS)
#define NAME_MAX_KEY 64u

static const char policy[] =
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
	"'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
	"form-action 'none'\">\n<style>";
static const char style_link[] = "<link rel=\"stylesheet\" href=\"app.css\">";
static const char script_link[] = "<script src=\"app.js\" defer></script>";
static const char body_end[] = "</body>";

/* A part of the page, as text; the caller's to free. */
static char *part_unpack(const char *path, struct err *err)
{
	const struct page_part *part = page_find(path, strlen(path));
	char *text = calloc(1, PART_MAX + 1);
	z_stream stream = { .next_out = (unsigned char *)text, .avail_out = PART_MAX };
	int r;

	if (text) {
		stream.next_in = (unsigned char *)(uintptr_t)part->bytes;
		stream.avail_in = (unsigned)page_size(part);
	}
	if (!text || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
		free(text);
		err_set(err, -ENOMEM, "share: no memory");
		return NULL;
	}
	r = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	if (r == Z_STREAM_END)
		return text;
	free(text);
	err_set(err, -EIO, "share: the page inside limpet cannot be read");
	return NULL;
}

static void base64_write(FILE *out, const unsigned char *bytes, size_t size)
{
	enum { PART = 3 * 1024 };
	char text[BASE64_SIZE(PART)];

	for (size_t i = 0; i < size; i += PART) {
		size_t part = MIN(size - i, (size_t)PART);

		base64_encode(text, bytes + i, part);
		fwrite(text, BASE64_SIZE(part), 1, out);
	}
}

struct sharing {
	struct answer *answer;
	FILE *out;
	struct err *err;
	bool needs_comma;
};

/* The bytes of an answer under its key. */
static int reply_embed(struct sharing *self, const char *key, struct reply *reply)
{
	long size;
	void *bytes;

	if (fflush(reply->out) || fseek(reply->out, 0, SEEK_END) || (size = ftell(reply->out)) <= 0)
		return err_set(self->err, -EIO, "share: no memory");
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fileno(reply->out), 0);
	if (bytes == MAP_FAILED)
		return err_set(self->err, -ENOMEM, "share: no memory");
	fprintf(self->out, self->needs_comma ? ",\n\"" : "\n\"");
	fwrite(key, strlen(key), 1, self->out);
	fprintf(self->out, "\":\"");
	base64_write(self->out, bytes, (size_t)size);
	fprintf(self->out, "\"");
	self->needs_comma = true;
	munmap(bytes, (size_t)size);
	return 0;
}

static int answer_embed(struct sharing *self, const char *key, const struct ui_command *command)
{
	CLEANUP(reply_close) struct reply reply = { 0 };
	int r = reply_open(&reply, 0, self->err);

	if (!r)
		r = self->answer->make(self->answer->ui, command, &reply, self->err);
	return r ? r : reply_embed(self, key, &reply);
}

/* A cell's duration, to limit their number. */
static uint32_t cell_of(const struct answer *self)
{
	const struct ui_range *range = &self->command->range;
	uint64_t end_ns = self->session->store.end_ns, to_ns = range->to_ns, length_ns;

	if (!to_ns)
		to_ns = end_ns - MIN(end_ns, self->session->origin_ns);
	length_ns = to_ns - MIN(to_ns, range->from_ns);
	return (uint32_t)MIN(MAX(20u, length_ns / MILLISECOND / HEAT_CELLS + 1), 60000u);
}

/* One kind, from both ends of stacks where the route has them. */
static int kind_embed(struct sharing *self, struct ui_command *command)
{
	const struct route *route = &routes[command->verb];
	bool is_by_direction = route->traits & ROUTE_BY_DIRECTION;
	char key[NAME_MAX_KEY];
	int r = 0;

	for (command->is_inverted = 0; !r && command->is_inverted <= is_by_direction;
	     command->is_inverted++) {
		snprintf(key, sizeof(key), "%s?kind=%s", route->path, ui_kind_name(command->kind));
		if (is_by_direction)
			snprintf(key, sizeof(key), "%s?kind=%s&invert=%u", route->path,
				 ui_kind_name(command->kind), command->is_inverted);
		r = answer_embed(self, key, command);
	}
	return r;
}

/* Kinds of samples first; device time and memory where there are any calls. */
static bool kind_is_shared(const struct ui_session *session, enum ui_kind kind)
{
	if (ui_sample_kinds(kind))
		return kind == UI_CPU || session->wish.off_cpu;
	return session->store.model && session->store.model->calls;
}

static int route_embed(struct sharing *self, enum ui_verb verb)
{
	CLEANUP(free) struct ui_command *command = malloc(sizeof(*command));
	const struct route *route = &routes[verb];
	int r = 0;

	if (!command)
		return err_set(self->err, -ENOMEM, "share: no memory");
	ui_command_init(command, verb);
	command->range = self->answer->command->range;
	command->width = SHARE_WIDTH;
	command->limit = verb == UI_FLOWS ? SHARE_FLOWS : SHARE_ROWS;
	command->cell_ms = cell_of(self->answer);
	if (!(route->traits & ROUTE_BY_KIND))
		return answer_embed(self, route->path, command);
	for (unsigned kind = 0; !r && kind < UI_KINDS; kind++) {
		command->kind = kind;
		if (kind_is_shared(self->answer->session, kind))
			r = kind_embed(self, command);
	}
	return r;
}

static void text_write(FILE *out, const char *from, const char *to)
{
	fwrite(from, (size_t)(to - from), 1, out);
}

/* The shell with style, answers and script inside. */
static int page_write(struct sharing *self)
{
	CLEANUP(free) char *html = part_unpack("/", self->err);
	CLEANUP(free) char *css = html ? part_unpack("/app.css", self->err) : NULL;
	CLEANUP(free) char *js = css ? part_unpack("/app.js", self->err) : NULL;
	const char *style = js ? strstr(html, style_link) : NULL;
	const char *script = style ? strstr(style, script_link) : NULL;
	const char *end = script ? strstr(script, body_end) : NULL;
	int r = 0;

	if (!js)
		return self->err->code;
	if (!end)
		return err_set(self->err, -EIO, "share: the page inside limpet is another one");
	text_write(self->out, html, style);
	text_write(self->out, policy, policy + strlen(policy));
	text_write(self->out, css, css + strlen(css));
	fputs("</style>", self->out);
	text_write(self->out, style + strlen(style_link), script);
	text_write(self->out, script + strlen(script_link), end);
	fputs("<script type=\"application/json\" id=\"limpet-share\">"
	      "{\"version\":1,\"answers\":{",
	      self->out);
	for (unsigned verb = 0; !r && verb < UI_VERBS; verb++)
		if (routes[verb].traits & ROUTE_SHARED)
			r = route_embed(self, verb);
	fputs("}}</script>\n<script>", self->out);
	text_write(self->out, js, js + strlen(js));
	fputs("</script>\n", self->out);
	text_write(self->out, end, end + strlen(end));
	return r;
}

/* A larger page hangs browsers. */
static int size_check(FILE *out, uint64_t *ret_bytes, struct err *err)
{
	long size;

	if (fflush(out) || (size = ftell(out)) < 0)
		return err_set(err, -EIO, "share: it could not be written");
	*ret_bytes = (uint64_t)size;
	if (size <= (long)SHARE_MAX)
		return 0;
	return err_set(err, -EFBIG, "the page would have %ld bytes, more than %u", size, SHARE_MAX);
}

int answer_share(struct answer *self)
{
	struct reply *reply = self->reply;
	struct sharing sharing = { .answer = self, .out = reply->out, .err = self->err };
	struct json json = { .out = reply->out };
	uint32_t before = self->ui->shared;
	uint64_t size = 0;
	int r;

	self->ui->shared = self->session->id;
	r = page_write(&sharing);
	self->ui->shared = before;
	if (!r)
		r = size_check(reply->out, &size, self->err);
	if (self->command->is_size_only && size) {
		*self->err = (struct err){ 0 };
		rewind(reply->out);
		(void)!ftruncate(fileno(reply->out), 0);
		json_object(&json, NULL);
		json_number(&json, "bytes", size);
		json_number(&json, "limit", SHARE_MAX);
		json_bool(&json, "allowed", size <= SHARE_MAX);
		json_object_end(&json);
		return 0;
	}
	if (r)
		return r == -EFBIG ? err_fix(self->err, "select a shorter range") : r;
	reply->head.type = UI_TYPE_FILE;
	snprintf(reply->head.file, sizeof(reply->head.file), "limpet-%u.html",
		 self->command->range.session);
	return 0;
}
