import { JsonDecimal } from './exact-json.js';

/**
 * The same value with a plain number in place of every JsonDecimal, which are replaced where they stand: in arrays, in
 * objects, and in instances that class-transformer made of them.
 */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof JsonDecimal) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const pending: object[] = [value];
  // What a transformation of an added module has made may refer to itself.
  let seen: Set<object> | undefined;
  for (let holder = pending.pop(); holder; holder = pending.pop()) {
    if (ArrayBuffer.isView(holder)) continue;
    for (const [name, member] of Object.entries(holder) as [string, unknown][]) {
      if (typeof member !== 'object' || member === null) continue;
      if (member instanceof JsonDecimal) {
        (holder as Record<string, unknown>)[name] = member.valueOf();
        continue;
      }
      seen ??= new Set([value]);
      if (!seen.has(member)) pending.push(member);
      seen.add(member);
    }
  }
  return value;
}
