// The flame graph of the selection.

import type { App } from "../../core/app";
import { languageFill, palette } from "../../core/colour";
import { differenceOf, differenceText } from "../../core/difference";
import { h, textSet } from "../../core/dom";
import type { FlameSource } from "../../core/flame_source";
import { count, percent, weight } from "../../core/text";
import { tipHide, tipShow } from "../../core/tip";
import { FUNCTION, nodeModule, nodeName, nodePath, nodeSource, Tree, treeLanguages, TRIMMED, treeSearch } from "../../core/tree";
import type { Details } from "../details/details";
import type { Toolbar } from "../toolbar/toolbar";
import { Graph } from "./graph";
import { layoutMake } from "./layout";

/** Frames of one picture keep their identity in the next: by their path of names. */
function pathKey(tree: Tree, node: number): string {
	return nodePath(tree, node).map(one => `${nodeName(tree, one)}\n${nodeModule(tree, one)}`).join("\0");
}

function nodeByKey(tree: Tree, key: string): number {
	if (!key)
		return -1;
	const depth = key.split("\0").length;
	for (let i = 1; i < tree.size; i++) {
		if (tree.depth[i] === depth && pathKey(tree, i) === key)
			return i;
	}
	return -1;
}

export class Flame {
	readonly element: HTMLElement;
	private readonly graph: Graph;
	private readonly message = h("p", { class: "message", role: "status" });
	private readonly frozen = h("p", { class: "frozen", hidden: true }, "held still while you point; new data waits");
	private readonly legend = h("p", { class: "legend languages", "aria-label": "colours of languages", hidden: true });
	private zoomedKey = "";
	private chosenKey = "";

	constructor(private readonly app: App, private readonly source: FlameSource, private readonly details: Details,
		private readonly toolbar: Toolbar) {
		this.graph = new Graph("flame graph: arrow keys move between frames, Enter zooms, Escape zooms out", {
			point: (node, event) => this.pointed(node, event),
			leave: () => {
				tipHide();
				this.source.hold(false);
				this.frozen.hidden = true;
			},
			mark: node => { this.chosenKey = pathKey(this.tree, node); },
			choose: node => this.chosen(node),
			zoom: node => this.zoomed(node),
		});
		this.element = h("section", { class: "picture flame", "aria-label": "flame graph" }, this.legend, this.graph.element, this.message, this.frozen);
		// A hidden panel has no width: the next request is for the width that it will have again.
		new ResizeObserver(() => { this.source.width = this.element.clientWidth || this.source.width; }).observe(this.element);
		source.on(() => this.update());
		app.on("theme", () => {
			this.graph.redraw();
			this.legendShow();
		});
		app.on("view", changed => {
			if (changed.has("query"))
				this.mark();
			if (changed.has("form"))
				this.update();
		});
	}

	private get tree(): Tree {
		return this.source.shown!.tree;
	}

	private update(): void {
		const { shown, error, isLoading } = this.source;
		this.frozen.hidden = !(this.source.isHeld && this.source.isBehind);
		const isEmpty = !shown || shown.tree.total[0] + (shown.tree.totalB?.[0] ?? 0) <= 0;
		textSet(this.message, error || (isLoading ? "adding up…" : isEmpty ? this.emptyText() : ""));
		this.message.hidden = !this.message.textContent;
		this.graph.element.hidden = isEmpty;
		this.legendShow();
		if (!shown || isEmpty || this.source.isHeld && this.source.isBehind)
			return;
		const layout = layoutMake(shown.tree, shown.sides, this.app.isRecording);
		this.graph.zoomed = Math.max(0, nodeByKey(shown.tree, this.zoomedKey));
		this.graph.chosen = nodeByKey(shown.tree, this.chosenKey);
		this.graph.show(layout, shown.sides, this.app.view.form === "flame");
		this.mark();
	}

	/** The languages of the tree, by the colours of its frames; the toolbar explains colours of changes. */
	private legendShow(): void {
		const shown = this.source.shown, colours = palette();
		const languages = shown && !shown.sides && !colours.isForced ? treeLanguages(shown.tree) : [];
		this.legend.hidden = !languages.length;
		this.legend.replaceChildren(...languages.flatMap(one => {
			const swatch = h("span", { class: "swatch", "data-language": one.name });
			swatch.style.background = languageFill(one, 0, colours.isDark);
			return [swatch, one.title];
		}));
	}

	private emptyText(): string {
		const shown = this.source.shown, session = this.app.session;
		if (shown?.empty)
			return shown.empty;
		if (this.app.view.transforms.length)
			return "Nothing is left after focus and hide: remove one of the chips above.";
		if (session?.state === "stopped" && !session.samples)
			return "Attached; nothing is sampled yet. Press “Start sampling”.";
		return session?.state === "recording" ? "No samples yet." : "There are no samples in this selection.";
	}

	private mark(): void {
		const shown = this.source.shown;
		if (!shown)
			return;
		const found = treeSearch(shown.tree, this.app.view.query);
		this.graph.mark(found);
		this.toolbar.foundTell(found ? `${count(found.matches)} frames, ${percent(found.total, shown.tree.total[0])}` : "");
	}

	private figures(node: number): string[] {
		const { tree } = this, shown = this.source.shown!, unit = tree.unit;
		if (shown.sides && tree.totalB) {
			const text = differenceText(differenceOf(tree.total[node], tree.totalB[node], shown.sides));
			return [text, `pinned ${weight(tree.total[node], unit)}, now ${weight(tree.totalB[node], unit)}`];
		}
		return [
			`total ${weight(tree.total[node], unit)} (${percent(tree.total[node], shown.total)})`,
			`self ${weight(tree.self[node], unit)} (${percent(tree.self[node], shown.total)})`,
			`${count(tree.count[node])} samples`,
		];
	}

	private pointed(node: number, event: PointerEvent): void {
		this.source.hold(true);
		const lines = [nodeName(this.tree, node), nodeModule(this.tree, node), nodeSource(this.tree, node), ...this.figures(node)];
		if (this.tree.type[node] === TRIMMED)
			lines.push("zoom into its caller to see them");
		tipShow(lines, event);
	}

	private zoomed(node: number): void {
		this.zoomedKey = node > 0 ? pathKey(this.tree, node) : "";
		this.source.magnify(this.graph.share > 0 ? 1 / this.graph.share : 1);
	}

	private chosen(node: number): void {
		const { tree } = this;
		const name = nodeName(tree, node), module = nodeModule(tree, node);
		this.details.show({
			name, module, source: nodeSource(tree, node), figures: this.figures(node),
			isFunction: tree.type[node] >= FUNCTION && tree.type[node] !== TRIMMED,
			stack: nodePath(tree, node).map(one => ({
				name: nodeName(tree, one), module: nodeModule(tree, one), file: nodeSource(tree, one),
			})),
			zoom: () => this.graph.zoom(node),
		});
	}
}
