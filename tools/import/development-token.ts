import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../cli/command.ts';

const program = join(import.meta.dirname, '..', 'cli', 'main.ts');

/** Makes an access token with a right for the local system, with its development key. Errors: UsageError. */
export async function makeDevelopmentToken(dataFolder: string, right: string): Promise<string> {
  const claims = ['--sub', '900', '--kind', 'serviceWorker', '--role', '2', '--permissions', right];
  try {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [program, 'token', '--data', dataFolder, ...claims]);
    const token = stdout.trim().split(/\s+/).at(-1) ?? '';
    if (token !== '') return token;
  } catch (error) {
    throw new UsageError(`No token could be made: ${errorLine(error)}. ${advice}`);
  }
  throw new UsageError(`No token could be made: the token command printed none. ${advice}`);
}

const advice = 'Start the system on this machine first (npm start), or give a token by --token or IMPORT_TOKEN.';

function errorLine(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const shownLine = stderr.split('\n').find((line) => /error/i.test(line)) ?? stderr.split('\n').at(-1);
  return (shownLine || 'the token command failed').replace(/\.$/, '');
}
