/*
 * Parses the host's request.
 */
#include "target/domains/request.h"

#include "target/runtime/text.h"

static bool part_is(const char *part, size_t length, const char *name)
{
	size_t i = 0;

	while (i < length && name[i] && part[i] == name[i])
		i++;
	return i == length && !name[i];
}

static bool part_begins(const char *part, size_t length, const char *name, const char **rest)
{
	size_t size = text_length(name);

	*rest = part + size;
	return length > size && part_is(part, size, name);
}

static uint64_t number_parse(const char *text, const char *end)
{
	uint64_t value = 0;

	for (; text < end && *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

bool request_next(const char **part, size_t *length)
{
	*part += *length;
	while (**part == ';')
		(*part)++;
	for (*length = 0; (*part)[*length] && (*part)[*length] != ';';)
		(*length)++;
	return *length > 0;
}

static void read_part(struct trace_request *request, const char *part, size_t length)
{
	const char *rest;

	for (unsigned i = 0; i < DOMAINS; i++)
		if (domain_key(i))
			request->is_wanted[i] |= part_is(part, length, domain_key(i));
	request->asks_number |= part_is(part, length, "ask-number");
	request->address_entries |= part_is(part, length, "address-entries");
	if (part_is(part, length, "lock-all"))
		request->is_wanted[DOMAIN_LOCK] = request->all_locks = true;
	if (part_is(part, length, "alloc-stack"))
		request->is_wanted[DOMAIN_ALLOC] = request->alloc_stacks = true;
	if (part_is(part, length, "io-stack"))
		request->is_wanted[DOMAIN_IO] = request->io_stacks = true;
	if (part_is(part, length, "lock-stack"))
		request->is_wanted[DOMAIN_LOCK] = request->lock_stacks = true;
	if (part_begins(part, length, "alloc-sample=", &rest)) {
		request->is_wanted[DOMAIN_ALLOC] = true;
		request->alloc_sample = number_parse(rest, part + length);
	}
	if (part_begins(part, length, "function=", &rest))
		request->is_wanted[DOMAIN_FUNCTION] = true;
}

bool request_wants(const struct trace_request *request, uint32_t domains)
{
	bool wants = false;

	for (unsigned i = 0; i < DOMAINS; i++)
		wants |= request->is_wanted[i] && domain_is_in(domains, i);
	return wants;
}

const enum trace_domain device_work[DEVICE_WORK_DOMAINS] = { DOMAIN_KERNEL, DOMAIN_COPY,
							     DOMAIN_MEMORY };

uint32_t request_device_domains(const struct trace_request *request, enum trace_domain calls)
{
	uint32_t called = (uint32_t)request->is_wanted[calls] << calls, asked = 0, all = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(device_work); i++) {
		asked |= (uint32_t)request->is_wanted[device_work[i]] << device_work[i];
		all |= 1u << device_work[i];
	}
	return called | (called && !asked ? all : asked);
}

bool request_has(const struct trace_request *request, const char *word)
{
	const char *part = request->text;
	size_t length = 0;

	while (request_next(&part, &length))
		if (part_is(part, length, word))
			return true;
	return false;
}

void request_read(const char *text, symbol_finder *find_symbol, struct trace_request *ret)
{
	const char *part = text;
	size_t length = 0;

	*ret = (struct trace_request){ .text = text, .find_symbol = find_symbol };
	while (request_next(&part, &length))
		read_part(ret, part, length);
}
