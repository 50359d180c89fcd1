/*
 * --k8s SELECTOR: each pod with these labels is a node, reached by `kubectl exec`.  Rights, the
 * cluster and its certificates are left to kubectl.
 */
#include "host/fleet/engine/engine.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/fleet/child.h"
#include "host/fleet/hosts.h"

#include <errno.h>
#include <stdio.h>

#define ANSWER_MAX (4u << 20)
#define LIMIT_NS   20000000000ull
#define PODS_FORM \
	"--output=jsonpath={range .items[*]}{.metadata.name}{\" \"}{.status.phase}{\"\\n\"}{end}"

static int pod_add(struct fleet_plan *plan, struct text name, struct text phase)
{
	char word[HOST_NAME_MAX_BYTES], phase_text[32];
	struct planned_node *node;

	text_copy(name, word, sizeof(word));
	if (!host_name_is_sound(word))
		return 0;
	node = plan_add_node(plan, word);
	if (!node)
		return -ENOMEM;
	if (text_equals(phase, "Running"))
		return 0;
	text_copy_printable(phase, phase_text, sizeof(phase_text));
	if (asprintf(&node->trouble, "the pod is not running: %s", phase_text) < 0) {
		node->trouble = NULL;
		return -ENOMEM;
	}
	return 0;
}

int kubernetes_pods_apply(struct fleet_plan *plan, const char *pods)
{
	struct text rest = text_of(pods), line, name, phase;
	int r = 0;

	while (!r && text_take_line(&rest, &line))
		if (text_take_word(&line, &name) && text_take_word(&line, &phase))
			r = pod_add(plan, name, phase);
	return r;
}

static int pods_query(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	CLEANUP(words_done) struct words words = { 0 };
	CLEANUP(free) char *text = NULL;
	int r;

	words_add_line(&words, "kubectl get pods");
	words_add(&words, "--selector=%s", who->k8s);
	if (who->namespace)
		words_add(&words, "--namespace=%s", who->namespace);
	words_add_text(&words, PODS_FORM);
	if (words.has_failed)
		return err_set(err, -ENOMEM, "pods: no memory");
	r = child_capture((const char *const *)words.items, ANSWER_MAX, LIMIT_NS, &text, err);
	if (!r && kubernetes_pods_apply(ret, text))
		r = err_set(err, -ENOMEM, "pods: no memory");
	return r;
}

static int kubernetes_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	int r = pods_query(ret, who, err);

	if (r)
		return r;
	if (!ret->node_count) {
		err_set(err, -ESRCH, "no pod has the labels '%s'", who->k8s);
		err_fix(err, "kubectl get pods --show-labels, or another --namespace");
		return err_exit(err, EXIT_NO_PROCESS);
	}
	if (asprintf(&ret->title, "pods %s", who->k8s) < 0) {
		ret->title = NULL;
		return err_set(err, -ENOMEM, "pods: no memory");
	}
	ret->namespace = who->namespace;
	return 0;
}

static void kubernetes_command(struct words *ret, const struct fleet_plan *plan,
			       const struct node_command *command)
{
	CLEANUP(free) char *script = node_script(command);

	words_add_line(ret, "kubectl exec --stdin");
	if (plan->namespace)
		words_add(ret, "--namespace=%s", plan->namespace);
	words_add_text(ret, plan->nodes[command->node].name);
	words_add_line(ret, "-- /bin/sh -c");
	words_add_text(ret, script);
}

const struct engine engine_kubernetes = {
	.name = "--k8s",
	.copy = COPY_INPUT,
	.plan = kubernetes_plan,
	.command = kubernetes_command,
};
