// Preloaded into a process (node --import): appends the path or URL of each script that V8 loads to the file named by LOADED_MODULES, one
// per line.
import { appendFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.on('Debugger.scriptParsed', ({ params: { url } }) => {
  appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
});
session.post('Debugger.enable');
