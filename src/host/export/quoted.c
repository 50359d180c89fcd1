/*
 * Text as a field of csv (RFC 4180).
 */
#include "host/core/utf8.h"
#include "host/export/exporter.h"

void export_quoted(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		size_t length = utf8_length(at);

		if (*at == '"')
			fputc('"', out);
		if (length)
			fwrite(at, 1, length, out);
		else
			fputs(UTF8_REPLACEMENT, out);
		at += length ? length : 1;
	}
	fputc('"', out);
}
