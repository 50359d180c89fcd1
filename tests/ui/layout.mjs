// Lays out random trees and visits what is painted: prints a line of JSON, {"trees", "frames", "wrong": [sentences]}.

import { layoutFind, layoutMake, LEAST_PIXELS, rowVisit } from "../../ui/src/panels/flame/layout.ts";
import { randomFrom, randomTree } from "../ui_page/random_tree.mjs";

const TREES = 300, PIXELS = 1000, EPSILON = 1e-6;
const random = randomFrom(4711);
const result = { trees: 0, frames: 0, wrong: [] };

function treeOf({ parent, self, names }) {
	const size = parent.length, total = Float64Array.from(self), depth = new Uint16Array(size), zeros = () => new Uint32Array(size);
	for (let i = size - 1; i > 0; i--)
		total[parent[i]] += total[i];
	for (let i = 1; i < size; i++)
		depth[i] = depth[parent[i]] + 1;
	return {
		size, parent: Int32Array.from(parent), name: Uint32Array.from(names, (_, i) => i), module: zeros(), line: zeros(), file: zeros(),
		type: new Uint8Array(size).fill(3, 1), depth, self: Float64Array.from(self), total, count: new Float64Array(size), selfB: null, totalB: null, names, unit: "ns",
	};
}

function isBelow(tree, node, above) {
	for (; node > above; node = tree.parent[node])
		;
	return node === above;
}

function painted(layout, zoomed) {
	const found = new Map();
	for (let depth = 0; depth <= layout.deepest; depth++) {
		let end = 0;
		rowVisit(layout, depth, zoomed, PIXELS, (node, left, right) => {
			if (left < end - EPSILON || right > PIXELS + EPSILON)
				result.wrong.push(`frame ${node} is painted over another one`);
			end = right;
			found.set(node, right - left);
		});
	}
	return found;
}

function check(tree, byName, zoomed) {
	const layout = layoutMake(tree, null, byName), found = painted(layout, zoomed), scale = PIXELS / tree.total[zoomed];
	for (let node = zoomed; node < tree.size; node++) {
		const width = tree.total[node] * scale;
		if (width <= LEAST_PIXELS || !isBelow(tree, node, zoomed))
			continue;
		result.frames++;
		const hit = layoutFind(layout, tree.depth[node], layout.left[node] + layout.width[node] / 2);
		if (Math.abs((found.get(node) ?? 0) - width) > EPSILON)
			result.wrong.push(`frame ${node} of ${width} pixels is painted with ${found.get(node)} (${byName ? "by name" : "by weight"}, zoomed to ${zoomed})`);
		else if (hit !== node)
			result.wrong.push(`frame ${node} is found as ${hit}`);
	}
}

for (; result.trees < TREES; result.trees++) {
	const tree = treeOf(randomTree(random, 400));
	for (const byName of [true, false]) {
		for (const zoomed of [0, 1 + Math.floor(random() * (tree.size - 1))])
			check(tree, byName, zoomed);
	}
}
result.wrong.length = Math.min(result.wrong.length, 5);
console.log(JSON.stringify(result));
