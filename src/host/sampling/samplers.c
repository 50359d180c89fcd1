/*
 * The samplers, and the fallback from one to the next: the best one that the rights here allow.
 */
#include "host/process/rights/rights.h"
#include "host/process/status.h"
#include "host/sampling/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct sampler_kind *const samplers[] = {
	&sampler_bpf, &sampler_copy, &sampler_read, &sampler_state, NULL,
};

/* With these codes another sampler may work; anything else is about the target, or an error. */
static bool is_refusal(int code)
{
	static const int codes[] = { -EPERM,  -EACCES, -ENOSYS, -EOPNOTSUPP,
				     -ENOENT, -EMFILE, -ENODEV, -EINVAL };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static int open_named(struct sampler **ret, const struct sampler_options *options, const char *name,
		      struct err *err)
{
	char names[128] = "";
	int r;

	for (size_t i = 0; samplers[i]; i++) {
		if (!strcmp(samplers[i]->name, name)) {
			r = samplers[i]->open(ret, options, err);
			return r < 0 ? err_while(err, "sampler '%s'", name) : 0;
		}
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", samplers[i]->name);
	}
	err_set(err, -ENOENT, "unknown sampler '%s'", name);
	err_exit(err, EXIT_USAGE);
	return err_fix(err, "one of %s", names);
}

/* All other samplers need one process. */
static int open_system_wide(struct sampler **ret, const struct sampler_options *options,
			    const char *name, struct err *err)
{
	int r;

	if (name && strcmp(name, sampler_bpf.name) != 0) {
		err_set(err, -EINVAL, "the sampler '%s' cannot sample every process", name);
		err_fix(err, "leave --sampler out: %s does", sampler_bpf.name);
		return err_exit(err, EXIT_USAGE);
	}
	r = sampler_bpf.open(ret, options, err);
	if (r == -EPERM || r == -EACCES)
		err_fix(err, "%s; without these rights: -p PID, of a process of your own",
			rights_fix());
	return r;
}

/* `err` holds the refusal of the last sampler with stacks. */
static int refuse_states(const struct sampler_options *options, struct err *err)
{
	const struct err last = *err;
	struct process_status status;
	struct err ignored = { 0 };
	struct rights rights;

	rights_read(&rights);
	err_set(err, last.code, "its stacks cannot be read: %s", strerror(-last.code));
	if (!status_read(options->pid, options->pid, &status, &ignored) &&
	    (status.uid != rights.uid || status.euid != rights.uid))
		err_why(err,
			"it belongs to uid %u; limpet runs as uid %u without CAP_BPF and "
			"CAP_PERFMON, or CAP_SYS_PTRACE",
			status.uid, rights.uid);
	else
		err_why(err, "%s", last.why);
	err_fix(err, "%s\n--sampler state records what its threads do, without stacks",
		rights_fix());
	return err_exit(err, last.exit);
}

int sampler_choose(struct sampler **ret, const struct sampler_options *options, const char *name,
		   struct sampler_refusals *ret_refusals, struct err *err)
{
	int r = -ENOSYS;

	*ret_refusals = (struct sampler_refusals){ 0 };
	if (event_probe(options->event, err))
		return err->code;
	if (options->is_system_wide)
		return open_system_wide(ret, options, name, err);
	if (name)
		return open_named(ret, options, name, err);
	for (size_t i = 0; samplers[i]; i++) {
		struct err why = { 0 };

		if (samplers[i] == &sampler_state && options->needs_stacks)
			return refuse_states(options, err);
		r = samplers[i]->open(ret, options, &why);
		if (!r)
			why = (struct err){ 0 };
		*err = why;
		if (!r)
			return 0;
		if (!is_refusal(r))
			break;
		if (ret_refusals->count < SAMPLER_KINDS_MAX) {
			ret_refusals->items[ret_refusals->count].kind = samplers[i];
			ret_refusals->items[ret_refusals->count++].err = why;
		}
	}
	return r;
}

void sampler_close(struct sampler *sampler)
{
	if (sampler)
		sampler->kind->close(sampler);
}

void sampler_explain(const struct sampler_refusals *refusals, const struct sampler *sampler,
		     char *ret, size_t room)
{
	size_t length = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < refusals->count; i++, length = strlen(ret)) {
		const struct err *err = &refusals->items[i].err;

		snprintf(ret + length, room - length, "%s: %s%s%s%s%s\n",
			 refusals->items[i].kind->name, err->what, err->why[0] ? ": " : "",
			 err->why, err->fix[0] ? "; " : "", err->fix);
	}
	if (sampler && sampler->limits[0])
		snprintf(ret + length, room - length, "%s: %s\n", sampler->kind->name,
			 sampler->limits);
}
