/*
 * Where profiles go: http://127.0.0.1:4040, https://profiles.example/prefix.
 */
#pragma once

#include "host/core/err.h"
#include "host/push/format.h"

#include <stdbool.h>
#include <sys/socket.h>

#define ADDRESS_HOST_MAX 256u
#define ADDRESS_PATH_MAX 512u

struct push_address {
	const struct push_format *format;
	char host[ADDRESS_HOST_MAX]; /* as given, with brackets and port */
	char path[ADDRESS_PATH_MAX]; /* of the call */
	char url[ADDRESS_HOST_MAX + ADDRESS_PATH_MAX + 16];
	bool is_direct; /* plain HTTP to a number, or to localhost: limpet speaks it itself */
	struct sockaddr_storage socket; /* of one that is */
	socklen_t socket_size;
};

/* The path of the format's call is put behind that of the address. */
int push_address_parse(const char *url, const struct push_format *format, struct push_address *ret,
		       struct err *err) MUST_CHECK;
