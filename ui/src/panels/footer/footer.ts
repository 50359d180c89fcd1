// The parts missing from the picture.

import { isShared } from "../../core/api";
import type { App } from "../../core/app";
import { h } from "../../core/dom";
import type { FlameSource } from "../../core/flame_source";
import { clean, count, duration, percent } from "../../core/text";
import type { Session } from "../../core/types";

interface Fact {
	text: string;
	title?: string;
	isBad?: boolean;
}

function endsText(session: Session): string {
	return Object.entries(session.stack_ends ?? {}).filter(([, number]) => number > 0).map(([why, number]) => `${clean(why)} ${count(number)}`).join(", ");
}

function factsOf(session: Session, app: App): Fact[] {
	const live = session.kind === "live";
	return [
		{ text: `${count(session.samples)} samples` },
		session.lost ? { text: `${count(session.lost)} lost`, isBad: true, title: "they came faster than they could be stored" } : { text: "none lost" },
		{ text: `${count(session.incomplete)} incomplete stacks (${percent(session.incomplete, session.samples)})`, title: endsText(session), isBad: session.incomplete > session.samples / 10 },
		{ text: `${count(session.unnamed)} frames without names`, title: session.guessed ? `${count(session.guessed)} names are guesses` : "" },
		{ text: `${(100 * app.trimmed.part).toFixed(1)} % too narrow to draw`, title: `${count(app.trimmed.nodes)} frames; zoom in to see them` },
		session.dropped ? { text: `${count(session.dropped)} calls dropped`, isBad: true } : null,
		live && session.overhead_percent !== undefined && !isShared() ? { text: `limpet uses ${session.overhead_percent.toFixed(1)} % of a processor` } : null,
		session.sampler ? { text: `sampler ${clean(session.sampler)}${session.hz ? `, ${session.hz} Hz` : ""}${session.off_cpu ? ", off-CPU" : ""}`, title: clean(session.sampler_why ?? "").replace(/\\u000a/g, "\n") } : null,
		session.forgotten ? { text: `the oldest data are ${duration(session.end_ns - session.oldest_ns)} old`, title: `${count(session.forgotten)} older samples were forgotten to stay within bounds` } : null,
		session.is_damaged ? { text: typeof session.is_damaged === "string" ? clean(session.is_damaged) : "the file is damaged", isBad: true } : null,
	].filter((one): one is Fact => one !== null);
}

export class Footer {
	readonly element = h("footer", { class: "footer" });
	private shown = "";

	constructor(private readonly app: App, source: FlameSource) {
		for (const topic of ["view", "session", "live"] as const)
			app.on(topic, () => this.update());
		source.on(() => this.update());
	}

	private update(): void {
		const { session, about } = this.app;
		const facts = this.app.view.session && session ? factsOf(session, this.app) : [];
		if (about)
			facts.push({ text: `limpet ${about.version} as ${clean(about.user)} on ${clean(about.host)}`, title: clean(about.ssh ?? "") });
		const key = JSON.stringify(facts);
		if (key === this.shown)
			return;
		this.shown = key;
		this.element.replaceChildren(...facts.map(fact => h("span", { title: fact.title || undefined, class: fact.isBad ? "bad" : "" }, fact.text)));
	}
}
