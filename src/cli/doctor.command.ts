import { command } from './command.js';

/** `petstore doctor`: whether the service can work here. */
export const DOCTOR_COMMAND = command('doctor', {
  description: 'look whether the service can work here; changes nothing, and may run beside it',
  examples: ['doctor', 'doctor --json'],
  run: async (call) => (await import('./doctor.action.js')).doctor(call),
});
