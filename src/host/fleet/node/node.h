/*
 * The node part: `limpet fleet-node REQUEST`, started by the site's own launcher on each node.  It
 * finds the ranks there, carries out the request for them, sends lines home on its stdout, and
 * stays until its stdin ends, which also means "stop".  It has no port and leaves nothing behind.
 */
#pragma once

#include "host/fleet/request.h"

/* Runs to its end; the exit code for main().  If the request cannot be read (text NULL: none was
 * given), home gets this version. */
enum exit_code node_run(const char *request, const char *version);
