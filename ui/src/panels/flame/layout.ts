// Where frames are: each begins at `left` (in weights) and is as wide as its weight. Drawing and finding walk the same rows
// from left to right, so they agree whatever the order of siblings is.

import { Children, childrenOf, Tree } from "../../core/tree";
import type { Side } from "../../core/difference";

/** Narrower frames may share a pixel with their neighbours. */
export const LEAST_PIXELS = 0.5;

export interface Layout {
	tree: Tree;
	children: Children;
	left: Float64Array;
	width: Float64Array;
	/** The frames of each depth, from left to right. */
	rows: number[][];
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
	const rows: number[][] = [];
	for (let row = [0]; row.length; ) {
		rows.push(row);
		const below: number[] = [];
		for (const node of row) {
			let at = left[node];
			for (let i = children.first[node]; i < children.first[node + 1]; i++) {
				const child = children.list[i];
				left[child] = at;
				at += width[child];
				below.push(child);
			}
		}
		row = below;
	}
	return { tree, children, left, width, rows, deepest: rows.length - 1 };
}

/** The first frame of a row that ends to the right of a weight; the row's length if there is none. */
function rowSearch(layout: Layout, row: readonly number[], at: number): number {
	let low = 0, high = row.length;
	while (low < high) {
		const middle = (low + high) >> 1, node = row[middle];
		if (layout.left[node] + layout.width[node] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * Visits the frames of a depth that are painted on `pixels` as wide as the frame `zoomed`, from left to right: all that are wider
 * than LEAST_PIXELS, and of narrower ones the first of each pixel.
 */
export function rowVisit(layout: Layout, depth: number, zoomed: number, pixels: number,
	visit: (node: number, left: number, right: number) => void): void {
	const row = layout.rows[depth] ?? [], begin = layout.left[zoomed], scale = pixels / layout.width[zoomed];
	let painted = -LEAST_PIXELS;
	for (let i = rowSearch(layout, row, begin); i < row.length; i++) {
		const node = row[i], left = (layout.left[node] - begin) * scale, right = left + layout.width[node] * scale;
		if (left >= pixels)
			break;
		if (right - left <= LEAST_PIXELS && right <= painted + LEAST_PIXELS)
			continue;
		painted = right;
		visit(node, Math.max(0, left), Math.min(pixels, right));
	}
}

/** The frame at a depth and a weight; -1 where nothing is. */
export function layoutFind(layout: Layout, depth: number, at: number): number {
	const row = layout.rows[depth] ?? [], node = row[rowSearch(layout, row, at)];
	return node !== undefined && at >= layout.left[node] ? node : -1;
}
