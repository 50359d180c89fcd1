/*
 * The tables and views of a rocpd database, schema 3.
 */
#pragma once

struct rocpd_table {
	const char *name;    /* without "rocpd_" and the suffix of the file */
	const char *columns; /* without id and guid; "@name" is a reference to that table's id */
};

/* In an order in which references point back; each ends with an entry without a name. */
extern const struct rocpd_table rocpd_tables[];

struct rocpd_view {
	const char *name;
	const char *query; /* over tables by their plain names, and over views before it */
};

extern const struct rocpd_view rocpd_views[];
