#!/usr/bin/env node
// The petstore command. In a checkout, rebuilds stale files before it runs.
import { existsSync } from 'node:fs';
import { modulesFile } from './project-modules.js';
import { refuseOtherNode } from './supported-node.js';

refuseOtherNode();
refuseGoneFolder();
void run();

async function run() {
  const script = new URL('../scripts/build-if-stale.mjs', import.meta.url);
  if (existsSync(script)) (await import(script.href)).buildIfStale();
  // Modules of a project import `petstore-service`. The command must run the same copy, which the bundle is not.
  await import(modulesFile() === undefined ? '../dist/bundle/cli/main.js' : '../dist/src/cli/main.js');
}

/** Exits with 1 and a message on standard error if the working directory was removed, because many imported modules read its path. */
function refuseGoneFolder() {
  try {
    process.cwd();
  } catch {
    process.stderr.write('The working directory no longer exists. Change to the folder of the service.\n');
    process.exit(1);
  }
}
