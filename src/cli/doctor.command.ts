import type { Command } from 'commander';
import { loadSettings } from '../config/load-settings.js';
import { examples, jsonOption } from './arguments.js';
import { examine, type Finding } from './doctor.checks.js';
import { Refusal } from './refusal.js';
import { print, type Shell } from './shell.js';
import { tableOf } from './table.js';

/** `petstore doctor`: whether the service can work here. */
export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('look whether the service can work here; changes nothing, and may run beside it')
    .addOption(jsonOption())
    .addHelpText('after', examples('doctor', 'doctor --json'))
    .action(async (options: { json: boolean }) => {
      const findings = await examine(loadSettings());
      const wrong = findings.filter(({ state }) => state === 'wrong').map(({ check }) => check);
      print(shell, options.json, { isWell: wrong.length === 0, findings }, textOf(findings));
      if (wrong.length > 0) throw new Refusal(`Something is wrong: ${wrong.join(', ')}.`);
    });
}

function textOf(findings: readonly Finding[]): string {
  const rows = findings.map(({ check, state, found }) => [check, state, found]);
  return tableOf([['CHECK', 'STATE', 'FOUND'], ...rows]);
}
