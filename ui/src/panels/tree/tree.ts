// The stacks as a tree of rows: the flame graph's content as text. Only rows in sight exist.

import type { App } from "../../core/app";
import { attributeSet, h, textSet } from "../../core/dom";
import { differenceOf, differenceText, pointsText } from "../../core/difference";
import type { FlameSource, Shown } from "../../core/flame_source";
import { VirtualList } from "../../core/list";
import { percent, weight } from "../../core/text";
import { Children, childrenOf, FUNCTION, nodeModule, nodeName, nodePath, nodeSource, Tree, TRIMMED } from "../../core/tree";
import type { Details } from "../details/details";

const ROW = 24;

function nodeKey(tree: Tree, node: number): string {
	return nodePath(tree, node).map(one => nodeName(tree, one)).join("\0");
}

export class CallTree {
	readonly element: HTMLElement;
	private readonly list: VirtualList;
	private readonly message = h("p", { class: "message" });
	private shown: Shown | null = null;
	private children: Children = { first: new Uint32Array(2), list: new Uint32Array(0) };
	private nodes: number[] = [];
	private open = new Set<string>();
	private active = 0;

	constructor(private readonly app: App, private readonly source: FlameSource, private readonly details: Details) {
		this.list = new VirtualList(ROW, i => this.row(i));
		const list = this.list.element;
		list.setAttribute("role", "tree");
		list.setAttribute("aria-label", "call tree: arrow keys move, right opens, left closes, Enter shows details");
		list.tabIndex = 0;
		list.addEventListener("keydown", event => this.key(event));
		list.addEventListener("pointerenter", () => source.hold(true));
		list.addEventListener("pointerleave", () => source.hold(false));
		list.addEventListener("focus", () => source.hold(true));
		list.addEventListener("blur", () => source.hold(false));
		this.element = h("section", { class: "picture call-tree", "aria-label": "call tree" }, list, this.message);
		source.on(() => this.update());
		app.on("view", changed => changed.has("tab") && this.update());
	}

	private update(): void {
		const shown = this.source.shown;
		textSet(this.message, this.source.error || (shown && shown.tree.size > 1 ? "" : shown?.empty || "There are no samples in this selection."));
		if (!shown || shown === this.shown || this.app.view.tab !== "tree")
			return;
		const isFirst = !this.shown;
		this.shown = shown;
		this.element.classList.toggle("compared", shown.sides !== null);
		this.children = childrenOf(shown.tree, false);
		if (isFirst)
			this.heaviestOpen();
		this.rowsMake();
	}

	// Opens the heaviest path, usually the most interesting one.
	private heaviestOpen(): void {
		const { tree } = this.shown!, { first, list } = this.children;
		for (let node = 0, depth = 0; depth < 12 && first[node] < first[node + 1]; depth++) {
			node = list[first[node]];
			this.open.add(nodeKey(tree, node));
		}
	}

	private rowsMake(): void {
		const { tree } = this.shown!, { first, list } = this.children;
		this.nodes = [];
		const add = (node: number): void => {
			for (let i = first[node]; i < first[node + 1]; i++) {
				this.nodes.push(list[i]);
				if (this.open.has(nodeKey(tree, list[i])))
					add(list[i]);
			}
		};
		add(0);
		this.active = Math.min(this.active, Math.max(0, this.nodes.length - 1));
		this.show();
	}

	private show(): void {
		this.list.show(this.nodes.length);
		attributeSet(this.list.element, "aria-activedescendant", this.nodes.length ? `node-${this.nodes[this.active]}` : null);
	}

	private row(index: number): HTMLElement {
		const { tree, total } = this.shown!, node = this.nodes[index], { first, list } = this.children;
		const siblings = list.subarray(first[tree.parent[node]], first[tree.parent[node] + 1]);
		const isParent = first[node] < first[node + 1], isOpen = this.open.has(nodeKey(tree, node));
		const row = h("div", { role: "treeitem", class: `tree-row${index === this.active ? " active" : ""}`, id: `node-${node}`,
			"aria-level": tree.depth[node], "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(node) + 1,
			"aria-expanded": isParent ? String(isOpen) : undefined, "aria-selected": String(index === this.active) },
			h("span", { class: "share figure" }, percent(tree.total[node], total)), h("span", { class: "figure dim" }, weight(tree.self[node], tree.unit)),
			this.changeCell(node),
			h("span", { class: "twist", "aria-hidden": "true" }, isParent ? isOpen ? "▾" : "▸" : ""),
			h("span", { class: "mono name" }, nodeName(tree, node)), h("span", { class: "dim" }, nodeModule(tree, node)));
		(row.firstElementChild as HTMLElement).style.setProperty("--share", String(tree.total[node] / total));
		row.style.setProperty("--level", String(Math.min(40, tree.depth[node] - 1)));
		row.addEventListener("click", () => {
			this.active = index;
			this.toggle(!isOpen);
			this.detail();
		});
		return row;
	}

	/** Of two ranges: how the share of the node has changed. */
	private changeCell(node: number): HTMLElement | null {
		const { tree, sides } = this.shown!;
		if (!sides || !tree.totalB)
			return null;
		const change = differenceOf(tree.total[node], tree.totalB[node], sides);
		return h("span", { class: `figure change ${change.isNoise ? "" : change.points > 0 ? "more" : "less"}`, title: differenceText(change) }, pointsText(change));
	}

	private toggle(isOpen: boolean): void {
		const key = nodeKey(this.shown!.tree, this.nodes[this.active]);
		this.open[isOpen ? "add" : "delete"](key);
		this.rowsMake();
	}

	private detail(): void {
		const { tree, total } = this.shown!, node = this.nodes[this.active];
		this.details.show({
			name: nodeName(tree, node), module: nodeModule(tree, node), source: nodeSource(tree, node),
			isFunction: tree.type[node] >= FUNCTION && tree.type[node] !== TRIMMED,
			figures: [`total ${weight(tree.total[node], tree.unit)} (${percent(tree.total[node], total)})`, `self ${weight(tree.self[node], tree.unit)}`],
			stack: nodePath(tree, node).map(one => ({ name: nodeName(tree, one), module: nodeModule(tree, one), file: nodeSource(tree, one) })),
		});
	}

	private move(to: number): void {
		this.active = Math.max(0, Math.min(this.nodes.length - 1, to));
		this.list.reveal(this.active);
		this.show();
	}

	private key(event: KeyboardEvent): void {
		if (!this.nodes.length)
			return;
		const tree = this.shown!.tree, node = this.nodes[this.active], isOpen = this.open.has(nodeKey(tree, node));
		const actions: Record<string, () => void> = {
			ArrowDown: () => this.move(this.active + 1),
			ArrowUp: () => this.move(this.active - 1),
			Home: () => this.move(0),
			End: () => this.move(this.nodes.length - 1),
			ArrowRight: () => isOpen ? this.move(this.active + 1) : this.toggle(true),
			ArrowLeft: () => isOpen ? this.toggle(false) : this.move(Math.max(0, this.nodes.indexOf(tree.parent[node]))),
			Enter: () => this.detail(),
		};
		const action = actions[event.key];
		if (action && !event.ctrlKey && !event.metaKey) {
			event.preventDefault();
			action();
		}
	}
}
