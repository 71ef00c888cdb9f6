/** Path of the copy of the service that runs in this process. */
const COPY = Symbol.for('petstore-service');
const home = new URL('.', import.meta.url).href;
const loaded = globalThis as { [COPY]?: string };

// Each copy has separate scopes, errors and classes, so a declaration in one copy does not exist in the other.
if (loaded[COPY] !== undefined && loaded[COPY] !== home) {
  throw new Error(
    `Two copies of petstore-service are loaded in this process: ${loaded[COPY]} and ${home}. List it in the peerDependencies of each ` +
      'package that imports it, and install that package in a project created by `petstore new`.',
  );
}
loaded[COPY] = home;
