// An HTTP server whose answers cost something: hashing, JSON, timers, the thread pool.
'use strict';
const crypto = require('crypto');
const http = require('http');

const list = Array.from({ length: 200 }, (_, key) => ({ key, square: key * key }));

http.createServer((request, response) => {
	crypto.pbkdf2('limpet', request.url, 20, 32, 'sha256', (error, key) => {
		const copy = JSON.parse(JSON.stringify(list));
		const sum = copy.reduce((total, entry) => total + entry.square, 0);
		response.statusCode = error || sum !== 2646700 ? 500 : 200;
		setImmediate(() => response.end(key ? key.toString('hex') : ''));
	});
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
