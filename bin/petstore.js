#!/usr/bin/env node
// The petstore command: builds what is stale, then runs it.
import { buildIfStale } from '../scripts/build-if-stale.mjs';

buildIfStale();
await import('../dist/src/cli/main.js');
