/*
 * The page from its address to Ctrl-C.
 */
#include "host/cli/common/ui_page.h"

#include "host/core/cleanup.h"
#include "host/core/self/ending.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/print.h"
#include "host/ui/browser.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void address_print(const struct ui_address *address, bool is_json)
{
	if (is_json) {
		struct json json = json_event(stdout, "listening");

		json_text(&json, "url", address->url);
		json_number(&json, "port", address->port);
		json_text(&json, "socket", address->socket ? address->socket : "");
		json_text(&json, "ssh", address->ssh);
		json_object_end(&json);
		return;
	}
	print(stdout, "%s\n", address->url);
	if (address->socket || secure_getenv("SSH_CONNECTION"))
		print(stdout, "from another machine: %s\n", address->ssh);
	print(stdout, "Ctrl-C ends it and detaches from everything\n");
	fflush(stdout);
}

static int ui_wait(struct ui_server *server, const struct ui_page_words *values,
		   const struct ui_options *options, struct err *err)
{
	struct browser browser = { 0 };
	struct ui_address address;
	CLEANUP(close) int signals = ending_prepare(err), detaches = -1;
	int r;

	if (signals < 0)
		return signals;
	detaches = interrupt_watch_detaches(err);
	if (detaches < 0)
		return detaches;
	ui_address(server, &address);
	address_print(&address, values->is_json);
	if (!values->no_open && address.port)
		browser_open(&browser, address.url, options->user, options->group);
	r = ui_serve(server, signals, detaches, err);
	browser_close(&browser);
	return r;
}

/* Prints the contents of the file; an empty one is a failure. */
static int recorded_print(struct ui_server *server, bool is_json, struct err *err)
{
	struct ui_recorded recorded;

	ui_recorded(server, &recorded);
	if (!recorded.samples && !recorded.calls) {
		*err = recorded.err;
		if (!err->code)
			err_set(err, -ENODATA, "nothing was recorded");
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	if (!is_json)
		print(stdout, "%lu samples and %lu calls in %s\n", recorded.samples, recorded.calls,
		      recorded.path);
	if (recorded.err.code)
		*err = recorded.err;
	return recorded.err.code;
}

int ui_page_run(const struct ui_options *options, const struct ui_page_words *values,
		struct err *err)
{
	struct ui_server *server = NULL;
	int r = ui_start(&server, options, err);

	if (!r)
		r = ui_wait(server, values, options, err);
	ui_stop(server);
	return r || !options->record ? r : recorded_print(server, values->is_json, err);
}
