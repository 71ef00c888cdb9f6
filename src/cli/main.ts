import 'reflect-metadata';
import { runPetstore } from './program.js';
import { withApp } from './with-app.js';

// Whoever reads may stop reading: what was done is done all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await runPetstore(process.argv.slice(2), {
  withApp,
  write: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
});
