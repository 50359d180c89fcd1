// Sessions and recordings that are open already.

import { jsonGet, jsonPost } from "../../core/api";
import type { App } from "../../core/app";
import { h } from "../../core/dom";
import { clean, count, duration } from "../../core/text";
import type { Session } from "../../core/types";

export function sessionTitle(session: Session): string {
	return clean(session.kind === "file" ? session.file || session.name : `${session.name} ${session.pid}`);
}

export class OpenSessions {
	readonly element = h("section", { class: "open-sessions", hidden: true });
	private shown = "";

	constructor(private readonly app: App) {}

	async ask(): Promise<void> {
		const { sessions } = await jsonGet<{ sessions: Session[] }>("/api/sessions");
		const key = JSON.stringify(sessions.map(one => [one.id, one.state, Math.round(one.end_ns / 1e9), one.samples]));
		if (key === this.shown)
			return;
		this.shown = key;
		this.element.hidden = sessions.length === 0;
		this.element.replaceChildren(h("h2", {}, "Open"), h("ul", {}, ...sessions.map(one => this.item(one))));
	}

	private item(session: Session): HTMLElement {
		const open = h("button", { type: "button", class: "link" }, sessionTitle(session));
		open.addEventListener("click", () => this.app.show({ session: session.id, range: null, zoom: null }));
		const close = h("button", { type: "button", "aria-label": `close ${sessionTitle(session)}`, title: "forget it" }, "×");
		close.addEventListener("click", () => void jsonPost(`/api/sessions/${session.id}/close`, {}).then(() => this.ask(), error => this.app.failure(error)));
		return h("li", {}, open, h("span", { class: "dim" }, `${session.state}, ${duration(session.end_ns - session.oldest_ns)}, ${count(session.samples)} samples`), close);
	}
}
