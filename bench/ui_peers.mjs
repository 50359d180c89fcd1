// What speedscope takes in Chromium to show a profile: node ui_peers.mjs FOLDER FILE, by bench/ui.py --peers. FOLDER is its
// release (node_modules/speedscope/dist/release), FILE what limpet export -f speedscope has written.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { browserOpen, pageOpen } from "../tests/ui_page/browser.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };
const PATIENCE_MS = 300_000;

/** Speedscope's files, and the profile as /profile.json. */
async function filesServe(folder, profile) {
	const server = createServer((request, answer) => {
		const path = request.url === "/profile.json" ? profile : join(folder, new URL(request.url, "http://here").pathname);
		try {
			answer.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream", "Content-Length": statSync(path).size });
			createReadStream(path).pipe(answer);
		} catch {
			answer.writeHead(404).end();
		}
	});
	await new Promise(done => server.listen(0, "127.0.0.1", done));
	return server;
}

const [folder, profile] = process.argv.slice(2);
const server = await filesServe(folder, profile);
const browser = await browserOpen();
try {
	const page = await pageOpen(browser, "about:blank");
	const here = `http://127.0.0.1:${server.address().port}`, begin = Date.now();
	await page.goto(`${here}/index.html#profileURL=${encodeURIComponent(`${here}/profile.json`)}`);
	const shown = page.waitForFunction(() => document.body.innerText.includes("Sandwich") && document.querySelector("canvas"), null, { timeout: PATIENCE_MS, polling: 20 });
	const crashed = new Promise((_, fail) => page.once("crash", () => fail(new Error("the page crashed"))));
	await Promise.race([shown, crashed]);
	const took = Date.now() - begin, heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
	console.log(`speedscope: shown after ${(took / 1000).toFixed(2)} s, ${Math.round(heap / 1048576)} MiB of JavaScript`);
} catch (error) {
	console.log(`speedscope: ${String(error.message).split("\n")[0]}`);
} finally {
	await browser.close();
	server.closeAllConnections();
	server.close();
}
