// Preloaded into a process (node --import): kills it before step KILLED_AT, counted from 1. A step is a change to the file system or a call
// of sqlite3. A process that is not killed writes its number of steps to the file named by STEPS. With NO_LINKS, creating links fails, as
// on a file system that does not support them.
import { writeFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const sqlite3 = createRequire(import.meta.url)('sqlite3');
const { KILLED_AT, NO_LINKS, STEPS } = process.env;
let steps = 0;

function counted(holder, name) {
  const plain = holder[name];
  holder[name] = function (...args) {
    steps += 1;
    if (steps === Number(KILLED_AT)) process.kill(process.pid, 'SIGKILL');
    return plain.apply(this, args);
  };
}

if (NO_LINKS) files.link = () => Promise.reject(Object.assign(new Error('link'), { code: 'EPERM' }));
for (const name of ['chmod', 'chown', 'copyFile', 'link', 'open', 'rename', 'rm', 'unlink'])
  counted(files, name);
syncBuiltinESMExports();
for (const name of ['all', 'close', 'exec', 'prepare', 'run']) counted(sqlite3.Database.prototype, name);
process.on('exit', () => writeFileSync(STEPS, String(steps)));
