/*
 * Holds a file against a JSON schema, with ajv.  Prints what is wrong; nothing when it fits.
 *
 *   usage: node schema.js FOLDER-OF-MODULES SCHEMA.json FILE.json
 */
"use strict";
const [modules, schema, file] = process.argv.slice(2);
const read = path => JSON.parse(require("fs").readFileSync(path, "utf8"));
const Ajv = require(require.resolve("ajv", { paths: [modules] }));
const fits = new Ajv({ allErrors: true }).compile(read(schema));
if (!fits(read(file)))
	console.log(JSON.stringify(fits.errors.slice(0, 5)));
