/*
 * Runs the page of a flame graph without a browser: a document that does nothing but remember.
 * Prints what the page shows after each step as one JSON object.
 *
 *   usage: node page.js FILE.html
 */
"use strict";
const page = require("fs").readFileSync(process.argv[2], "utf8");
const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(match => match[1]);
const elements = new Map(), listeners = [];
const texts = [];
const pen = new Proxy({ fillText: text => texts.push(text) }, {
	get: (target, name) => target[name] ?? (() => {}),
	set: () => true,
});

function makeElement(id) {
	return {
		id, textContent: id === "data" ? scripts[0] : "", value: "", checked: false, style: {}, clientWidth: 1200, options: [],
		getContext: () => pen,
		getBoundingClientRect: () => ({ left: 0, top: 0 }),
		addEventListener(event, act) { listeners.push([id, event, act]); },
		add(option) { this.options.push(option); if (option.selected) this.value = option.value; },
		focus() {},
		setAttribute(name, value) { this[name] = String(value); },
		append(...parts) { this.textContent += parts.map(part => typeof part === "string" ? part : " # ").join(""); },
	};
}

globalThis.document = {
	documentElement: {}, activeElement: null,
	createElement: makeElement,
	getElementById(id) { if (!elements.has(id)) elements.set(id, makeElement(id)); return elements.get(id); },
	addEventListener(event, act) { listeners.push(["document", event, act]); },
};
globalThis.window = { devicePixelRatio: 1, innerWidth: 1200, innerHeight: 800, addEventListener() {} };
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#f0f" });
globalThis.Option = function Option(text, value, _, selected) { return { text, value, selected }; };

(0, eval)(scripts[1]);
const fire = (id, event, fields) => listeners.filter(([of, on]) => of === id && on === event).forEach(([, , act]) => act({ ...fields, preventDefault() {} }));
const show = act => { texts.length = 0; act(); return { status: elements.get("status").textContent, texts: [...texts] }; };
const shown = { title: elements.get("title").textContent, warning: elements.get("warning").textContent };
shown.found = show(() => { elements.get("search").value = "inner"; fire("search", "input"); });
shown.legend = elements.get("legend").textContent;
shown.wrong = show(() => { elements.get("search").value = "/(inner/"; fire("search", "input"); });
shown.wrong.isMarked = elements.get("search")["aria-invalid"];
shown.mended = show(() => { elements.get("search").value = "/^inner$/"; fire("search", "input"); });
shown.mended.isMarked = elements.get("search")["aria-invalid"];
shown.cleared = show(() => fire("document", "keydown", { key: "Escape" }));
shown.zoomed = show(() => fire("graph", "click", { clientX: 5, clientY: 18 + 5 }));
fire("graph", "mousemove", { clientX: 5, clientY: 18 + 5 });
shown.tip = elements.get("tip").textContent;
shown.reset = show(() => fire("reset", "click"));
shown.inverted = show(() => { elements.get("inverted").checked = true; fire("inverted", "change"); });
shown.waits = show(() => { elements.get("view").value = "off-cpu"; fire("view", "change"); });
console.log(JSON.stringify(shown));
