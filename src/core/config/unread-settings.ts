import { type Environment, declaredSettings } from './define-settings.js';
import { environmentOfProcess } from './env-file.js';

/** Names of at least this length may have a letter too many or another one; of shorter ones too many are words themselves. */
const LONG_ENOUGH = 5;

/** Settings of earlier versions that are gone, and what replaces each, in words that complete "is not read any more: …". */
const GONE: Readonly<Record<string, string>> = {
  WEB_CONCURRENCY:
    'run one instance for each core, each on its own port, and a proxy in front of them (docs/scale.md)',
};

/** A line, without its value, for each variable that is not read: a setting that is gone, or a misspelt name of an unset one. */
export function unreadSettings(environment: Environment = environmentOfProcess()): string[] {
  const names = declaredSettings().flatMap(({ settings }) => settings.map(({ variable }) => variable));
  const isSet = (name: string): boolean => (environment[name] ?? '').trim() !== '';
  const unset = names.filter((name) => !isSet(name));
  return Object.keys(environment)
    .filter((name) => !names.includes(name))
    .flatMap((name) => {
      const replaced = GONE[name];
      if (replaced !== undefined) return isSet(name) ? [`${name} is not read any more: ${replaced}.`] : [];
      const meant = unset.find((one) => isMisspelt(name, one));
      return meant === undefined ? [] : [`${name} is no setting and is not read: did you mean ${meant}?`];
    })
    .toSorted();
}

/** Whether a name is another one in other letters, or with one letter too many, too few, another, or exchanged with its neighbour. */
function isMisspelt(name: string, meant: string): boolean {
  const upper = name.toUpperCase().replaceAll('-', '_');
  let same = 0;
  while (same < meant.length && upper[same] === meant[same]) same += 1;
  const found = upper.slice(same);
  const right = meant.slice(same);
  const isExchanged = found.length > 1 && `${found[1]}${found[0]}${found.slice(2)}` === right;
  if (found === right || found === right.slice(1) || isExchanged) return true;
  // HOSTS and POST are names of others; a letter too many or another one is a slip only in a longer name.
  return meant.length >= LONG_ENOUGH && (found.slice(1) === right || found.slice(1) === right.slice(1));
}
