/*
 * Text as a field of csv (RFC 4180).
 */
#include "host/core/text/foreign.h"
#include "host/export/exporter.h"

void export_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	foreign_write(out, FOREIGN_CSV, text);
	fputc('"', out);
}
