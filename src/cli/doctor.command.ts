import { command } from './frame/command.js';

/** `petstore doctor`: checks whether the service can run here. */
export const DOCTOR_COMMAND = command('doctor', {
  description: 'check whether the service can run here; changes nothing; the service can be running',
  examples: ['doctor', 'doctor --json'],
  run: async (call) => (await import('./doctor.action.js')).doctor(call),
});
