// The threads: live with state and present CPU, of a range with the time they had. A click selects one, with Ctrl several.

import { tableGet } from "../../core/api";
import type { App } from "../../core/app";
import { attributeSet, h, textSet } from "../../core/dom";
import { VirtualList } from "../../core/list";
import { Loader } from "../../core/loader";
import { clean, duration } from "../../core/text";

interface ThreadRow {
	number: number;
	tid: number;
	name: string;
	state: string;
	/** 0 to 1, for the bar. */
	share: number;
	figure: string;
	title: string;
}

const ROW = 24;
/** One that had ended before its name could be read. */
const NAMELESS = "unnamed";
const STATES: Record<string, string> = {
	R: "running or waiting for a processor", S: "sleeping: waits for something", D: "waits for a disk or the kernel; cannot be interrupted",
	T: "stopped by job control", t: "stopped by a debugger", Z: "ended", I: "idle", X: "ended",
};

export class Threads {
	readonly element: HTMLElement;
	private readonly list: VirtualList;
	private readonly heading = h("h2", {}, "Threads");
	private readonly message = h("p", { class: "message small" });
	private readonly loader: Loader;
	private rows: ThreadRow[] = [];
	private active = 0;
	private order: number[] = [];

	constructor(private readonly app: App) {
		this.loader = new Loader(app);
		this.list = new VirtualList(ROW, i => this.row(i));
		const list = this.list.element;
		list.setAttribute("role", "listbox");
		list.setAttribute("aria-label", "threads");
		list.setAttribute("aria-multiselectable", "true");
		list.tabIndex = 0;
		list.addEventListener("keydown", event => this.key(event));
		this.element = h("section", { class: "threads", "aria-label": "threads" }, this.heading, list, this.message);
		app.on("live", () => this.liveTake());
		app.on("session", () => this.load());
		app.on("view", changed => {
			if (changed.has("session")) {
				this.rows = [];
				this.order = [];
				this.show();
			}
			if (changed.has("range") || changed.has("session"))
				this.load();
			if (changed.has("threads"))
				this.show();
		});
	}

	private get isOfRange(): boolean {
		return !this.app.isRecording || this.app.view.range !== null;
	}

	// Threads keep their order of appearance, so that none moves.
	private liveTake(): void {
		const live = this.app.live;
		if (!live || this.isOfRange && this.rows.length)
			return;
		for (const thread of live.threads) {
			if (!this.order.includes(thread.number))
				this.order.push(thread.number);
		}
		const place = new Map(this.order.map((number, i) => [number, i]));
		this.rows = live.threads.map(one => ({
			number: one.number, tid: one.tid, name: clean(one.name) || NAMELESS, state: one.state, share: one.percent / 100,
			figure: `${one.percent.toFixed(one.percent < 9.95 ? 1 : 0)} %`,
			title: `${STATES[one.state] ?? one.state}; ${duration(one.on_cpu_ns)} on CPU, ${one.samples} samples`,
		})).sort((a, b) => (place.get(a.number) ?? 0) - (place.get(b.number) ?? 0));
		this.show();
	}

	private load(): void {
		const { session, range } = { session: this.app.session, range: this.app.view.range };
		if (!session || !this.isOfRange)
			return;
		const parameters = { session: session.id, from: range ? Math.round(range.from) : undefined, to: range ? Math.round(range.to) : undefined };
		void this.loader.load(`${JSON.stringify(parameters)} ${session.state}`, signal => tableGet("/api/threads", parameters, signal), table => {
			const [numbers, tids, names] = [table.numbers("number"), table.numbers("tid"), table.strings("name")];
			const [on, waited] = [table.numbers("on_cpu_ns"), table.numbers("waited_ns")];
			const most = Math.max(1, ...on);
			this.rows = names.map((name, i) => ({
				number: numbers[i], tid: tids[i], name: clean(name) || NAMELESS, state: "", share: on[i] / most, figure: duration(on[i]),
				title: `${duration(on[i])} on CPU, ${duration(waited[i] ?? 0)} waited`,
			})).sort((a, b) => b.share - a.share);
			this.show();
		}, why => textSet(this.message, why));
	}

	private show(): void {
		textSet(this.heading, this.rows.length ? `Threads (${this.rows.length})` : "Threads");
		textSet(this.message, this.rows.length ? "" : this.app.session?.kind === "file" ? "No thread has samples in this recording: see the timeline for its calls." : "No thread was seen yet.");
		this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
		this.list.show(this.rows.length);
		attributeSet(this.list.element, "aria-activedescendant", this.rows.length ? `thread-${this.rows[this.active].number}` : null);
	}

	private row(index: number): HTMLElement {
		const one = this.rows[index], isChosen = this.app.view.threads.includes(one.number);
		const bar = h("span", { class: "bar" });
		bar.style.setProperty("--share", String(Math.min(1, one.share)));
		const row = h("div", { class: `thread${index === this.active ? " active" : ""}`, role: "option", id: `thread-${one.number}`, title: `${one.name}, ${one.tid}: ${one.title}`,
			"aria-selected": String(isChosen) },
			h("span", { class: "thread-state", "data-state": one.state }, one.state || "·"), h("span", { class: "name" }, one.name),
			h("span", { class: "dim tid" }, String(one.tid)), bar, h("span", { class: "figure" }, one.figure));
		row.addEventListener("click", event => this.choose(index, event.ctrlKey || event.metaKey || event.shiftKey));
		return row;
	}

	private choose(index: number, isMore: boolean): void {
		const { number } = this.rows[index], chosen = this.app.view.threads, isChosen = chosen.includes(number);
		this.active = index;
		const rest = chosen.filter(one => one !== number);
		this.app.show({ threads: isMore ? isChosen ? rest : [...chosen, number] : isChosen && chosen.length === 1 ? [] : [number] });
		this.show();
	}

	private key(event: KeyboardEvent): void {
		const steps: Record<string, number> = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.rows.length - 1 };
		const to = steps[event.key];
		if (to !== undefined) {
			event.preventDefault();
			this.active = Math.max(0, Math.min(this.rows.length - 1, to));
			this.list.reveal(this.active);
			this.show();
		} else if ((event.key === "Enter" || event.key === " ") && this.rows.length) {
			event.preventDefault();
			event.stopPropagation();
			this.choose(this.active, event.ctrlKey || event.key === " ");
		}
	}
}
