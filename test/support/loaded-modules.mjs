// Preloaded into a process (node --import): appends each module that the process loads to the file named by LOADED_MODULES, one per line.
import { appendFileSync } from 'node:fs';
import Module, { register } from 'node:module';

/** Node.js hook for imported modules. It runs in a separate thread, without access to the variables below. */
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
