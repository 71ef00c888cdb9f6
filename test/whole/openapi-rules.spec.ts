import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import { oas } from '@stoplight/spectral-rulesets';
import { describe, expect, it } from 'vitest';
import { openForAll } from '../support/opened.js';

/** Rules of OWASP's API Security Top 10 2023 that the documents do not follow, each with the reason. */
const OFF: Readonly<Record<string, string>> = {
  'owasp:api1:2023-no-numeric-ids': 'The specification has `petId` and `id` as int64.',
  'owasp:api3:2023-no-additionalProperties':
    'The details of an audit entry are a map, whose names differ with the action; bodies are closed.',
  'owasp:api4:2023-rate-limit': 'It takes one form of the headers, exactly; every response has both forms.',
  'owasp:api4:2023-array-limit':
    'It asks answers too. Pages are bounded by `limit`, and lists of a body by `maxItems` (Names).',
  'owasp:api4:2023-string-limit':
    'It asks answers too, and what HTTP bounds: 8,192 characters of a target, 16 KiB of headers. Texts of a body have a maxLength.',
  'owasp:api4:2023-string-restricted': 'Names and labels are for people: any text that can be stored.',
  'owasp:api4:2023-integer-limit-legacy':
    'The bounds of an int64 are no numbers that JavaScript reads exactly; its format states them. Others have bounds.',
  'owasp:api4:2023-integer-format':
    'The specification has `limit` and `status` as integers without a format.',
  'owasp:api8:2023-define-cors-origin':
    'Pages of other origins may call only where CORS_ORIGINS names them; by default none.',
  'owasp:api9:2023-inventory-access': 'Who reaches an address is up to the network of the operator.',
};

/** Rules of Spectral that are off by default, and which the documents do not follow. */
const OFF_BY_DEFAULT = {
  // Who operates the service, and at which address they read mail, only its users know.
  'contact-properties': 'off',
} as const;

const service = await openForAll();

/** What rules find in all documents of the service: `/v1 rule at path: message`. */
async function found(ruleset: RulesetDefinition): Promise<string[]> {
  const findings: string[] = [];
  for (const { prefix, document } of service.documents) {
    const spectral = new Spectral();
    spectral.setRuleset(ruleset);
    const results = await spectral.run(JSON.parse(JSON.stringify(document)));
    findings.push(
      ...results.map(({ code, path, message }) => `${code} ${prefix} ${path.join('.')}: ${message}`),
    );
  }
  return findings;
}

describe('the OpenAPI documents', () => {
  it('pass all rules of Spectral for OpenAPI', async () => {
    expect(await found({ extends: [[oas as RulesetDefinition, 'all']], rules: OFF_BY_DEFAULT })).toEqual([]);
  });

  it('pass the rules of OWASP, except those that are off for a reason', async () => {
    const all = await found({ extends: [[owasp as unknown as RulesetDefinition, 'all']] });
    // Callbacks go to servers of clients, which these rules are not for.
    const findings = all.filter((finding) => !finding.includes('.callbacks.'));
    const broken = findings.filter((finding) => !((finding.split(' ', 1)[0] ?? '') in OFF));
    expect(broken).toEqual([]);
    // A rule that nothing breaks any more need not be off.
    const needed = new Set(findings.map((finding) => finding.split(' ', 1)[0]));
    expect(Object.keys(OFF).filter((rule) => !needed.has(rule))).toEqual([]);
  });

  it('pass the recommended rules of Redocly without a warning', async () => {
    const files = (await readdir('docs')).filter((file) => /^openapi.*\.json$/.test(file));
    expect(files.length).toBeGreaterThanOrEqual(2);
    const cli = new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url).pathname;
    const paths = files.map((file) => `docs/${file}`);
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [cli, 'lint', ...paths, '--format=json'],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    );
    // It writes a document of JSON for each.
    const totals = [...stdout.matchAll(/"totals": (\{[^}]*\})/g)].map(
      ([, json = '']) => JSON.parse(json) as object,
    );
    expect(totals, stderr).toEqual(files.map(() => ({ errors: 0, warnings: 0, ignored: 0 })));
  });
});
