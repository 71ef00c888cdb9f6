#!/usr/bin/env node
// The petstore command: builds what is stale, where the project is there to be built, then runs it.
import { existsSync } from 'node:fs';
import { refuseOtherNode } from './supported-node.js';

refuseOtherNode();
void run();

async function run() {
  const script = new URL('../scripts/build-if-stale.mjs', import.meta.url);
  if (existsSync(script)) (await import(script.href)).buildIfStale();
  await import('../dist/bundle/cli/main.js');
}
