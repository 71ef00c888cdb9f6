/** Path of the copy of the service that runs in this process. */
const COPY = Symbol.for('petstore-service');
const home = new URL('.', import.meta.url).href;
const loaded = globalThis as { [COPY]?: string };

// Each copy has separate scopes, errors and classes: what a package declares in one does not exist in the other.
if (loaded[COPY] !== undefined && loaded[COPY] !== home) {
  throw new Error(
    `petstore-service is in this process twice: ${loaded[COPY]} and ${home}. A package that imports it must name it in its ` +
      'peerDependencies, and is installed in a project that `petstore new` has made.',
  );
}
loaded[COPY] = home;
