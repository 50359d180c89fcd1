// One function: its callers above, its callees below, its source lines beside it.

import { tableGet } from "../../core/api";
import type { App } from "../../core/app";
import { h, textSet } from "../../core/dom";
import type { FlameSource } from "../../core/flame_source";
import { Loader } from "../../core/loader";
import { clean, percent, weight } from "../../core/text";
import { tipHide, tipShow } from "../../core/tip";
import { nodeModule, nodeName, nodeSource, Tree, treeCallers, treeTransform } from "../../core/tree";
import { Graph } from "../flame/graph";
import { layoutMake } from "../flame/layout";

export class Sandwich {
	readonly element: HTMLElement;
	private readonly callers: Graph;
	private readonly callees: Graph;
	private readonly title = h("h2", { class: "mono" });
	private readonly figures = h("p", { class: "dim" });
	private readonly message = h("p", { class: "message" });
	private readonly lines = h("ol", { class: "lines mono" });
	private readonly parts: HTMLElement;
	private readonly loader: Loader;
	private trees: { callers: Tree; callees: Tree } | null = null;

	constructor(private readonly app: App, private readonly source: FlameSource) {
		this.loader = new Loader(app);
		this.callers = this.graph("callers", () => this.trees!.callers);
		this.callees = this.graph("callees", () => this.trees!.callees);
		this.parts = h("div", { class: "sandwich-parts" },
			h("div", { class: "sandwich-graphs" }, h("h3", {}, "Called by"), this.callers.element, h("h3", {}, "Calls"), this.callees.element),
			h("div", { class: "sandwich-lines" }, h("h3", {}, "Source lines"), this.lines));
		this.element = h("section", { class: "picture sandwich", "aria-label": "one function" }, this.title, this.figures, this.parts, this.message);
		source.on(() => this.update());
		app.on("theme", () => {
			this.callers.redraw();
			this.callees.redraw();
		});
		app.on("view", changed => {
			if (changed.has("chosen") || changed.has("tab"))
				this.update();
		});
	}

	private graph(name: string, tree: () => Tree): Graph {
		const graph = new Graph(`${name}: arrow keys move, Enter looks at that function`, {
			point: (node, event) => {
				this.source.hold(true);
				tipShow([nodeName(tree(), node), nodeModule(tree(), node), nodeSource(tree(), node),
					`${weight(tree().total[node], tree().unit)}, ${percent(tree().total[node], this.source.shown!.total)}`], event);
			},
			leave: () => {
				tipHide();
				this.source.hold(false);
			},
			choose: node => this.app.announce(`${nodeName(tree(), node)}, ${percent(tree().total[node], this.source.shown!.total)}`),
			zoom: node => {
				if (node > 0)
					this.app.show({ chosen: { name: nodeName(tree(), node), module: nodeModule(tree(), node) } });
			},
		});
		graph.firstLevel = 1;
		return graph;
	}

	private update(): void {
		const { chosen, tab } = this.app.view, shown = this.source.shown;
		if (tab !== "sandwich")
			return;
		textSet(this.message, this.source.error || (chosen ? "" : "Choose a function: in the table of functions, or a frame of the flame graph and its button “Sandwich”."));
		this.parts.hidden = !chosen || !shown;
		textSet(this.title, chosen ? clean(chosen.name) : "");
		if (!chosen || !shown)
			return;
		const callers = treeCallers(shown.whole, chosen.name, chosen.module);
		const callees = treeTransform(shown.whole, [{ what: "focus", ...chosen }]);
		this.trees = { callers, callees };
		const total = callees.total[0];
		if (!total)
			textSet(this.message, "This function has no time in this selection.");
		textSet(this.figures, `${clean(chosen.module)}   total ${weight(total, callees.unit)} (${percent(total, shown.total)})`);
		this.callers.zoomed = this.callees.zoomed = 0;
		this.callers.show(layoutMake(callers, null, false), null, true);
		this.callees.show(layoutMake(callees, null, false), null, false);
		this.linesLoad();
	}

	private linesLoad(): void {
		const { chosen } = this.app.view;
		const parameters = { ...this.app.selection, name: chosen!.name, module: chosen!.module };
		const key = `${chosen!.name}\n${chosen!.module}\n${JSON.stringify(this.app.view.range)}${this.app.view.kind}`;
		void this.loader.load(key, signal => tableGet("/api/sandwich", parameters, signal), table => {
			const [roles, names, lines, totals] = [table.numbers("role"), table.strings("name"), table.numbers("line"), table.numbers("total")];
			const whole = table.number("total") || 1;
			const rows = names.map((name, i) => ({ name, line: lines[i], total: totals[i], role: roles[i] })).filter(one => one.role === 2);
			this.lines.replaceChildren(...rows.map(one => {
				const row = h("li", { class: "share" }, h("span", {}, percent(one.total, whole)), ` ${clean(one.name)}:${one.line}`);
				row.style.setProperty("--share", String(one.total / whole));
				return row;
			}));
			if (!rows.length)
				this.lines.replaceChildren(h("li", { class: "dim" }, "unknown: no line table was found for its file"));
		}, why => this.lines.replaceChildren(h("li", { class: "dim" }, clean(why))));
	}
}
