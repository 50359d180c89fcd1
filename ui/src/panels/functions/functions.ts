// The functions of the selection as a table: by own time, time with callees, or name; compared with a pinned range, by
// change.

import { tableGet } from "../../core/api";
import type { App } from "../../core/app";
import type { Table } from "../../core/columns";
import { Difference, differenceOf, differenceText, pointsText, Side } from "../../core/difference";
import { attributeSet, h, textSet } from "../../core/dom";
import { VirtualList } from "../../core/list";
import { Loader } from "../../core/loader";
import { matcherOf } from "../../core/search";
import { clean, count, percent, weight } from "../../core/text";
import { pinParameters } from "../../core/view";

interface FunctionRow {
	name: string;
	module: string;
	self: number;
	total: number;
	samples: number;
	error: number;
	/** Of two ranges: the pinned one's own time and the change. */
	pinned: number;
	change: Difference | null;
}

type Order = "self" | "total" | "change" | "name";
const ORDERS: Record<Order, (a: FunctionRow, b: FunctionRow) => number> = {
	self: (a, b) => b.self - a.self,
	total: (a, b) => b.total - a.total,
	change: (a, b) => Math.abs(b.change?.points ?? 0) - Math.abs(a.change?.points ?? 0),
	name: (a, b) => a.name < b.name ? -1 : 1,
};

function rowsRead(table: Table): FunctionRow[] {
	const [names, modules] = [table.strings("name"), table.strings("module")];
	const [self, total] = [table.numbers("self"), table.numbers("total")];
	const [samples, error] = [table.numbers("self_count"), table.numbers("self_error")];
	return names.map((name, i) => ({ name: clean(name), module: clean(modules[i]), self: self[i], total: total[i],
		samples: samples[i] ?? 0, error: error[i] ?? 0, pinned: 0, change: null }));
}

/** Rows of both ranges, including those only in the pinned one. */
function rowsCompare(pinned: Table, now: Table): FunctionRow[] {
	const rows = rowsRead(now), before = rowsRead(pinned);
	const keyOf = (row: FunctionRow): string => `${row.name}\n${row.module}`;
	const known = new Map(rows.map(row => [keyOf(row), row]));
	for (const one of before) {
		const row = known.get(keyOf(one));
		if (row)
			row.pinned = one.self;
		else
			rows.push({ ...one, pinned: one.self, self: 0, total: 0, samples: 0 });
	}
	const side = (table: Table): Side => ({ total: table.number("total"), samples: table.number("samples") });
	const sides: readonly [Side, Side] = [side(pinned), side(now)];
	for (const row of rows)
		row.change = differenceOf(row.pinned, row.self, sides);
	return rows;
}

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
	private pinnedTotal = 1;
	private unit = "ns";
	private order: Order = "self";
	private isCompared = false;
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
			this.head("change", "Change of self"), this.head("name", "Function"), h("div", { role: "columnheader" }, "Module"));
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
		const { pin } = this.app.view;
		const key = JSON.stringify([pin, this.app.isRecording && !this.app.view.range ? { ...parameters, from: 0, to: 0 } : parameters]);
		const tables = (signal: AbortSignal): Promise<Table[]> => Promise.all([tableGet("/api/functions", parameters, signal),
			...pin ? [tableGet("/api/functions", { ...parameters, ...pinParameters(pin) }, signal)] : []]);
		void this.loader.load(key, tables, ([table, pinned]) => {
			this.all = pinned ? rowsCompare(pinned, table) : rowsRead(table);
			this.total = table.number("total") || 1;
			this.pinnedTotal = pinned?.number("total") || 1;
			this.unit = table.text("unit") || "ns";
			this.isCompared = Boolean(pinned);
			textSet(this.message, this.all.length ? "" : table.text("empty") || "There are no samples in this selection.");
			textSet(this.note, table.number("more") ? `${count(table.number("more"))} more with less time are not listed` : "");
			this.show();
		}, why => textSet(this.message, why));
	}

	private show(): void {
		const matcher = matcherOf(this.app.view.query), order = this.order === "change" && !this.isCompared ? "self" : this.order;
		this.element.classList.toggle("compared", this.isCompared);
		this.rows = matcher ? this.all.filter(one => matcher(one.name) || matcher(one.module)) : [...this.all];
		this.rows.sort(ORDERS[order]);
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
			cell(one.self, `± ${one.error.toFixed(1)} points (95 %), ${count(one.samples)} samples`), cell(one.total, "with what it called"), ...one.change ? [this.changeCell(one, one.change)] : [],
			h("div", { role: "cell", class: "mono name", title: one.name }, one.name), h("div", { role: "cell", class: "dim name", title: one.module }, one.module));
		row.addEventListener("click", () => this.open(index));
		return row;
	}

	private changeCell(one: FunctionRow, change: Difference): HTMLElement {
		const share = h("span", { class: "dim" }, ` was ${percent(one.pinned, this.pinnedTotal)}`);
		return h("div", { role: "cell", class: change.isNoise ? "change" : change.points > 0 ? "change more" : "change less", title: differenceText(change) },
			pointsText(change), share);
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
