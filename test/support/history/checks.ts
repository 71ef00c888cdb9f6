import {
  AFTER_FAULT_MS,
  type History,
  type ListOfPets,
  type Read,
  type Write,
  overlap,
  time,
} from './history.js';
import { HEALS_WITHIN_MS, LONGEST_REQUEST_MS, type Promises } from './promises.js';
import { brokenQuotas } from './quota-checks.js';

/** All violations of promises in a history, each as a sentence. */
export function brokenPromises(history: History, promises: Promises): string[] {
  return [
    ...brokenResponses(history),
    ...staleReads(history, promises),
    ...brokenWrites(history, promises),
    ...brokenQuotas(history, promises),
    ...history.heals
      .filter((ms) => ms > HEALS_WITHIN_MS)
      .map((ms) => `an instance wrote again only ${Math.round(ms)} ms after the last fault`),
  ];
}

/** Requests that hang, connections that break without a cause, unexpected statuses, and invalid errors. */
function brokenResponses({ exchanges, faults }: History): string[] {
  const down = faults.filter(({ kind }) => kind.startsWith('instance'));
  return exchanges.flatMap((exchange) => {
    const { what, on, status, allowed, fault, start, end } = exchange;
    const name = `${what} on ${on} at ${time(start)}`;
    if (end - start > LONGEST_REQUEST_MS) return [`${name} took ${Math.round(end - start)} ms`];
    if (status === undefined)
      return down.some((one) => one.on === on && overlap(exchange, one, AFTER_FAULT_MS))
        ? []
        : [`${name} was aborted, though the instance ran`];
    if (status !== 503 && !allowed.includes(status)) return [`${name}: ${status} ${fault ?? ''}`];
    return fault === undefined ? [] : [`${name}: ${status} ${fault}`];
  });
}

/** A fact about a subject from some time on: it has at least this version. */
interface Fact {
  readonly version: number;
  readonly at: number;
  readonly via: Write['via'];
  /** The instance that acknowledged the write. */
  readonly on?: number | undefined;
}

/** The versions of a subject in the order in which they were written. */
interface Subject {
  readonly name: string;
  readonly versions: readonly Write[];
  readonly facts: Fact[];
}

/** Responses that show a value from before an acknowledged write, or a value that was never written. */
function staleReads(history: History, promises: Promises): string[] {
  const subjects = subjectsOf(history.writes);
  const broken: string[] = [];
  const redis = history.faults.filter(({ kind }) => kind.startsWith('redis'));
  const posted = new Map(history.posts.map((post) => [post.value, post]));
  let pets = [...subjects.values()].filter(({ name }) => name.startsWith('pet:'));
  for (const read of history.reads.toSorted((one, other) => one.start - other.start)) {
    const name = `${read.what} on ${read.on ?? 'the database'} at ${time(read.start)}`;
    const about = typeof read.about === 'string' ? read.about : '';
    // An instance that counts without Redis reports its share of the limit.
    if (about.startsWith('limit:') && redis.some((one) => overlap(one, read, AFTER_FAULT_MS))) continue;
    if (about === '') pets = pets.filter((pet) => !isGone(pet, read, promises));
    const covered = about === '' ? pets : [subjects.get(about)];
    const shown = [...read.shows.keys()].map((key) => subjects.get(key));
    for (const subject of new Set([...covered, ...shown])) {
      if (subject === undefined) continue;
      const fault = staleIn(subject, read, promises);
      if (fault !== undefined) broken.push(`${name}: ${fault}`);
    }
    if (new Set(read.shows.values()).size < read.shows.size) broken.push(`${name}: shows an animal twice`);
    for (const [key, value] of read.shows) {
      const post = posted.get(value);
      if (!subjects.has(key) && (post === undefined || post.start > read.end))
        broken.push(`${name}: ${key} is ${value}, which nobody wrote`);
    }
  }
  return broken;
}

/**
 * The violations in the values that a response shows of a subject. Where this is promised, these values become facts for later responses.
 */
function staleIn(subject: Subject, read: Read, promises: Promises): string | undefined {
  const { name, versions, facts } = subject;
  const known = latest(subject, read, promises);
  const least = known?.version ?? -1;
  const possible = versions.map(({ start }, at) => at >= least && start < read.end);
  const shown = read.shows.get(name);
  const { about } = read;
  const agrees = (value: string | undefined) =>
    shown === undefined && typeof about !== 'string' ? !isListed(name, value, about) : value === shown;
  const version = versions.findIndex(({ value }, at) => possible[at] && agrees(value));
  if (version === -1 && !(least === -1 && agrees(undefined)))
    return known === undefined
      ? `${name} is ${shown ?? 'missing'}, which nobody wrote`
      : `${name} is ${shown ?? 'missing'}, not ${versions[least]?.value ?? 'gone'}, which was known by ${known.via} ${Math.round(read.start - known.at)} ms before`;
  const via = versions[version]?.via;
  // A row that is missing from a list may have a different status.
  const isCertain = shown !== undefined || about === name;
  if (promises.isMonotonic && isCertain && via !== undefined && version > least)
    facts.push({ version, at: read.end, via });
  return undefined;
}

/** The newest version that a read must know. */
function latest({ name, versions, facts }: Subject, read: Read, promises: Promises): Fact | undefined {
  const isRow = name.startsWith('pet:');
  const isKnown = ({ version, at, via, on }: Fact) => {
    const wasRefused = /^(?:key|state):/.test(name) && versions[version - 1]?.value !== 'works';
    const isAtOnce = (via === 'http' && on === read.on) || (wasRefused && promises.isRefusalReadAnew);
    return at + (isRow ? promises.rowsMs[via] : isAtOnce ? 0 : promises.keysMs[via]) <= read.start;
  };
  let newest: Fact | undefined;
  for (const fact of facts) if (isKnown(fact) && fact.version > (newest?.version ?? -1)) newest = fact;
  return newest;
}

/**
 * Whether a subject is deleted for this read and all later ones. A response that shows it anyway is reported with the value that it shows.
 */
function isGone(subject: Subject, read: Read, promises: Promises): boolean {
  const known = latest(subject, read, promises);
  const last = subject.versions.length - 1;
  return known?.version === last && subject.versions[last]?.value === undefined;
}

function subjectsOf(writes: readonly Write[]): Map<string, Subject> {
  const subjects = new Map<string, Subject & { versions: Write[] }>();
  for (const write of writes.toSorted((one, other) => one.start - other.start)) {
    const { subject: name, end, via, on } = write;
    const subject = subjects.get(name) ?? { name, versions: [], facts: [] };
    subjects.set(name, subject);
    subject.versions.push(write);
    if (end !== undefined) subject.facts.push({ version: subject.versions.length - 1, at: end, via, on });
  }
  return subjects;
}

function isListed(name: string, value: string | undefined, { status, lastId }: ListOfPets): boolean {
  if (value === undefined || (lastId !== undefined && Number(name.slice('pet:'.length)) > lastId))
    return false;
  return status === undefined || value.startsWith(`${status} `);
}

/**
 * Acknowledged animals that are not stored, animals that are stored twice or with values that were never sent, and retries with a different
 * response.
 */
function brokenWrites({ stored, writes, posts }: History, promises: Promises): string[] {
  const readBack: Read = {
    what: 'read back',
    start: Infinity,
    end: Infinity,
    about: {},
    shows: new Map(stored.map(({ id, value }) => [`pet:${id}`, value])),
  };
  const pets = writes.filter(({ subject }) => subject.startsWith('pet:'));
  const lost = [...subjectsOf(pets).values()].flatMap((pet) => staleIn(pet, readBack, promises) ?? []);
  const subjects = new Set(pets.map(({ subject }) => subject));
  const sent = new Set(posts.map(({ value }) => value));
  const strangers = stored.filter(({ id, value }) => !subjects.has(`pet:${id}`) && !sent.has(value));
  const created = new Map<string, Set<string>>();
  // A row that was changed later has a different value, so this compares the numbers of acknowledged and stored rows.
  const note = (value: string, id: number) =>
    created.set(value, (created.get(value) ?? new Set()).add(String(id)));
  for (const { value, text } of posts) if (text !== undefined) note(value, idOf(text));
  for (const { value, id } of stored) if (sent.has(value)) note(value, id);
  const texts = new Map<string, Set<string>>();
  for (const { idempotencyKey: key, text } of posts)
    if (key !== undefined && text !== undefined) texts.set(key, (texts.get(key) ?? new Set()).add(text));
  return [
    ...lost.map((fault) => `stored: ${fault}`),
    ...strangers.map(({ id, value }) => `stored: ${id} is ${value}, which nobody wrote`),
    ...[...created]
      .filter(([, ids]) => ids.size > 1)
      .map(([value, ids]) => `${value} was added ${ids.size} times: ${[...ids].join(', ')}`),
    ...[...texts].filter(([, all]) => all.size > 1).map(([, all]) => `a retry got ${[...all].join(' or ')}`),
  ];
}

function idOf(text: string): number {
  return (JSON.parse(text) as { id: number }).id;
}
