import { withApplication, importApplication } from '../../src/cli/application.js';
import { runPetstore } from '../../src/cli/program.js';
import { BARE_ENVIRONMENT, type Finished } from './service-process.js';

/**
 * Runs the petstore command as `petstore()` of service-process.ts does, in the process of the suite: many times as fast. One after the
 * other, in a suite that has its process to itself, because the working directory and the variables are those of the process.
 */
export async function petstoreHere(
  folder: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const [cwd, variables] = [process.cwd(), { ...process.env }];
  let [stdout, stderr] = ['', ''];
  const writeError = (text: string): void => void (stderr += text);
  process.chdir(folder);
  setVariables({ ...BARE_ENVIRONMENT, PORT: '0', MANAGEMENT_PORT: '0', ...environment });
  try {
    const code = await runPetstore(args, {
      withApp: (command, use) => withApplication(command, use, writeError),
      loadModules: async () => void (await importApplication()),
      write: (text) => (stdout += text),
      writeError,
    });
    return { code, signal: null, stdout, stderr };
  } finally {
    process.chdir(cwd);
    setVariables(variables);
  }
}

function setVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
}
