// Reads requests with the parser of node (llhttp), for test_http.py: each comes as four bytes of length (little endian)
// and itself.  A line of JSON for each: what came of it.

import { readFileSync } from "node:fs";

process.removeAllListeners("warning");
process.on("warning", () => undefined);
const { HTTPParser, methods } = process.binding("http_parser");

function read(bytes) {
	const parser = new HTTPParser(), found = { complete: false, error: "", fields: [] };
	parser.initialize(HTTPParser.REQUEST, {});
	// What follows the first request is another one's business.
	parser[HTTPParser.kOnHeaders] = (headers, url) => {
		if (found.complete)
			return;
		found.fields.push(...headers);
		found.url = url;
	};
	parser[HTTPParser.kOnHeadersComplete] = (major, minor, headers, method, url, status, message, upgrade, isKept) => {
		if (found.complete)
			return 0;
		found.fields.push(...(headers ?? []));
		Object.assign(found, { complete: true, version: `${major}.${minor}`, method: methods[method], url: url || found.url, upgrade, isKept });
		return 0;
	};
	const result = parser.execute(bytes, 0, bytes.length);
	if (result instanceof Error)
		found.error = result.code ?? String(result);
	parser.close();
	return found;
}

const all = readFileSync(0), lines = [];
for (let at = 0; at < all.length;) {
	const size = all.readUInt32LE(at);
	lines.push(JSON.stringify(read(all.subarray(at + 4, at + 4 + size))));
	at += 4 + size;
}
process.stdout.write(`${lines.join("\n")}\n`);
