// The top of the page: the session, its state, and the buttons that change it.

import { isShared, jsonPost } from "../../core/api";
import type { App } from "../../core/app";
import { attributeSet, h, textSet } from "../../core/dom";
import { clean, count, duration } from "../../core/text";
import type { Session } from "../../core/types";
import { sessionTitle } from "../processes/sessions";

interface State {
	text: string;
	tone: "live" | "quiet" | "bad";
	title: string;
}

const STATES: Record<Session["state"], State> = {
	recording: { text: "LIVE", tone: "live", title: "samples of the running process come in" },
	stopped: { text: "STOPPED", tone: "quiet", title: "nothing is sampled or traced now" },
	detached: { text: "DETACHED", tone: "quiet", title: "the process was let go; what was sampled stays until it is closed" },
	ended: { text: "ENDED", tone: "quiet", title: "the process has ended by itself" },
	failed: { text: "FAILED", tone: "bad", title: "" },
	file: { text: "FILE", tone: "quiet", title: "a recording" },
};

type Action = "start" | "stop" | "detach" | "close";

function button(text: string, title: string, kind = ""): HTMLButtonElement {
	return h("button", { type: "button", title, class: kind }, text);
}

export class Banner {
	readonly element: HTMLElement;
	private readonly title = h("h1", { class: "session-name" });
	private readonly state = h("span", { class: "state", role: "status" });
	private readonly lost = h("span", { class: "state", "data-tone": "bad", hidden: true });
	private readonly trouble = h("span", { class: "trouble", role: "alert" });
	private readonly start = button("Start sampling", "sample again", "primary");
	private readonly stop = button("Stop", "stop sampling; stay attached (space)");
	private readonly detach = button("Detach", "let the process go; what was seen stays");
	private readonly home = button("Processes", "back to the list of processes (g)");

	constructor(private readonly app: App, share: HTMLElement, more: HTMLElement[]) {
		const name = h("a", { class: "brand", href: "#" }, "limpet");
		name.addEventListener("click", event => {
			event.preventDefault();
			app.show({ session: 0 });
		});
		this.home.addEventListener("click", () => app.show({ session: 0 }));
		this.start.addEventListener("click", () => void this.act("start"));
		this.stop.addEventListener("click", () => void this.act("stop"));
		this.detach.addEventListener("click", () => void this.act("detach"));
		this.element = h("header", { class: "banner" }, name, this.home, this.title, this.state, this.lost, this.trouble,
			h("span", { class: "grow" }), this.start, this.stop, this.detach, share, ...more);
		for (const topic of ["view", "session", "live", "stale"] as const)
			app.on(topic, () => this.update());
		this.update();
	}

	async act(action: Action): Promise<void> {
		const id = this.app.view.session;
		textSet(this.trouble, "");
		try {
			const { session } = await jsonPost<{ session: Session }>(`/api/sessions/${id}/${action}`, {});
			if (session)
				this.app.sessionSet(session);
		} catch (error) {
			textSet(this.trouble, clean(this.app.failure(error)));
		}
	}

	/** Space: stops a running session, starts a stopped one. */
	toggle(): void {
		if (!this.stop.hidden)
			void this.act("stop");
		else if (!this.start.hidden)
			void this.act("start");
	}

	private update(): void {
		const session = this.app.view.session ? this.app.session : null;
		const isLive = session?.kind === "live" && !isShared();
		textSet(this.title, session ? sessionTitle(session) : "");
		document.title = session ? `${sessionTitle(session)} – limpet` : "limpet";
		this.home.hidden = !this.app.view.session || isShared();
		this.stop.hidden = !isLive || session.state !== "recording";
		this.start.hidden = !isLive || session.state !== "stopped";
		this.detach.hidden = !isLive || session.state !== "recording" && session.state !== "stopped";
		for (const one of [this.start, this.stop, this.detach])
			one.disabled = this.app.isStale;
		this.stateShow(session);
		this.lost.hidden = !session || !session.lost;
		textSet(this.lost, session?.lost ? `LOST ${count(session.lost)}` : "");
		this.lost.title = "samples that came faster than they could be stored";
		if (session?.error || session?.stopped_why)
			textSet(this.trouble, clean(session.error || session.stopped_why || ""));
	}

	private stateShow(session: Session | null): void {
		const one = this.stateOf(session);
		this.state.hidden = !one;
		if (!one)
			return;
		textSet(this.state, one.text);
		attributeSet(this.state, "data-tone", one.tone);
		this.state.title = one.title;
	}

	private stateOf(session: Session | null): State | null {
		if (this.app.isStale)
			return { text: "STALE", tone: "bad", title: "limpet does not answer: it has ended, or the connection has. What you see is the last that came." };
		if (!session)
			return null;
		const one = STATES[session.state];
		if (isShared())
			return { text: "SHARED", tone: "quiet", title: "a page with the answers inside" };
		if (session.state === "recording" && session.recording)
			return { text: `RECORDING ${clean(session.recording)}`, tone: "live", title: "what comes in is written to this file, and the file is kept" };
		const age = session.forgotten ? `, the last ${duration(session.end_ns - session.oldest_ns)} are kept` : "";
		return { ...one, title: one.title + age };
	}
}
