/*
 * The needed subset of POSIX ustar.
 */
#include "host/fleet/export/trace_archive.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512u

struct tar_head {
	char name[100], mode[8], uid[8], gid[8], size[12], time[12], checksum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

_Static_assert(sizeof(struct tar_head) == BLOCK, "a head is a block");

/* The checksum is computed with blanks in its own field. */
static void head_fill(struct tar_head *ret, const char *name, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)ret;
	unsigned sum = 0;

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->name, name, MIN(strlen(name), sizeof(ret->name)));
	snprintf(ret->mode, sizeof(ret->mode), "%07o", 0600);
	snprintf(ret->uid, sizeof(ret->uid), "%07o", 0);
	snprintf(ret->gid, sizeof(ret->gid), "%07o", 0);
	snprintf(ret->size, sizeof(ret->size), "%011llo", (unsigned long long)size);
	snprintf(ret->time, sizeof(ret->time), "%011o", 0);
	memset(ret->checksum, ' ', sizeof(ret->checksum));
	ret->type = '0';
	memcpy(ret->magic, "ustar", 6);
	memcpy(ret->version, "00", 2);
	for (size_t i = 0; i < sizeof(*ret); i++)
		sum += bytes[i];
	snprintf(ret->checksum, sizeof(ret->checksum), "%06o", sum);
}

static int file_write(FILE *out, const char *name, const char *bytes, size_t size, struct err *err)
{
	static const char nothing[BLOCK];
	struct tar_head head;

	if (strlen(name) > sizeof(head.name))
		return err_set(err, -ENAMETOOLONG, "'%s' is too long a name for a TAR", name);
	if (size >= (size_t)8 << 30)
		return err_set(err, -EFBIG, "'%s' is too large for a TAR", name);
	head_fill(&head, name, size);
	fwrite(&head, 1, sizeof(head), out);
	fwrite(bytes, 1, size, out);
	fwrite(nothing, 1, (BLOCK - size % BLOCK) % BLOCK, out);
	return export_state(out) ? err_set(err, export_state(out), "write the TAR: %s",
					   strerror(-export_state(out)))
				 : 0;
}

int trace_archive_manifest(FILE *out, manifest_filler *fill, const struct fleet *fleet,
			   struct err *err)
{
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	if (!json.out)
		return err_set(err, -ENOMEM, "the TAR: no memory");
	fill(&json, fleet);
	if (fclose(json.out))
		return err_set(err, -ENOMEM, "the TAR: no memory");
	return file_write(out, TRACE_ARCHIVE_MANIFEST, text, size, err);
}

int trace_archive_add(FILE *out, const char *name, struct model *model,
		      const struct exporter *exporter, struct err *err)
{
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int r = memory ? exporter->format->write(model, memory) : -ENOMEM;

	if (memory && fclose(memory) && !r)
		r = -ENOMEM;
	if (r)
		return err_set(err, r, "'%s': %s", name, strerror(-r));
	return file_write(out, name, text, size, err);
}

int trace_archive_end(FILE *out, struct err *err)
{
	static const char nothing[2 * BLOCK];

	fwrite(nothing, 1, sizeof(nothing), out);
	return export_state(out) ? err_set(err, export_state(out), "write the TAR: %s",
					   strerror(-export_state(out)))
				 : 0;
}
