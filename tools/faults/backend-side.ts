import { freePort } from '@ticketing/testkit/free-port.ts';
import { openCaller } from './caller.ts';
import { type ClientsOptions, startClient } from './clients.ts';
import { toRecordFile } from './endpoints.ts';
import type { BackendCall } from './execution-verdict.ts';
import { readRecords } from './record-file.ts';

/** The backend system that the intents of a run call, and the AI agent that proposes them. */
export interface BackendSide {
  /** The code of the intents. */
  code: string;
  /** The calls that have arrived. */
  calls(): BackendCall[];
  stop(): Promise<void>;
}

/** Starts the backend system, which is killed and frozen like other clients, and creates the AI agent. */
export async function startBackendSide({ system, token, dataDir, signal }: ClientsOptions): Promise<BackendSide> {
  const file = toRecordFile(dataDir, 'backend');
  const port = await freePort();
  const backend = startClient({
    name: 'backend',
    program: 'backend.ts',
    args: [String(port), file],
    variables: system.marks,
    log: system.log,
  });
  const caller = openCaller(system.url, token, signal);
  const agent = await caller.request('POST', '/aiAgent', {
    name: 'faults',
    detection: { keywords: ['faults'] },
    options: [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }],
    executor: { type: 'http', url: `http://127.0.0.1:${port}/`, timeoutMs: 5_000 },
  });
  caller.close();
  return {
    code: String(agent.slug),
    calls: () =>
      readRecords(file).map(({ txId, ticketId, intentId, hasEffect }) => ({
        txId: String(txId),
        ticketId: Number(ticketId),
        intentId: Number(intentId),
        hasEffect: hasEffect === true,
      })),
    stop: () => backend.stop(),
  };
}
