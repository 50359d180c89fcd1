// Calls a WebAssembly module, again and again: wasm.js FILE.
const { readFileSync } = require("fs");

function work(instance) {
	for (let i = 0; i < 20; i++)
		instance.exports.outer(i);
	setImmediate(work, instance);
}

WebAssembly.instantiate(readFileSync(process.argv[2])).then(({ instance }) => work(instance));
