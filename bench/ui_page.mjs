// What the page of `limpet ui` takes in Chromium, on a recording that is given: the first picture, a new range, a drawing.
// node ui_page.mjs FILE KIND [first], by bench/ui.py --page. "total" is from the change to the new picture, "page" the part of it
// after the last byte of the answer.

import { browserOpen, pageOpen, serverEnd, serverStart, until } from "../tests/ui_page/browser.mjs";

const FRAME_MS = 16.7, RANGES = 40, SHARES = [0.5, 0.1, 0.01];
const PICTURES = {
	flame: { routes: ["/api/flame"], canvas: ".picture.flame canvas" },
	lanes: { routes: ["/api/timeline", "/api/spans", "/api/flows", "/api/threads", "/api/counters"], canvas: ".picture.lanes canvas" },
};

// Runs in the page: when each canvas was drawn, and what that took.
function drawsWatch() {
	window.draws = [];
	new MutationObserver(records => records.forEach(({ target }) => window.draws.push({ time: performance.now(), ms: Number(target.dataset.drawMs), canvas: target })))
		.observe(document, { subtree: true, attributes: true, attributeFilter: ["data-draw-ms"] });
}

// Runs in the page: where its data end; where nothing is, nothing is drawn.
async function dataEnd() {
	const ask = async path => await (await fetch(path, { headers: { Authorization: `Bearer ${sessionStorage["limpet.token"]}` } })).json();
	const { end_ns, samples } = (await ask("/api/sessions")).sessions[0];
	return samples ? end_ns : Math.max(...(await ask("/api/spans?session=1&width=100&format=json")).columns.end);
}

/** The first drawing of a canvas after all answers that it shows were there; null: not yet. */
function drawnAfter(page, { canvas, routes }) {
	return page.evaluate(([selector, wanted]) => {
		const entries = performance.getEntriesByType("resource").filter(one => one.responseEnd);
		const answers = wanted.map(route => entries.findLast(one => one.name.includes(`${route}?`)));
		if (answers.some(one => !one))
			return null;
		const answered = Math.max(...answers.map(one => one.responseEnd)), bytes = answers.reduce((sum, one) => sum + one.encodedBodySize, 0);
		const draw = window.draws.find(one => one.canvas.matches(selector) && one.time > answered);
		return draw ? { time: draw.time, page: draw.time - answered, bytes } : null;
	}, [canvas, routes]);
}

function percentile(values, part) {
	return [...values].sort((a, b) => a - b)[Math.floor(values.length * part)];
}

function told(name, values) {
	console.log(`${name.padEnd(44)} p50 ${percentile(values, 0.5).toFixed(1).padStart(7)} ms  p95 ${percentile(values, 0.95).toFixed(1).padStart(7)} ms  ` +
		`most ${Math.max(...values).toFixed(1).padStart(7)} ms  ${values.filter(one => one > FRAME_MS).length} of ${values.length} over ${FRAME_MS} ms`);
}

async function rangeTry(page, picture, hash) {
	const begin = await page.evaluate(text => {
		window.draws.length = 0;
		performance.clearResourceTimings();
		location.hash = text;
		return performance.now();
	}, hash);
	const drawn = await until("a picture", () => drawnAfter(page, picture));
	return { total: drawn.time - begin, page: drawn.page, bytes: drawn.bytes };
}

async function rangesTry(page, tab, kind, key, end) {
	for (const share of SHARES) {
		const all = [];
		for (let i = 0; i < RANGES; i++) {
			const length = Math.round(end * share), from = Math.round((end - length) * ((i * 0.618034) % 1));
			all.push(await rangeTry(page, PICTURES[tab], `session=1&tab=${tab}&kind=${kind}&${key}=${from}-${from + length}`));
		}
		told(`${tab} of ${share * 100} %: total`, all.map(one => one.total));
		told(`${tab} of ${share * 100} %: in the page`, all.map(one => one.page));
		console.log(`${tab} of ${share * 100} %: ${(percentile(all.map(one => one.bytes), 0.5) / 1024).toFixed(0)} KiB`);
	}
}

/** Drawings while one moves within a picture by keys. */
async function drawsTry(page, tab) {
	await page.evaluate(() => { window.draws.length = 0; });
	await page.locator(PICTURES[tab].canvas).first().focus();
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press(["ArrowDown", "ArrowRight", "ArrowRight"][i % 3]);
		await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	}
	told(`${tab}: one drawing`, await page.evaluate(selector => window.draws.filter(one => one.canvas.matches(selector)).map(one => one.ms), PICTURES[tab].canvas));
}

async function allTry(page, kind) {
	const end = await page.evaluate(dataEnd);
	await page.waitForTimeout(3000);
	await rangesTry(page, "flame", kind, "range", end);
	await drawsTry(page, "flame");
	await rangesTry(page, "lanes", kind, "zoom", end);
	await drawsTry(page, "lanes");
}

const [file, kind, isFirstOnly] = process.argv.slice(2);
const browser = await browserOpen();
const began = Date.now();
const { server, url } = await serverStart([process.env.LIMPET, "ui", "--no-open", "--json", file]);
const listening = Date.now() - began;
try {
	const page = await pageOpen(browser, "about:blank");
	await page.addInitScript(drawsWatch);
	const asked = Date.now() - began;
	await page.goto(url.replace("#", `#session=1&kind=${kind}&`));
	const first = await until("the first picture", () => drawnAfter(page, PICTURES.flame));
	console.log(`limpet listens after ${listening} ms, the page is asked for after ${asked} ms, its first picture is there ${first.time.toFixed(0)} ms later`);
	if (!isFirstOnly)
		await allTry(page, kind);
	if (page.complaints.length)
		throw new Error(page.complaints.join("; "));
} finally {
	await browser.close();
	await serverEnd(server);
}
