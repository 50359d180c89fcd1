// The process selector: which processes run, which can be attached to, and the fix for those that cannot.

import { jsonGet } from "../../core/api";
import type { App } from "../../core/app";
import { attributeSet, Choice, h, textSet } from "../../core/dom";
import { clean, duration } from "../../core/text";
import type { Process } from "../../core/types";
import { Chosen } from "./chosen";
import { percentsMake, Row, rowsMake } from "./rows";
import { OpenSessions } from "./sessions";

interface Answer {
	time_ns: number;
	processes: Process[];
}

const COLUMNS = ["Process", "PID", "User", "CPU", "Threads", "Runtime", "Attach"];
const PERIOD_MS = 1500;

/** What distinguishes one `python3` from another; the whole command if it does not begin with the name. */
function argumentsOf({ name, command }: Process): string {
	const [first, ...rest] = command.split(" ");
	return first.slice(first.lastIndexOf("/") + 1).startsWith(name) ? rest.join(" ") : command;
}

export class Processes {
	readonly element: HTMLElement;
	readonly filter = h("input", { type: "search", placeholder: "Filter: name, command, user, PID, python, hip …", "aria-label": "filter processes",
		autocomplete: "off", spellcheck: "false" });
	private readonly body = h("div", { role: "rowgroup", class: "process-rows" });
	private readonly status = h("span", { class: "dim", role: "status" });
	private readonly message = h("p", { class: "message" });
	private readonly shape: Choice<"tree" | "busy">;
	private readonly chosen: Chosen;
	private readonly open: OpenSessions;
	private readonly elements = new Map<number, HTMLElement>();
	private answer: Answer | null = null;
	private before: Answer | null = null;
	private rows: Row[] = [];
	private isTree = true;
	private selected = 0;
	private isAsking = false;

	constructor(private readonly app: App) {
		this.chosen = new Chosen(app);
		this.open = new OpenSessions(app);
		this.shape = new Choice("order", [["tree", "Tree", "under the processes that started them"],
			["busy", "Busiest", "the busiest first"]] as const, value => {
			this.isTree = value === "tree";
			this.shape.set(value);
			this.update();
		});
		this.shape.set("tree");
		const refresh = h("button", { type: "button", title: "ask again now (r); it also refreshes by itself" }, "Refresh");
		refresh.addEventListener("click", () => void this.ask());
		this.filter.addEventListener("input", () => this.update());
		this.filter.addEventListener("keydown", event => this.filterKey(event));
		this.body.addEventListener("keydown", event => this.key(event));
		const head = h("div", { role: "row", class: "process-row head" }, ...COLUMNS.map(name => h("div", { role: "columnheader" }, name)));
		this.element = h("main", { class: "processes" },
			h("div", { class: "process-side" },
				h("h1", {}, "Pick a process"),
				h("div", { class: "process-tools" }, this.filter, this.shape.element, refresh, this.status),
				h("div", { role: "treegrid", "aria-label": "processes", class: "process-grid" }, h("div", { role: "rowgroup", class: "process-head" }, head), this.body),
				this.message),
			h("aside", { class: "chosen-side", "aria-label": "chosen process" }, this.open.element, this.chosen.element));
		setInterval(() => void this.tick(), PERIOD_MS);
	}

	private tick(): Promise<void> {
		return this.element.isConnected && !document.hidden ? this.ask() : Promise.resolve();
	}

	async ask(): Promise<void> {
		if (this.isAsking)
			return;
		this.isAsking = true;
		try {
			const answer = await jsonGet<Answer>("/api/processes");
			if (!this.answer || answer.time_ns > this.answer.time_ns)
				[this.before, this.answer] = [this.answer, answer];
			this.app.staleSet(false);
			textSet(this.message, "");
			await this.open.ask();
			this.update();
		} catch (error) {
			textSet(this.message, this.app.failure(error));
		} finally {
			this.isAsking = false;
		}
	}

	private update(): void {
		const answer = this.answer;
		if (!answer)
			return;
		this.rows = rowsMake(answer.processes, this.filter.value, this.isTree, percentsMake(this.before, answer));
		textSet(this.status, `${this.rows.filter(row => row.isMatch).length} of ${answer.processes.length} processes`);
		textSet(this.message, this.rows.length ? "" : "No process matches the filter.");
		if (!this.rows.some(row => row.process.pid === this.selected))
			this.selected = 0;
		this.rowsShow();
		this.chosen.show(this.rows.find(row => row.process.pid === this.selected)?.process ?? null);
	}

	// Rows are kept and moved: a focused or half-selected one does not vanish under the hand.
	private rowsShow(): void {
		const wanted = new Set(this.rows.map(row => row.process.pid));
		for (const [pid, element] of this.elements) {
			if (!wanted.has(pid)) {
				element.remove();
				this.elements.delete(pid);
			}
		}
		let previous: Element | null = null;
		for (const row of this.rows) {
			const element = this.rowElement(row);
			const next: Element | null = previous ? previous.nextElementSibling : this.body.firstElementChild;
			if (next !== element)
				this.body.insertBefore(element, next);
			previous = element;
		}
		const first = this.elements.get(this.selected) ?? this.body.firstElementChild;
		for (const element of this.elements.values())
			element.tabIndex = element === first ? 0 : -1;
	}

	private rowElement(row: Row): HTMLElement {
		const { process } = row;
		let element = this.elements.get(process.pid);
		if (!element) {
			element = h("div", { role: "row", class: "process-row", "data-pid": process.pid },
				...COLUMNS.map((_, i) => h("div", { role: "gridcell", class: `cell-${i}` })));
			element.addEventListener("click", () => this.select(process.pid));
			element.addEventListener("dblclick", () => void this.chosen.attach());
			element.firstElementChild!.append(h("span"), h("span", { class: "arguments dim" }));
			this.elements.set(process.pid, element);
		}
		this.rowFill(element, row);
		return element;
	}

	private rowFill(element: HTMLElement, { process, level, percent, isMatch }: Row): void {
		const [name, pid, user, cpu, threads, runtime, attach] = [...element.children] as HTMLElement[];
		textSet(name.children[0] as HTMLElement, clean(process.name));
		textSet(name.children[1] as HTMLElement, clean(argumentsOf(process)));
		name.title = clean(process.command);
		name.style.paddingInlineStart = `${(this.isTree ? level - 1 : 0) * 14 + 8}px`;
		textSet(pid, String(process.pid));
		textSet(user, clean(process.user));
		textSet(cpu, percent < 0 ? "…" : `${percent.toFixed(percent < 10 ? 1 : 0)} %`);
		cpu.style.setProperty("--share", String(Math.min(1, Math.max(0, percent) / 100)));
		cpu.title = `${duration(process.cpu_ns)} since it began`;
		textSet(threads, String(process.threads));
		textSet(runtime, [process.language, ...process.runtimes].filter(Boolean).join(", "));
		textSet(attach, process.sampled ? "open" : process.attachable ? "yes" : "no");
		attach.title = process.attachable ? "can be attached to" : clean(process.why || process.error);
		attributeSet(attach, "data-can", String(process.attachable));
		element.classList.toggle("above", !isMatch);
		attributeSet(element, "aria-level", String(level));
		attributeSet(element, "aria-selected", String(process.pid === this.selected));
	}

	private select(pid: number): void {
		this.selected = pid;
		this.update();
	}

	private filterKey(event: KeyboardEvent): void {
		if (event.key !== "ArrowDown" && event.key !== "Enter" || !this.rows.length)
			return;
		event.preventDefault();
		const matcher = this.filter.value.trim().toLowerCase();
		const best = this.rows.find(row => matcher && row.process.name.toLowerCase().includes(matcher)) ?? this.rows[0];
		this.move(this.rows.indexOf(best));
	}

	private move(at: number): void {
		const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, at))];
		this.select(row.process.pid);
		const element = this.elements.get(row.process.pid);
		element?.focus();
		element?.scrollIntoView({ block: "nearest" });
	}

	private key(event: KeyboardEvent): void {
		const at = this.rows.findIndex(row => row.process.pid === this.selected);
		const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.rows.length - 1,
			PageDown: at + 15, PageUp: at - 15 };
		const to = steps[event.key];
		if (to !== undefined) {
			event.preventDefault();
			this.move(to);
		} else if (event.key === "Enter") {
			event.preventDefault();
			this.chosen.focus();
		}
	}
}
