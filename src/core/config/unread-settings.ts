import { type Environment, declaredSettings } from './define-settings.js';
import { environmentOfProcess } from './settings.js';

/** Words of at least this length may differ by a letter that is another one; of shorter ones too many are words themselves. */
const LONG_ENOUGH = 5;

/** Settings of earlier versions that are gone, and what replaces each, in words that complete "is not read any more: …". */
const GONE: Readonly<Record<string, string>> = {
  WEB_CONCURRENCY:
    'run one instance for each core, each on a port of its own, and a proxy in front of them (docs/scale.md)',
};

/**
 * A line for each variable of the environment and of `.env` that is not read, though whoever set it expects that: a setting that is gone,
 * and what nearly has the name of one that is not set. Shows no value. Settings of modules that are not imported are not known.
 */
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

/**
 * Whether a name is another one with a slip in one or two of its words. Word by word, because REDIS_DB and REDIS_CA are both right;
 * a joined or split word counts as a slip, too.
 */
function isMisspelt(name: string, meant: string): boolean {
  const upper = name.toUpperCase().replaceAll('-', '_');
  if (upper.replaceAll('_', '') === meant.replaceAll('_', '')) return true;
  const words = upper.split('_');
  const right = meant.split('_');
  if (words.length !== right.length) return false;
  const slips = right.filter((word, at) => words[at] !== word);
  return slips.length <= 2 && right.every((word, at) => isNear(words[at] ?? '', word, right.length > 1));
}

/** Whether a word is another one, but for a letter too many, too few, exchanged with its neighbour, or another. */
function isNear(word: string, right: string, isOneOfSeveral: boolean): boolean {
  if (word === right) return true;
  const at = right.split('').findIndex((letter, index) => word[index] !== letter);
  const from = at === -1 ? right.length : at;
  const rest = right.slice(from);
  const found = word.slice(from);
  if (`${found[1]}${found[0]}${found.slice(2)}` === rest) return found.length > 1;
  if (right.length <= 2) return false;
  if (found === rest.slice(1)) return true;
  // HOSTS and POST are words of others; a letter too many or another one is a slip only in a longer name.
  const isTelling = isOneOfSeveral || right.length >= LONG_ENOUGH;
  return isTelling && (found.slice(1) === rest || found.slice(1) === rest.slice(1));
}
