// Loaded before a process starts (node --import): writes each module that it loads from then on to the file that
// LOADED_MODULES names, one line each.
import { appendFileSync } from 'node:fs';
import Module, { register } from 'node:module';

/** Hook of Node for modules that are imported; runs in its own thread, which has none of what is below. */
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
  return next(url, context);
}

const { _extensions: extensions } = Module;
for (const [extension, loader] of Object.entries(extensions))
  extensions[extension] = (module, file) => {
    appendFileSync(process.env.LOADED_MODULES, `${file}\n`);
    return loader(module, file);
  };

if (!process.env.LOADED_MODULES_HOOKED) {
  process.env.LOADED_MODULES_HOOKED = 'yes';
  register(import.meta.url);
}
