// Files of the selection for other tools, and the whole page with the selection inside, to be sent to other people.

import { download, jsonGet } from "../../core/api";
import type { App } from "../../core/app";
import { copyText, h, textSet } from "../../core/dom";
import { bytes, clean, duration } from "../../core/text";

interface Format {
	name: string;
	extension: string;
	summary: string;
}

export class Export {
	readonly element = h("dialog", { class: "dialog", "aria-label": "export and share" });
	private readonly formats = h("div", { class: "formats" });
	private readonly share = h("button", { type: "button", class: "primary", disabled: true }, "Save the page");
	private readonly size = h("p", { class: "dim" });
	private readonly scope = h("p", { class: "dim" });
	private readonly status = h("p", { role: "status" });

	constructor(private readonly app: App) {
		const close = h("button", { type: "button" }, "Close");
		close.addEventListener("click", () => this.element.close());
		const link = h("button", { type: "button" }, "Copy the address of this view");
		link.addEventListener("click", () => void copyText(location.href).then(done => textSet(this.status, done ? "Copied; it needs this limpet to run." : "The clipboard is not allowed.")));
		this.share.addEventListener("click", () => void this.save("/api/share", { threads: this.app.view.threads.join(",") }, "share.html"));
		this.element.append(h("h2", {}, "Export and share"), this.scope, h("h3", {}, "One page that opens anywhere"), this.size, this.share, link,
			h("h3", {}, "Files for other tools"), this.formats, this.status, close);
	}

	open(): void {
		this.element.showModal();
		textSet(this.status, "");
		const { range, threads } = this.app.view;
		const time = range ? `Of the ${duration(range.to - range.from)} that are selected.` : "Of the whole time; select a range first for less.";
		textSet(this.scope, threads.length ? `${time} The page holds the selected threads, files hold all.` : time);
		void this.sizeAsk();
		void this.formatsAsk();
	}

	private get selection(): Record<string, string | number | undefined> {
		const { session, from, to } = this.app.selection;
		return { session, from, to };
	}

	private async sizeAsk(): Promise<void> {
		this.share.disabled = true;
		textSet(this.size, "measuring…");
		try {
			const answer = await jsonGet<{ bytes: number; limit: number; allowed: boolean }>("/api/share", { ...this.selection, threads: this.app.selection["threads"], size: 1 });
			this.share.disabled = !answer.allowed;
			textSet(this.size, answer.allowed ? `${bytes(answer.bytes)}; no server is needed to look at it.`
				: `${bytes(answer.bytes)} are more than browsers open well (${bytes(answer.limit)}): select a shorter range.`);
		} catch (error) {
			textSet(this.size, clean(this.app.failure(error)));
		}
	}

	private async formatsAsk(): Promise<void> {
		try {
			const { formats } = await jsonGet<{ formats: Format[] }>("/api/formats", { session: this.app.view.session });
			this.formats.replaceChildren(...formats.map(one => {
				const button = h("button", { type: "button", title: one.summary }, one.name);
				button.addEventListener("click", () => void this.save("/api/export", { format: one.name }, `limpet${one.extension}`));
				return h("div", {}, button, h("span", { class: "dim" }, one.summary));
			}));
		} catch (error) {
			textSet(this.status, clean(this.app.failure(error)));
		}
	}

	private async save(route: string, parameters: Record<string, string>, name: string): Promise<void> {
		textSet(this.status, "making the file…");
		try {
			const size = await download(route, { ...this.selection, ...parameters }, name);
			textSet(this.status, `Saved: ${bytes(size)}.`);
		} catch (error) {
			textSet(this.status, clean(this.app.failure(error)));
		}
	}
}
