#!/usr/bin/env node
// The petstore command: builds what is stale, where the project is there to be built, then runs it.
import { existsSync } from 'node:fs';
import { modulesFile } from './project-modules.js';
import { refuseOtherNode } from './supported-node.js';

refuseOtherNode();
refuseGoneFolder();
void run();

async function run() {
  const script = new URL('../scripts/build-if-stale.mjs', import.meta.url);
  if (existsSync(script)) (await import(script.href)).buildIfStale();
  // Modules of a project import `petstore-service`, which must be the copy that runs: the bundle is another.
  await import(modulesFile() === undefined ? '../dist/bundle/cli/main.js' : '../dist/src/cli/main.js');
}

/** Ends the process with 1, and a sentence on standard error, where the working directory was removed: much that is imported asks for it. */
function refuseGoneFolder() {
  try {
    process.cwd();
  } catch {
    process.stderr.write(
      'The working directory is not there any more. Change to the folder of the service.\n',
    );
    process.exit(1);
  }
}
