// The chosen process: what it is, what keeps limpet out, and the ways in.

import { ApiError, jsonPost } from "../../core/api";
import type { App } from "../../core/app";
import { copyButton, h, textSet } from "../../core/dom";
import { clean, duration } from "../../core/text";
import type { Process, Session } from "../../core/types";

const RATES = [19, 49, 99, 199, 499, 999];
const TRACES: readonly (readonly [string, string, string])[] = [
	["alloc", "allocations", ""], ["io", "files and sockets", ""], ["lock", "locks", ""], ["marker", "markers", ""],
	["opencl", "OpenCL", "opencl"], ["hip", "HIP", "hip"], ["kernel", "GPU kernels", "hip"], ["memory-copy", "GPU copies", "hip"],
	["hsa", "HSA", "hsa"], ["cuda", "CUDA", "cuda"],
];

/** What to start: the answers of the boxes. */
export interface Wish {
	sample: { hz: number; off_cpu: boolean } | null;
	traces: string[];
}

export class Chosen {
	readonly element = h("section", { class: "chosen" });
	private readonly name = h("h2");
	private readonly about = h("dl");
	private readonly refusal = h("div", { class: "refusal", role: "alert", hidden: true });
	private readonly rate = h("select", {}, ...RATES.map(hz => h("option", { value: hz, selected: hz === 99 }, `${hz} per second`)));
	private readonly offCpu = h("input", { type: "checkbox", checked: true });
	private readonly traces = h("div", { class: "traces" });
	private readonly attachButton = h("button", { type: "button", title: "check the rights and open it; nothing is sampled yet" }, "Attach");
	private readonly startButton = h("button", { type: "button", class: "primary", title: "attach and sample (Enter)" }, "Start sampling");
	private readonly options: HTMLElement;
	private process: Process | null = null;
	private traced = "";

	constructor(private readonly app: App) {
		this.attachButton.addEventListener("click", () => void this.attach(false));
		this.startButton.addEventListener("click", () => void this.attach(true));
		this.options = h("div", { class: "wish" },
			h("label", {}, "Rate ", this.rate), h("label", {}, this.offCpu, "blocked time too (off-CPU)"),
			h("details", {}, h("summary", {}, "Trace calls too"), this.traces),
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
		this.startButton.disabled = this.attachButton.disabled = !process?.attachable;
		if (process && !process.attachable)
			this.refuse(process.why || process.error || "It cannot be attached to.", process.fix);
		this.tracesShow(process);
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

	private tracesShow(process: Process | null): void {
		const offered = TRACES.filter(([, , runtime]) => !runtime || process?.runtimes.includes(runtime));
		const key = offered.map(([name]) => name).join();
		if (key === this.traced)
			return;
		this.traced = key;
		this.traces.replaceChildren(...offered.map(([name, title]) =>
			h("label", {}, h("input", { type: "checkbox", value: name }), title)));
	}

	private refuse(why: string, fix: string): void {
		const key = `${why}\n${fix}`;
		if (this.refusal.dataset["key"] === key)
			return;
		this.refusal.dataset["key"] = key;
		this.refusal.hidden = !why;
		this.refusal.replaceChildren(h("p", {}, clean(why)),
			fix ? h("p", { class: "fix" }, h("code", {}, clean(fix)), copyButton("Copy", () => fix)) : "");
	}

	private wish(isSampling: boolean): Wish {
		const traces = [...this.traces.querySelectorAll("input")].filter(box => box.checked).map(box => box.value);
		if (!isSampling)
			return { sample: null, traces: [] };
		return { sample: { hz: Number(this.rate.value), off_cpu: this.offCpu.checked }, traces };
	}

	async attach(isSampling = true): Promise<void> {
		const process = this.process;
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
			textSet(this.startButton, "Start sampling");
			this.startButton.disabled = this.attachButton.disabled = false;
		}
	}

	private async post(process: Process, isSampling: boolean): Promise<Session> {
		const wish = { pid: process.pid, start: process.start, children: false, ...this.wish(isSampling) };
		return (await jsonPost<{ session: Session }>("/api/sessions", wish)).session;
	}
}
