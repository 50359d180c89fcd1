/*
 * A TAR of traces with a manifest, for Perfetto from version 58 on: the manifest comes first, and
 * names the machine of each file; the clocks in the files align them.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/export/exporter.h"
#include "host/fleet/fleet.h"

#define TRACE_ARCHIVE_MANIFEST "perfetto_manifest.json"
#define TRACE_ARCHIVE_BEGINS   TRACE_ARCHIVE_MANIFEST

typedef void manifest_filler(struct json *json, const struct fleet *fleet);

int trace_archive_manifest(FILE *out, manifest_filler *fill, const struct fleet *fleet,
			   struct err *err) MUST_CHECK;
/* Adds the exporter's output for the model, as a file of this name. */
int trace_archive_add(FILE *out, const char *name, struct model *model,
		      const struct exporter *exporter, struct err *err) MUST_CHECK;
int trace_archive_end(FILE *out, struct err *err) MUST_CHECK;
