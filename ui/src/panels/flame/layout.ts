// Where frames are: each node begins at `left` (in weights) and is as wide as its weight.

import { Children, childrenOf, Tree } from "../../core/tree";
import type { Side } from "../../core/difference";

export interface Layout {
	tree: Tree;
	children: Children;
	left: Float64Array;
	width: Float64Array;
	deepest: number;
}

/** Of two ranges, a frame is as wide as the mean of its shares in both. */
function widthsOf(tree: Tree, sides: readonly [Side, Side] | null): Float64Array {
	const totalB = tree.totalB;
	if (!totalB || !sides)
		return tree.total;
	const scale = sides.map(side => side.total ? 0.5 / side.total : 0);
	return tree.total.map((total, i) => total * scale[0] + totalB[i] * scale[1]);
}

export function layoutMake(tree: Tree, sides: readonly [Side, Side] | null, byName: boolean): Layout {
	const children = childrenOf(tree, byName), width = widthsOf(tree, sides), left = new Float64Array(tree.size);
	let deepest = 0;
	// Parents come before children, so their left edge is known.
	for (let node = 0; node < tree.size; node++) {
		let at = left[node];
		for (let i = children.first[node]; i < children.first[node + 1]; i++) {
			left[children.list[i]] = at;
			at += width[children.list[i]];
		}
		deepest = Math.max(deepest, tree.depth[node]);
	}
	return { tree, children, left, width, deepest };
}

/** The frame at a depth and a weight; -1 where nothing is. */
export function layoutFind(layout: Layout, depth: number, at: number): number {
	let node = 0;
	while (layout.tree.depth[node] < depth) {
		const { first, list } = layout.children;
		let next = -1;
		for (let i = first[node]; i < first[node + 1]; i++) {
			const child = list[i];
			if (at >= layout.left[child] && at < layout.left[child] + layout.width[child])
				next = child;
		}
		if (next < 0)
			return -1;
		node = next;
	}
	return node;
}
