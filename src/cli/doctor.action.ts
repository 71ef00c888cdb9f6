import { SettingsError } from '../core/config/define-settings.js';
import { type Settings, loadSettings } from '../core/config/settings.js';
import { ignoredSettings } from '../core/config/ignored-settings.js';
import type { Call } from './frame/call.js';
import { databaseFindings } from './doctor/database-checks.js';
import { exposedEnvFile } from '../database/sqlite/private-files.js';
import { type Finding, examined, fail, skip, warn } from './doctor/finding.js';
import { nodeText, portChecks, redisChecks } from './doctor/machine-checks.js';
import { Refusal } from '../core/refusal.js';
import { tableOf } from './frame/table.js';

const ALLOWED = 'all are valid, and none is misspelled or obsolete';
const IN_MAINTENANCE = 'MAINTENANCE is on: the service would only return 503';

/** `petstore doctor`: checks whether the service can run here. */
export async function doctor(call: Call): Promise<void> {
  const early = await examined([
    ['node', nodeText],
    ['declarations', () => call.shell.loadModules().then(() => 'every module can be imported')],
  ]);
  const areImported = early.every(({ check, state }) => check !== 'declarations' || state === 'ok');
  const findings = [...early, ...(await findingsBySettings(areImported))];
  const failed = new Set(findings.filter(({ state }) => state === 'wrong').map(({ check }) => check));
  const rows = findings.map(({ check, state, found }) => [check, state, found]);
  await call.show({ ok: failed.size === 0, findings }, () => tableOf([['CHECK', 'STATE', 'FOUND'], ...rows]));
  if (failed.size > 0) throw new Refusal(`Checks that failed: ${[...failed].join(', ')}.`);
}

/** Invalid settings and misspelled names. Without valid settings, nothing else can be checked. */
async function findingsBySettings(areImported: boolean): Promise<Finding[]> {
  const loaded = await examined([['settings', () => loadSettings() && ALLOWED]]);
  const names = await examined([['settings', namesText]]);
  // If .env cannot be read, both report it.
  const others = names.filter(({ found }) => loaded.every((one) => one.found !== found));
  if (loaded.some(({ state }) => state === 'wrong'))
    return [...loaded, ...others.filter(({ state }) => state === 'wrong')];
  const settings = loadSettings();
  const ports = await examined(portChecks(settings));
  const database = await databaseFindings(settings, areImported);
  const redis = await examined(await redisChecks(settings));
  const file = await examined([['permissions', () => envFileText(settings)]]);
  return [...names, ...ports, ...database, ...redis, ...file];
}

async function envFileText(settings: Settings): Promise<string> {
  const error = await exposedEnvFile(settings);
  if (error !== undefined) fail(error);
  if (settings.nodeEnv !== 'production')
    skip('not checked outside production, where other users may read .env');
  return 'access to .env is restricted';
}

function namesText(): string {
  const ignored = ignoredSettings();
  if (ignored.length > 0) throw new SettingsError(ignored);
  if (loadSettings().maintenance === 'on') warn(`${ALLOWED}; ${IN_MAINTENANCE}`);
  return ALLOWED;
}
