// A tree of calls in columns: parents before children, node 0 is the root. Trees are never changed, only made anew.

import type { Table } from "./columns";
import type { Language } from "./colour";
import { matcherOf } from "./search";
import { clean } from "./text";
import type { Transform } from "./view";

export const ROOT = 0, THREAD = 1, INCOMPLETE = 2, FUNCTION = 3, TRIMMED = 4, NAMELESS = 5, INLINED = 6;

export interface Tree {
	size: number;
	parent: Int32Array;
	name: Uint32Array;
	module: Uint32Array;
	type: Uint8Array;
	/** Of functions: a number of `languages`. */
	language: Uint8Array;
	line: Uint32Array;
	file: Uint32Array;
	depth: Uint16Array;
	/** Weight of the node alone, and with all that it called; of two ranges: of the first. */
	self: Float64Array;
	total: Float64Array;
	count: Float64Array;
	/** The same of the second range; null where there is one only. */
	selfB: Float64Array | null;
	totalB: Float64Array | null;
	names: string[];
	languages: Map<number, Language>;
	unit: string;
}

function columnOf(table: Table, name: string, size: number): Uint32Array {
	const column = table.numbers(name);
	return column.length === size ? column as Uint32Array : new Uint32Array(size);
}

function languagesOf(table: Table): Map<number, Language> {
	const list = (table.meta["languages"] ?? []) as Language[];
	return new Map(list.map(one => [one.number, one]));
}

function bytesOf(table: Table, name: string, size: number): Uint8Array {
	const column = table.numbers(name);
	return column.length === size ? column as Uint8Array : new Uint8Array(size);
}

function totalsOf(self: Float64Array, parent: Int32Array): Float64Array {
	const total = self.slice();
	for (let i = total.length - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return total;
}

function depthsOf(parent: Int32Array): Uint16Array {
	const depth = new Uint16Array(parent.length);
	for (let i = 1; i < parent.length; i++)
		depth[i] = depth[parent[i]] + 1;
	return depth;
}

/** The tree of an answer of /api/flame or /api/compare. */
export function treeRead(table: Table): Tree {
	const up = table.numbers("up"), size = Math.max(1, up.length);
	const parent = new Int32Array(size);
	for (let i = 1; i < size; i++)
		parent[i] = Math.max(0, i - up[i]);
	const self = up.length ? table.numbers("self") as Float64Array : new Float64Array(1);
	const selfB = table.numbers("self_b").length === size ? table.numbers("self_b") as Float64Array : null;
	const names = table.strings("names").map(clean);
	return {
		size, parent, type: bytesOf(table, "type", size), language: bytesOf(table, "language", size), self, selfB, names: names.length ? names : [""], languages: languagesOf(table),
		name: columnOf(table, "name", size), module: columnOf(table, "module", size),
		line: columnOf(table, "line", size), file: columnOf(table, "file", size),
		count: up.length ? table.numbers("count") as Float64Array : new Float64Array(1),
		depth: depthsOf(parent), total: totalsOf(self, parent), totalB: selfB && totalsOf(selfB, parent),
		unit: table.text("unit") || "ns",
	};
}

const SPECIAL: Record<number, string> = { [ROOT]: "all", [INCOMPLETE]: "[incomplete stack]", [TRIMMED]: "[too narrow to draw]" };

export function nodeName(tree: Tree, node: number): string {
	return SPECIAL[tree.type[node]] ?? tree.names[tree.name[node]] ?? "";
}

function isFunction(tree: Tree, node: number): boolean {
	return tree.type[node] >= FUNCTION && tree.type[node] !== TRIMMED;
}

export function nodeModule(tree: Tree, node: number): string {
	return isFunction(tree, node) ? tree.names[tree.module[node]] ?? "" : "";
}

/** Null if a node is no function, or its language is unknown (two ranges compared). */
export function nodeLanguage(tree: Tree, node: number): Language | null {
	return isFunction(tree, node) ? tree.languages.get(tree.language[node]) ?? null : null;
}

/** The languages of its functions, in the order of their table. */
export function treeLanguages(tree: Tree): Language[] {
	const numbers = new Set<number>();
	for (let i = 1; i < tree.size; i++) {
		if (isFunction(tree, i))
			numbers.add(tree.language[i]!);
	}
	return [...tree.languages.values()].filter(one => numbers.has(one.number));
}

export function nodeSource(tree: Tree, node: number): string {
	const file = tree.names[tree.file[node]] ?? "";
	return file && tree.line[node] ? `${file}:${tree.line[node]}` : "";
}

/** From the outermost function to the node. */
export function nodePath(tree: Tree, node: number): number[] {
	const path: number[] = [];
	for (let i = node; i > 0; i = tree.parent[i])
		path.push(i);
	return path.reverse();
}

/** Children of each node: of node i those from first[i] to first[i + 1] of `list`, heaviest or by name. */
export interface Children {
	first: Uint32Array;
	list: Uint32Array;
}

export function childrenOf(tree: Tree, byName: boolean): Children {
	const first = new Uint32Array(tree.size + 1);
	for (let i = 1; i < tree.size; i++)
		first[tree.parent[i] + 1]++;
	for (let i = 0; i < tree.size; i++)
		first[i + 1] += first[i];
	const next = first.slice(), list = new Uint32Array(Math.max(0, tree.size - 1));
	for (let i = 1; i < tree.size; i++)
		list[next[tree.parent[i]]++] = i;
	const weight = (i: number): number => tree.total[i] + (tree.totalB ? tree.totalB[i] : 0);
	const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;
	const order = byName
		? (a: number, b: number): number => compare(nodeName(tree, a), nodeName(tree, b)) || compare(nodeModule(tree, a), nodeModule(tree, b))
		: (a: number, b: number): number => weight(b) - weight(a);
	for (let i = 0; i < tree.size; i++) {
		if (first[i + 1] - first[i] > 1)
			list.subarray(first[i], first[i + 1]).sort(order);
	}
	return { first, list };
}

/** A tree that grows node by node; equal children of a node are one. */
class Maker {
	private readonly index = new Map<string, number>();
	readonly parent: number[] = [0];
	readonly origin: number[] = [0];
	readonly self: number[] = [0];
	readonly selfB: number[] = [0];
	readonly count: number[] = [0];

	constructor(private readonly tree: Tree) {}

	child(parent: number, origin: number): number {
		const { type, name, module } = this.tree;
		const key = `${parent} ${type[origin]} ${name[origin]} ${module[origin]}`;
		let node = this.index.get(key);
		if (node === undefined) {
			node = this.parent.push(parent) - 1;
			this.origin.push(origin);
			this.self.push(0);
			this.selfB.push(0);
			this.count.push(0);
			this.index.set(key, node);
		}
		return node;
	}

	add(node: number, self: number, selfB: number, count: number): void {
		this.self[node] += self;
		this.selfB[node] += selfB;
		this.count[node] += count;
	}

	done(): Tree {
		const { tree, origin } = this;
		const parent = Int32Array.from(this.parent), self = Float64Array.from(this.self);
		const selfB = tree.selfB && Float64Array.from(this.selfB);
		const pick = (from: Uint32Array): Uint32Array => Uint32Array.from(origin, i => from[i]);
		return {
			size: parent.length, parent, self, selfB, names: tree.names, languages: tree.languages, unit: tree.unit,
			type: Uint8Array.from(origin, i => tree.type[i]), language: Uint8Array.from(origin, i => tree.language[i]), name: pick(tree.name), module: pick(tree.module),
			line: pick(tree.line), file: pick(tree.file), count: Float64Array.from(this.count),
			depth: depthsOf(parent), total: totalsOf(self, parent), totalB: selfB && totalsOf(selfB, parent),
		};
	}
}

const DROPPED = -1;

/** A tree in which `place` moves each node: to a node of the new tree, or DROPPED with all below it. */
function treeMap(tree: Tree, place: (maker: Maker, node: number, parent: number) => number): Tree {
	const maker = new Maker(tree), target = new Int32Array(tree.size);
	maker.add(0, tree.self[0], tree.selfB ? tree.selfB[0] : 0, tree.count[0]);
	for (let i = 1; i < tree.size; i++) {
		const parent = target[tree.parent[i]];
		const node = parent === DROPPED ? DROPPED : place(maker, i, parent);
		target[i] = node;
		if (node !== DROPPED)
			maker.add(node, tree.self[i], tree.selfB ? tree.selfB[i] : 0, tree.count[i]);
	}
	return maker.done();
}

function isNode(tree: Tree, node: number, one: Transform): boolean {
	return tree.names[tree.name[node]] === one.name && (tree.names[tree.module[node]] ?? "") === one.module && tree.type[node] >= FUNCTION;
}

/** Only stacks that go through the function, from it on. */
function treeFocus(tree: Tree, one: Transform): Tree {
	const maker = new Maker(tree), target = new Int32Array(tree.size).fill(DROPPED);
	for (let i = 1; i < tree.size; i++) {
		const parent = target[tree.parent[i]];
		if (parent === DROPPED && !isNode(tree, i, one))
			continue;
		const node = target[i] = maker.child(parent === DROPPED ? 0 : parent, i);
		maker.add(node, tree.self[i], tree.selfB ? tree.selfB[i] : 0, tree.count[i]);
	}
	return maker.done();
}

type Making = (tree: Tree, one: Transform) => Tree;

const TRANSFORMS: Record<Transform["what"], Making> = {
	focus: treeFocus,
	merge: (tree, one) => treeMap(tree, (maker, node, parent) => isNode(tree, node, one) ? parent : maker.child(parent, node)),
	drop: (tree, one) => treeMap(tree, (maker, node, parent) => isNode(tree, node, one) ? DROPPED : maker.child(parent, node)),
	// Frames of a library become one, under the function of the library that was entered.
	library: (tree, one) => treeMap(tree, (maker, node, parent) =>
		nodeModule(tree, node) === one.module && nodeModule(tree, tree.parent[node]) === one.module ? parent : maker.child(parent, node)),
	// A function that called itself, at once or through others that did nothing else, is one frame.
	recursion: tree => treeMap(tree, (maker, node, parent) => {
		const above = tree.parent[node];
		const isSame = tree.name[node] === tree.name[above] && tree.module[node] === tree.module[above] && tree.type[node] === tree.type[above];
		return isSame && above > 0 ? parent : maker.child(parent, node);
	}),
};

export function treeTransform(tree: Tree, transforms: readonly Transform[]): Tree {
	return transforms.reduce((one, transform) => TRANSFORMS[transform.what](one, transform), tree);
}

/** Below a function its callers, outwards. */
export function treeCallers(tree: Tree, name: string, module: string): Tree {
	const maker = new Maker(tree), wanted: Transform = { what: "focus", name, module };
	for (let i = 1; i < tree.size; i++) {
		if (!isNode(tree, i, wanted) || hasAncestor(tree, i, wanted))
			continue;
		let node = maker.child(0, i);
		for (let above = tree.parent[i]; above > 0; above = tree.parent[above])
			node = maker.child(node, above);
		maker.add(node, tree.total[i], tree.totalB ? tree.totalB[i] : 0, tree.count[i]);
	}
	return maker.done();
}

function hasAncestor(tree: Tree, node: number, wanted: Transform): boolean {
	for (let above = tree.parent[node]; above > 0; above = tree.parent[above]) {
		if (isNode(tree, above, wanted))
			return true;
	}
	return false;
}

export interface Found {
	nodes: Uint8Array;
	/** The weight of all stacks with a match, each counted once. */
	total: number;
	matches: number;
}

export function treeSearch(tree: Tree, query: string): Found | null {
	const matcher = matcherOf(query);
	if (!matcher)
		return null;
	const known = new Int8Array(tree.names.length).fill(-1);
	const isMatch = (name: number): boolean => {
		if (known[name] === -1)
			known[name] = matcher(tree.names[name]) ? 1 : 0;
		return known[name] === 1;
	};
	const nodes = new Uint8Array(tree.size), isUnder = new Uint8Array(tree.size);
	let total = 0, matches = 0;
	for (let i = 1; i < tree.size; i++) {
		const above = isUnder[tree.parent[i]];
		if (tree.type[i] !== TRIMMED && (isMatch(tree.name[i]) || tree.type[i] >= FUNCTION && isMatch(tree.module[i]))) {
			nodes[i] = 1;
			matches++;
			total += above ? 0 : tree.total[i];
		}
		isUnder[i] = above | nodes[i];
	}
	return { nodes, total, matches };
}
