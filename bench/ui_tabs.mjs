// Real tabs of Chromium on a live session of `limpet ui`: node ui_tabs.mjs URL SECONDS TABS, by bench/ui.py --live --browser.
// Half of the tabs have a window each and are seen. The others share one window of another Chromium: each is in front until it has asked
// some questions, the last one is an empty tab, so that all of them are hidden. (Playwright makes each of its pages believe to be in front,
// so that browser is asked by its own HTTP interface, and what its tabs ask is counted on the way.)
// Each half minute: how many questions the seen and the hidden ones asked, and what the JavaScript of the seen ones takes.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browserOpen, pageOpen, until } from "../tests/ui_page/browser.mjs";

const PERIOD_MS = 30_000, SETTLE_MS = 3_000, MIB = 1 << 20;
const pause = ms => new Promise(done => setTimeout(done, ms));

/** Hands bytes on to a port of this machine, and counts the questions in them. */
async function counterStart(port) {
	const counter = createServer(client => {
		const server = connect(port, "127.0.0.1");
		client.on("data", data => { counter.asked += data.toString("latin1").split("GET /api/").length - 1; });
		client.pipe(server).pipe(client);
		[client, server].forEach(one => one.on("error", () => { client.destroy(); server.destroy(); }));
	});
	counter.asked = 0;
	await new Promise(done => counter.listen(0, "127.0.0.1", done));
	return counter;
}

async function seenOpen(browser, url, count) {
	const pages = [];
	for (let i = 0; i < count; i++) {
		const page = await pageOpen(browser, url);
		page.asked = page.failed = 0;
		page.on("request", () => page.asked++);
		page.on("requestfailed", () => page.failed++);
		page.session = await page.context().newCDPSession(page);
		pages.push(page);
	}
	return pages;
}

async function windowStart(folder) {
	const browser = spawn(process.env.CHROMIUM ?? "/usr/bin/chromium", ["--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage",
		"--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"], { stdio: "ignore" });
	const port = await until("a port", async () => (await readFile(join(folder, "DevToolsActivePort"), "utf8").catch(() => "")).split("\n")[0]);
	return { browser, open: address => fetch(`http://127.0.0.1:${port}/json/new?${encodeURIComponent(address)}`, { method: "PUT" }) };
}

/** Tabs of one window, one after the other in front; the last is an empty one. */
async function hiddenOpen(folder, url, count, counter) {
	const { browser, open } = await windowStart(folder);
	for (let i = 0; i < count; i++) {
		const before = counter.asked;
		await open(url);
		await until("questions of a tab in front", () => counter.asked > before + 10);
	}
	console.log(`tabs: ${count} asked ${counter.asked} times before they were hidden`);
	await open("about:blank");
	await pause(SETTLE_MS);
	return browser;
}

async function periodTell(seen, counter, seconds) {
	const sum = of => seen.reduce((total, page) => total + of(page), 0);
	const heaps = await Promise.all(seen.map(async page => (await page.session.send("Runtime.getHeapUsage")).usedSize / MIB));
	console.log(`tabs: ${seen.length} seen ask ${(sum(page => page.asked) / seconds).toFixed(1)} a second, ${sum(page => page.failed)} failed, ` +
		`JavaScript ${Math.min(...heaps).toFixed(1)} to ${Math.max(...heaps).toFixed(1)} MiB; the hidden ones asked ${counter.asked} times`);
	seen.forEach(page => { page.asked = page.failed = 0; });
	counter.asked = 0;
}

const [url, seconds, tabs] = process.argv.slice(2);
const end = Date.now() + Number(seconds) * 1000, { port } = new URL(url);
const folder = await mkdtemp(join(tmpdir(), "ui-tabs-"));
const counter = await counterStart(port), browser = await browserOpen();
const hidden = await hiddenOpen(folder, url.replace(`:${port}`, `:${counter.address().port}`), Math.floor(tabs / 2), counter);
try {
	const seen = await seenOpen(browser, url, Math.ceil(tabs / 2));
	seen.forEach(page => { page.asked = 0; });
	counter.asked = 0;
	while (Date.now() < end) {
		const began = Date.now();
		await pause(Math.min(PERIOD_MS, Math.max(end - began, 1000)));
		await periodTell(seen, counter, (Date.now() - began) / 1000);
	}
	const complaints = seen.flatMap(page => page.complaints);
	console.log(`tabs: ${complaints.length} errors ${complaints.slice(0, 3).join("; ")}`);
} finally {
	await browser.close();
	hidden.kill();
	await new Promise(done => hidden.once("exit", done));
	counter.close();
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(0);
