/*
 * Files that other programs read.  A format is a file NAME.c that ends in a struct exporter_format,
 * and a line in exporters.def.
 */
#pragma once

#include "host/core/output/output_file.h"
#include "host/model/model.h"

#include <stdio.h>

/* How a format is written: one of the three. */
struct exporter_format {
	const char *looks_like; /* how a file of it begins, as output_check_stranger wants it */
	/* Writes the whole model.  0 or -errno; the caller checks `out` for errors. */
	int (*write)(struct model *model, FILE *out);
	/* Instead, for writers that open a file by its name: it exists and is empty. */
	int (*write_named)(struct model *model, const struct output_file *file, struct err *err);
	/* Instead, for formats of several files, whose names begin with this one. */
	int (*write_set)(struct model *model, const char *prefix, struct err *err);
};

/* Bits of what a format can hold. */
enum exporter_content { HOLDS_CALLS = 1, HOLDS_SAMPLES = 2, HOLDS_WINDOWS = 4 };

/* The bits present in a recording, or in the part of it that is visited. */
unsigned exporter_content(const struct model *model);
/* "calls", "samples", "counters over time": the first of them. */
const char *exporter_content_name(unsigned holds);

struct exporter {
	const char *name;
	const char *help;              /* one line */
	const char *const *extensions; /* with their dots, the preferred first; ends with NULL */
	unsigned holds;                /* bits of enum exporter_content */
	const struct exporter_format *format;
};

/* Every format; the last one has no name. */
extern const struct exporter exporters[];

/* "flamegraph, svg or folded": those that hold one of these. */
#define EXPORTER_NAMES_MAX 256u
void exporter_names(unsigned holds, char ret[EXPORTER_NAMES_MAX]);

const struct exporter *exporter_find(const char *name);

/* By how the file is called; NULL. */
const struct exporter *exporter_for_path(const char *path);

/* Writes the file: under another name until it is complete, then under its own.  "-" is stdout.  A
 * device or a pipe is written to as it is.  Formats that need files refuse both. */
int export_file(struct model *model, const struct exporter *exporter, const char *path,
		struct err *err) MUST_CHECK;

/* 0 while everything could be written, else why not. */
int export_state(FILE *out);
