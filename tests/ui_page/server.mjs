// A stand-in of limpet's server, for tests of the page alone: node server.mjs FOLDER, where FOLDER holds page.html, app.js
// and app.css. Prints {"url":…}. What it says about processes is made up; the product has nothing of this.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import * as answers from "./answers.mjs";

const TOKEN = "0123456789abcdef0123456789abcdef";
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const folder = process.argv[2];
const begin = Date.now();
const sessions = new Map([[1, { state: "file", end: 42e9 }], [2, { state: "file", end: 42e9 }]]);
export const asked = [];

const FILES = { "/": ["page.html", "text/html"], "/app.js": ["app.js", "text/javascript"], "/app.css": ["app.css", "text/css"] };

function endOf(one) {
	if (one.state === "recording")
		one.end = one.before + (Date.now() - one.begin) * 1e6;
	return one.end;
}

function sessionOf(id) {
	const one = sessions.get(id);
	return one && answers.session(id, one.state, endOf(one), one.more);
}

function refuse(status, what, why = "", fix = "") {
	return { status, json: { error: { what, why, fix, exit: 1 } } };
}

function live(query) {
	const id = Number(query.get("session")), one = sessions.get(id);
	if (!one)
		return refuse(404, "no such session");
	return { json: answers.live(id, one.state, Number(query.get("since")), endOf(one), one.state === "recording", one.more) };
}

const range = query => [Number(query.get("from") ?? 0), Number(query.get("to") ?? 42e9)];
const share = query => {
	const [from, to] = range(query);
	return Math.min(1, Math.max(0.01, (to - from) / 42e9));
};

// The second recording is the large one.
const isLarge = query => query.get("session") === "2";

// Live sessions of the process "random" have a random tree, another one when it is inverted; those of "narrow" one whose
// weights change each second.
function flameOf(query) {
	if (isLarge(query))
		return answers.flameLarge(100_000);
	if (sessions.get(Number(query.get("session")))?.more?.name === "narrow")
		return answers.flameNarrow(Math.floor(Date.now() / 1000));
	const isRandom = sessions.get(Number(query.get("session")))?.more?.name === "random";
	return isRandom ? answers.flameRandom(1 + Number(query.get("invert"))) : answers.flame(share(query), query.get("kind"));
}

const GET = {
	"/api/about": () => ({ json: { version: "0.1.0", user: "ada", host: "box", kernel: "6.1", uid: 1000, pid: 1, root: false, ssh: "ssh -L 8080:127.0.0.1:8080 box", limits: { sessions: 8 }, open: [], share: false } }),
	"/api/processes": () => ({ json: { time_ns: (Date.now() - begin) * 1e6, processes: answers.processes((Date.now() - begin) * 1e6) } }),
	"/api/sessions": () => ({ json: { sessions: [...sessions.keys()].map(sessionOf) } }),
	"/api/live": live,
	"/api/flame": query => ({ bytes: flameOf(query) }),
	"/api/compare": query => ({ bytes: answers.flame(1, query.get("kind"), true) }),
	"/api/threads": () => ({ bytes: answers.threads() }),
	"/api/functions": () => ({ bytes: answers.functions() }),
	"/api/sandwich": () => ({ bytes: answers.sandwich() }),
	"/api/heatmap": query => ({ bytes: answers.heatmap(...range(query), Number(query.get("cell_ms"))) }),
	"/api/timeline": query => ({ bytes: answers.timeline(...range(query), Number(query.get("width"))) }),
	"/api/spans": query => ({ bytes: isLarge(query) ? answers.spansLarge(...range(query), Number(query.get("width"))) : answers.spans(...range(query)) }),
	"/api/flows": query => ({ bytes: answers.flows(...range(query)) }),
	"/api/counters": query => ({ bytes: answers.counters(...range(query), Number(query.get("width"))) }),
	"/api/curves": () => ({ bytes: answers.curves(42e9) }),
	"/api/stack": query => ({ json: answers.stack(Number(query.get("time"))) }),
	"/api/span": query => ({ json: answers.span(Number(query.get("correlation"))) }),
	"/api/formats": () => ({ json: { formats: [{ name: "speedscope", extension: ".json", summary: "speedscope.app" }, { name: "folded", extension: ".txt", summary: "lines for flamegraph.pl" }] } }),
	"/api/share": query => query.get("size") ? { json: { bytes: 412345, limit: 20971520, allowed: true } } : { bytes: Buffer.from("<!doctype html>") },
	"/api/export": () => ({ bytes: Buffer.from("main;work 12\n") }),
};

function sessionNew(body) {
	const wanted = answers.processes(0).find(one => one.pid === body.pid);
	if (!wanted?.attachable)
		return refuse(409, "attach", wanted?.why ?? "no such process", wanted?.fix ?? "");
	const id = Math.max(...sessions.keys()) + 1;
	sessions.set(id, { state: body.sample ? "recording" : "stopped", begin: Date.now(), before: 0, end: 0, more: { name: wanted.name, pid: wanted.pid } });
	return { json: { session: sessionOf(id) } };
}

const ACTIONS = { start: "recording", stop: "stopped", detach: "detached" };

function act(path, body) {
	if (path === "/api/sessions")
		return sessionNew(body);
	const [, , , id, action] = path.split("/"), one = sessions.get(Number(id));
	if (!one)
		return refuse(404, "no such session");
	if (action === "close") {
		sessions.delete(Number(id));
		return { json: { closed: Number(id) } };
	}
	one.before = endOf(one);
	one.begin = Date.now();
	one.state = ACTIONS[action];
	return { json: { session: sessionOf(Number(id)) } };
}

function answer(request, path, query, body) {
	if (request.headers.authorization !== `Bearer ${TOKEN}`)
		return refuse(401, "the token is missing or wrong", "", "open the address that limpet printed");
	asked.push(path);
	if (request.method === "POST")
		return act(path, JSON.parse(body));
	return GET[path]?.(query) ?? refuse(404, "no such route");
}

const server = createServer((request, response) => {
	const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
	const parts = [];
	request.on("data", part => parts.push(part));
	request.on("end", () => {
		const file = FILES[pathname];
		const found = file ? null : answer(request, pathname, searchParams, Buffer.concat(parts).toString());
		const type = file ? file[1] : found.bytes ? "application/vnd.limpet.columns" : "application/json";
		response.writeHead(found?.status ?? 200, { "Content-Type": type, "Content-Security-Policy": CSP, "Cache-Control": "no-store" });
		response.end(file ? readFileSync(join(folder, file[0])) : found.bytes ?? JSON.stringify(found.json));
	});
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/#token=${TOKEN}` })));
process.stdin.on("end", () => process.exit(0)).resume();
