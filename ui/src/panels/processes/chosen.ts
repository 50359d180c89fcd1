// The chosen process: its facts, what prevents an attach, and the actions.

import { ApiError, jsonPost } from "../../core/api";
import type { App } from "../../core/app";
import { copyButton, h, textSet } from "../../core/dom";
import { clean, duration } from "../../core/text";
import type { Process, Session } from "../../core/types";

const RATES = [19, 49, 99, 199, 499, 999];
/** The traces possible for any process. */
const TRACES: [string, string][] = [["alloc", "memory"], ["io", "I/O"], ["lock", "locks"], ["marker", "markers"]];

/** What to start: the choices of the boxes. */
export interface Wish {
	sample: { hz: number; off_cpu: boolean } | null;
	traces: string[];
	record: boolean;
}

function tracesOf(process: Process): [string, string][] {
	const all = [...TRACES, ...process.traces];
	return all.filter(([word], i) => all.findIndex(other => other[0] === word) === i);
}

export class Chosen {
	readonly element = h("section", { class: "chosen" });
	private readonly name = h("h2");
	private readonly about = h("dl");
	private readonly refusal = h("div", { class: "refusal", role: "alert", hidden: true });
	private readonly rate = h("select", {}, ...RATES.map(hz => h("option", { value: hz, selected: hz === 99 }, `${hz} per second`)));
	private readonly offCpu = h("input", { type: "checkbox", checked: true });
	private readonly tracing = h("div", { class: "traces" });
	private readonly record = h("input", { type: "checkbox" });
	private readonly attachButton = h("button", { type: "button", title: "check the rights and open it; nothing is sampled yet" }, "Attach");
	private readonly startButton = h("button", { type: "button", class: "primary", title: "attach and sample (Enter)" }, "Start sampling");
	private readonly options: HTMLElement;
	private process: Process | null = null;

	constructor(private readonly app: App) {
		this.attachButton.addEventListener("click", () => void this.attach(false));
		this.startButton.addEventListener("click", () => void this.attach(true));
		this.options = h("div", { class: "wish" },
			h("label", {}, "Rate ", this.rate), h("label", {}, this.offCpu, "blocked time too (off-CPU)"),
			h("details", {}, h("summary", {}, "Calls and GPU work too?"),
				h("p", { class: "dim" }, "Tracing loads limpet’s agent into the process until you stop; sampling touches nothing."), this.tracing),
			h("label", { title: "limpet-PID.limpet, in the folder that limpet was started in; otherwise what was seen goes when it is closed" },
				this.record, "write a recording and keep it"),
			h("div", { class: "buttons" }, this.startButton, this.attachButton));
		this.element.append(this.name, this.about, this.refusal, this.options);
		this.show(null);
	}

	focus(): void {
		(this.startButton.disabled ? this.refusal.querySelector("button") : this.startButton)?.focus();
	}

	show(process: Process | null): void {
		if (this.process?.pid !== process?.pid)
			this.refuse("", "");
		this.process = process;
		this.options.hidden = !process;
		textSet(this.name, process ? `${clean(process.name)} ${process.pid}` : "No process chosen");
		this.aboutShow(process);
		this.buttonsShow();
		if (process && !process.attachable)
			this.refuse(process.why || process.error || "It cannot be attached to.", process.fix);
		this.tracingShow(process);
	}

	private aboutShow(process: Process | null): void {
		const facts: [string, string][] = process ? [
			["command", clean(process.command || process.executable)], ["user", clean(process.user)], ["state", process.state],
			["threads", String(process.threads)], ["processor", duration(process.cpu_ns)],
			["runtime", [process.language, ...process.runtimes].filter(Boolean).join(", ") || "native"],
		] : [["", "Choose one in the list: by a click, or by arrow keys. Nothing is touched until you attach."]];
		const key = JSON.stringify(facts);
		if (this.about.dataset["key"] === key)
			return;
		this.about.dataset["key"] = key;
		this.about.replaceChildren(...facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
	}

	private tracingShow(process: Process | null): void {
		const traces = process ? tracesOf(process) : [];
		const key = JSON.stringify([process?.pid, traces]);
		if (this.tracing.dataset["key"] === key)
			return;
		this.tracing.dataset["key"] = key;
		this.tracing.replaceChildren(...traces.map(([word, title]) =>
			h("label", {}, h("input", { type: "checkbox", value: word }), title)));
	}

	private tracesChosen(): string[] {
		return [...this.tracing.querySelectorAll<HTMLInputElement>("input:checked")].map(box => box.value);
	}

	private refuse(why: string, fix: string): void {
		const key = `${why}\n${fix}`;
		if (this.refusal.dataset["key"] === key)
			return;
		this.refusal.dataset["key"] = key;
		this.refusal.hidden = !why;
		this.refusal.replaceChildren(h("p", {}, clean(why)),
			...fix.split("\n").filter(Boolean).map(line => h("p", { class: "fix" }, h("code", {}, clean(line)), copyButton("Copy", () => line))));
	}

	private wish(isSampling: boolean): Wish {
		return {
			sample: isSampling ? { hz: Number(this.rate.value), off_cpu: this.offCpu.checked } : null,
			traces: isSampling ? this.tracesChosen() : [], record: this.record.checked,
		};
	}

	async attach(isSampling = true): Promise<void> {
		const process = this.process;
		if (process?.sampled && process.session)
			return this.app.show({ session: process.session, range: null, zoom: null });
		if (!process?.attachable)
			return;
		this.startButton.disabled = this.attachButton.disabled = true;
		textSet(this.startButton, "Attaching…");
		try {
			const session = await this.post(process, isSampling);
			this.app.show({ session: session.id, range: null, zoom: null, threads: [], transforms: [], pin: null });
		} catch (error) {
			const why = this.app.failure(error);
			this.refuse(why, error instanceof ApiError ? error.fix : "");
		} finally {
			this.buttonsShow();
		}
	}

	private buttonsShow(): void {
		const { process } = this, isOpen = Boolean(process?.sampled && process.session);
		this.startButton.disabled = this.attachButton.disabled = !process?.attachable && !isOpen;
		this.attachButton.hidden = isOpen;
		textSet(this.startButton, isOpen ? "Open its session" : "Start sampling");
	}

	private async post(process: Process, isSampling: boolean): Promise<Session> {
		const wish = { pid: process.pid, start: process.start, children: false, ...this.wish(isSampling) };
		return (await jsonPost<{ session: Session }>("/api/sessions", wish)).session;
	}
}
