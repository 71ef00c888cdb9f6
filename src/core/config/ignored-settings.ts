import { type Environment, declaredSettings } from './define-settings.js';
import { environmentOfProcess } from './env-file.js';

/** Minimum length of names that are compared with one letter added or replaced, because shorter ones often match real words. */
const MIN_LENGTH = 5;

/** Removed settings and their replacements, to complete "no longer exists: …". */
const REMOVED: Readonly<Record<string, string>> = {
  WEB_CONCURRENCY: 'run one instance per core, each on its own port, behind a proxy (docs/scale.md)',
};

/** A line for each ignored variable, without its value: a removed setting, or a misspelled name of an unset one. */
export function ignoredSettings(environment: Environment = environmentOfProcess()): string[] {
  const names = declaredSettings().flatMap(({ settings }) => settings.map(({ variable }) => variable));
  const isSet = (name: string): boolean => (environment[name] ?? '').trim() !== '';
  const unset = names.filter((name) => !isSet(name));
  return Object.keys(environment)
    .filter((name) => !names.includes(name))
    .flatMap((name) => {
      const replaced = REMOVED[name];
      if (replaced !== undefined) return isSet(name) ? [`${name} no longer exists: ${replaced}.`] : [];
      const intended = unset.find((one) => isMisspelled(name, one));
      return intended === undefined
        ? []
        : [`${name} is not a setting and is ignored. Did you mean ${intended}?`];
    })
    .toSorted();
}

/** Whether a name is another one in a different case, or with one letter added, missing, replaced or swapped. */
function isMisspelled(name: string, intended: string): boolean {
  const upper = name.toUpperCase().replaceAll('-', '_');
  let same = 0;
  while (same < intended.length && upper[same] === intended[same]) same += 1;
  const found = upper.slice(same);
  const right = intended.slice(same);
  const isExchanged = found.length > 1 && `${found[1]}${found[0]}${found.slice(2)}` === right;
  if (found === right || found === right.slice(1) || isExchanged) return true;
  // HOSTS and POST are unrelated names; an added or replaced letter counts as a typo only in longer names.
  return intended.length >= MIN_LENGTH && (found.slice(1) === right || found.slice(1) === right.slice(1));
}
