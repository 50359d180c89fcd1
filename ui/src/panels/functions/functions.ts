// The functions of the selection as a table: by own time, time with callees, or name.

import { tableGet } from "../../core/api";
import type { App } from "../../core/app";
import { attributeSet, h, textSet } from "../../core/dom";
import { VirtualList } from "../../core/list";
import { Loader } from "../../core/loader";
import { matcherOf } from "../../core/search";
import { clean, count, percent, weight } from "../../core/text";

interface FunctionRow {
	name: string;
	module: string;
	self: number;
	total: number;
	samples: number;
	error: number;
}

type Order = "self" | "total" | "name";
const ROW = 24;

export class Functions {
	readonly element: HTMLElement;
	private readonly list: VirtualList;
	private readonly message = h("p", { class: "message" });
	private readonly note = h("p", { class: "message small" });
	private readonly heads = new Map<Order, HTMLElement>();
	private readonly loader: Loader;
	private all: FunctionRow[] = [];
	private rows: FunctionRow[] = [];
	private total = 1;
	private unit = "ns";
	private order: Order = "self";
	private active = 0;
	private isHeld = false;

	constructor(private readonly app: App) {
		this.loader = new Loader(app);
		this.list = new VirtualList(ROW, i => this.row(i));
		const list = this.list.element;
		list.setAttribute("role", "rowgroup");
		list.tabIndex = 0;
		list.setAttribute("aria-label", "functions: arrow keys move, Enter shows callers and callees");
		list.addEventListener("keydown", event => this.key(event));
		list.addEventListener("pointerenter", () => { this.isHeld = true; });
		list.addEventListener("pointerleave", () => { this.isHeld = false; });
		const head = h("div", { role: "row", class: "function-row head" }, this.head("self", "Self"), this.head("total", "Total"),
			this.head("name", "Function"), h("div", { role: "columnheader" }, "Module"));
		this.element = h("section", { class: "picture functions", role: "table", "aria-label": "functions" },
			h("div", { role: "rowgroup" }, head), list, this.note, this.message);
		app.on("view", changed => {
			this.refresh();
			if (changed.has("query"))
				this.show();
		});
		app.on("session", () => this.refresh());
		app.on("live", () => this.follow());
	}

	private head(order: Order, text: string): HTMLElement {
		const button = h("button", { type: "button" }, text);
		button.addEventListener("click", () => {
			this.order = order;
			this.show();
		});
		const cell = h("div", { role: "columnheader" }, button);
		this.heads.set(order, cell);
		return cell;
	}

	private get isWanted(): boolean {
		return this.app.view.tab === "functions" && this.app.session !== null;
	}

	private follow(): void {
		if (!this.isWanted || this.isHeld || this.app.view.range || !this.loader.isDue() || !this.app.live?.changed)
			return;
		this.loader.forget();
		this.refresh();
	}

	private refresh(): void {
		if (!this.isWanted)
			return;
		const parameters = { ...this.app.selection, limit: 5000 };
		const key = JSON.stringify(this.app.isRecording && !this.app.view.range ? { ...parameters, from: 0, to: 0 } : parameters);
		void this.loader.load(key, signal => tableGet("/api/functions", parameters, signal), table => {
			const [names, modules] = [table.strings("name"), table.strings("module")];
			const [self, total] = [table.numbers("self"), table.numbers("total")];
			const [samples, error] = [table.numbers("self_count"), table.numbers("self_error")];
			this.all = names.map((name, i) => ({ name: clean(name), module: clean(modules[i]), self: self[i], total: total[i],
				samples: samples[i] ?? 0, error: error[i] ?? 0 }));
			this.total = table.number("total") || 1;
			this.unit = table.text("unit") || "ns";
			textSet(this.message, names.length ? "" : table.text("empty") || "There are no samples in this selection.");
			textSet(this.note, table.number("more") ? `${count(table.number("more"))} more with less time are not listed` : "");
			this.show();
		}, why => textSet(this.message, why));
	}

	private show(): void {
		const matcher = matcherOf(this.app.view.query), { order } = this;
		this.rows = matcher ? this.all.filter(one => matcher(one.name) || matcher(one.module)) : [...this.all];
		this.rows.sort(order === "name" ? (a, b) => a.name < b.name ? -1 : 1 : (a, b) => b[order] - a[order]);
		for (const [name, cell] of this.heads)
			attributeSet(cell, "aria-sort", name === order ? order === "name" ? "ascending" : "descending" : "none");
		attributeSet(this.element, "aria-rowcount", String(this.rows.length + 1));
		this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
		this.list.show(this.rows.length);
	}

	private row(index: number): HTMLElement {
		const one = this.rows[index];
		const cell = (value: number, title: string): HTMLElement => {
			const made = h("div", { role: "cell", class: "share", title }, percent(value, this.total), h("span", { class: "dim" }, ` ${weight(value, this.unit)}`));
			made.style.setProperty("--share", String(value / this.total));
			return made;
		};
		const row = h("div", { role: "row", class: `function-row${index === this.active ? " active" : ""}`, "aria-rowindex": index + 2 },
			cell(one.self, `± ${one.error.toFixed(1)} points (95 %), ${count(one.samples)} samples`), cell(one.total, "with what it called"),
			h("div", { role: "cell", class: "mono name", title: one.name }, one.name), h("div", { role: "cell", class: "dim name", title: one.module }, one.module));
		row.addEventListener("click", () => this.open(index));
		return row;
	}

	private open(index: number): void {
		const one = this.rows[index];
		if (one)
			this.app.show({ tab: "sandwich", chosen: { name: one.name, module: one.module } });
	}

	private key(event: KeyboardEvent): void {
		const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 };
		if (steps[event.key]) {
			event.preventDefault();
			this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + steps[event.key]));
			this.list.reveal(this.active);
			this.list.show(this.rows.length);
			const one = this.rows[this.active];
			if (one)
				this.app.announce(`${one.name}, self ${percent(one.self, this.total)}, total ${percent(one.total, this.total)}`);
		} else if (event.key === "Enter") {
			event.preventDefault();
			this.open(this.active);
		}
	}
}
