// What the tests of the page share: Chromium without a window, a page whose errors count, steps that say how they ended.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.UI_MODULES, "node_modules/"));
const { chromium } = require("playwright-core");
export const AXE = require.resolve("axe-core/axe.min.js");
export const PATIENCE_MS = 60_000;

export const counts = { passed: 0, failed: 0 };

/** One step of a journey: its failure does not end the others. */
export async function step(name, action) {
	try {
		const note = await action();
		counts.passed++;
		console.log(`ok ${name}${typeof note === "string" ? ` - ${note}` : ""}`);
	} catch (error) {
		counts.failed++;
		console.log(`not ok ${name}: ${String(error.message ?? error).split("\n").slice(0, 6).join(" / ")}`);
	}
}

export function must(condition, text) {
	if (!condition)
		throw new Error(text);
}

/** Waits until a check answers with something true. */
export async function until(what, check) {
	const end = Date.now() + PATIENCE_MS;
	for (;;) {
		const found = await check();
		if (found)
			return found;
		must(Date.now() < end, `never came: ${what}`);
		await new Promise(done => setTimeout(done, 50));
	}
}

export async function browserOpen() {
	return await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
	});
}

/** A page; what it throws or logs as an error is in page.complaints. */
export async function pageOpen(browser, url, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1360, height: 820 }, acceptDownloads: true, ...options });
	context.setDefaultTimeout(PATIENCE_MS);
	const page = await context.newPage();
	page.complaints = [];
	page.on("pageerror", error => page.complaints.push(error.message));
	page.on("console", message => message.type() === "error" && !/ERR_CONNECTION|Failed to load resource/.test(message.text()) && page.complaints.push(message.text()));
	await page.goto(url);
	return page;
}

/** A program that prints one line of JSON with its address first. */
export async function serverStart(command, options = {}) {
	const server = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"], ...options });
	const line = await new Promise((done, fail) => {
		let text = "";
		server.stdout.on("data", data => {
			text += data;
			if (text.includes("\n"))
				done(text.split("\n")[0]);
		});
		server.on("exit", code => fail(new Error(`the server ended with ${code}`)));
	});
	return { server, url: JSON.parse(line).url };
}

export async function serverEnd(server, signal = "SIGTERM") {
	// One that was killed has a signal and no exit code.
	if (server.exitCode !== null || server.signalCode !== null)
		return;
	const ended = new Promise(done => server.once("exit", done));
	server.kill(signal);
	await ended;
}

/** Does a canvas show more than one colour? */
export function isDrawn(page, selector) {
	return page.locator(selector).first().evaluate(canvas => {
		if (!canvas.width || !canvas.height)
			return false;
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
		for (let i = 0; i < data.length && seen.size < 4; i += 4 * 7)
			seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
		return seen.size >= 4;
	});
}

/** Serious findings of axe, as sentences. */
export async function axeFindings(page) {
	await page.evaluate(require("node:fs").readFileSync(AXE, "utf8"));
	const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
	return violations.filter(one => one.impact === "serious" || one.impact === "critical")
		.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(" ")).slice(0, 3).join(", ")}`);
}

export async function picture(page, name) {
	if (process.env.UI_PICTURES)
		await page.screenshot({ path: join(process.env.UI_PICTURES, `${name}.png`) });
}

export const chosenFlame = ".picture.flame .graph canvas";
