// Functions with known names that the compiler will not merge, for ever.
'use strict';

function innerLoop(rounds) {
	let sum = 0;
	for (let i = 0; i < rounds; i++)
		sum = (sum * 31 + i) % 1000003;
	return sum;
}

function middleStep(rounds) {
	return innerLoop(rounds) + innerLoop(rounds / 2) + rounds % 7;
}

function outerWork(rounds) {
	const parts = [];
	for (let i = 0; i < 8; i++)
		parts.push(middleStep(rounds + i));
	return parts.map((part) => part % 11).reduce((left, right) => left + right, 0);
}

function turn() {
	outerWork(20000);
	JSON.parse(JSON.stringify({ list: Array.from({ length: 50 }, (_, i) => ({ i })) }));
	setImmediate(turn);
}

turn();
