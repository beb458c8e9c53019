import type { Print } from '@ticketing/events/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { extendLedgerFile, type LedgerLine, missingSince } from '@ticketing/service-kit/deletions/ledger-file.ts';
import { services } from '@ticketing/system/services.ts';
import { UsageError } from '../cli/command.ts';
import { operateAll } from '../dev/load-services.ts';
import { runProgram } from './run-program.ts';

/** Appends to a ledger what was deleted in a system that was started by `npm start`, since its last lines. */
export async function extendLedger(environment: Environment, file: string, print: Print): Promise<void> {
  await operateAll({ name: 'ledger', file }, print, environment);
}

/**
 * Appends to a ledger what was deleted in a system whose programs are run by a command, for example in containers. In the
 * command `{service}` stands for the name of a service.
 *
 * Errors: UsageError, if the command has failed for a service, after all were asked.
 */
export async function extendLedgerBy(command: string, file: string, print: Print): Promise<void> {
  let failed = 0;
  for (const { name } of services.filter(({ hasStore }) => hasStore)) {
    const since = missingSince(file, name).toISOString();
    const { code, printed, output } = await runProgram(command, name, `deletions ${since}`);
    const line = code === 0 ? readLine(printed, name) : undefined;
    if (line) extendLedgerFile(file, line, print);
    else print(`${name}: the command has printed no deletions: ${output.trim()}`);
    if (!line) failed += 1;
  }
  if (failed > 0) throw new UsageError(`The ledger lacks what ${failed} services have deleted.`);
}

/** Podman and docker may print further lines. */
function readLine(text: string, service: string): LedgerLine | undefined {
  const printed = text.split('\n').find((line) => line.startsWith('{"service":'));
  const line = JSON.parse(printed ?? '{}') as Partial<LedgerLine>;
  return line.service === service && typeof line.until === 'string'
    ? { ...line, service, until: line.until }
    : undefined;
}
