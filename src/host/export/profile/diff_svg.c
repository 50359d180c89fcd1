/*
 * A red and blue flame graph as a picture: red is more in B, blue is less, grey is no more than
 * chance.  Boxes are as wide as the mean of both shares.
 */
#include <math.h>

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/export/profile/diff.h"
#include "host/export/profile/svg_boxes.h"
#include "host/model/statistics.h"

#define HUE_MORE 5u
#define HUE_LESS 215u

struct diff_svg {
	const struct comparison *comparison;
	struct call_tree tree;
};

static struct share_change change_of(const struct svg_picture *self, const struct tree_node *node)
{
	const struct diff_svg *svg = self->context;
	uint32_t number = call_tree_number(&svg->tree, node);

	return comparison_change(svg->comparison,
				 call_tree_metrics(&svg->tree, number, SIDE_A)->total_ns,
				 call_tree_metrics(&svg->tree, number, SIDE_B)->total_ns);
}

static void diff_svg_name(const struct svg_picture *self, const struct tree_node *node, char *ret,
			  size_t room)
{
	const struct diff_svg *svg = self->context;

	snprintf(ret, room, "%s", diff_tree_name(svg->comparison, node));
}

/* As in the page: the stronger, the larger the factor. */
static struct svg_colour diff_svg_colour(const struct svg_picture *self,
					 const struct tree_node *node)
{
	struct share_change change = change_of(self, node);
	double sum = change.shares[SIDE_A] + change.shares[SIDE_B];
	double strength = sum > 0 ? sqrt(fabs(change.points) / sum) : 0;

	if (change.is_noise)
		return (struct svg_colour){ .light = 86 };
	return (struct svg_colour){ .hue = change.points > 0 ? HUE_MORE : HUE_LESS,
				    .saturation = 85,
				    .light = (unsigned)(90 - 32 * strength) };
}

static void diff_svg_tell(const struct svg_picture *self, const struct tree_node *node)
{
	struct share_change change = change_of(self, node);

	print(self->out, ": A %.2f %%, B %.2f %%, %+.2f points, +- %.2f%s",
	      share_shown(change.shares[SIDE_A]), share_shown(change.shares[SIDE_B]),
	      share_shown(change.points), change.error,
	      change.is_noise ? " (no more than chance)" : "");
}

static void svg_head(const struct svg_picture *self)
{
	const struct diff_svg *svg = self->context;
	char words[512];

	svg_line_begin(self, 0);
	print(self->out,
	      "what changed from A to B: %s (red: more in B, blue: less, grey: no "
	      "more than chance)",
	      profile_kinds_name(svg->comparison->kinds));
	svg_line_end(self);
	for (unsigned side = 0; side < SIDES; side++) {
		svg_line_begin(self, side + 1);
		comparison_title(svg->comparison, side, words, sizeof(words));
		svg_text(self->out, words);
		comparison_describe(svg->comparison, side, words, sizeof(words));
		fputs(": ", self->out);
		svg_text(self->out, words);
		svg_line_end(self);
	}
}

int diff_svg_write(const struct comparison *comparison, FILE *out)
{
	struct diff_svg self = { .comparison = comparison };
	const struct profile *const profiles[SIDES] = { &comparison->sides[SIDE_A].profile,
							&comparison->sides[SIDE_B].profile };
	const struct svg_picture picture = { .out = out,
					     .tree = &self.tree,
					     .context = &self,
					     .name = diff_svg_name,
					     .colour = diff_svg_colour,
					     .tell = diff_svg_tell,
					     .head = svg_head,
					     .head_lines = 3 };
	int r = diff_tree_build(&self.tree, comparison, profiles, /* of_entry */ NULL);

	if (!r)
		r = svg_picture_write(&picture);
	call_tree_done(&self.tree);
	return r ? r : export_state(out);
}
