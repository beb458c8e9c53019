import { parentPort } from 'node:worker_threads';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { JsonJob, JsonOutcome } from './json-thread.ts';
import { parseJson } from './parse-json.ts';

if (!parentPort) throw new Error('This module runs in a thread only.');
const port = parentPort;
port.on('message', (job: JsonJob) => {
  try {
    send(job);
  } catch (error) {
    port.postMessage(outcomeOf(error));
  }
});

function send(job: JsonJob): void {
  switch (job.kind) {
    case 'parse':
      port.postMessage({ value: parseJson(job.body) } satisfies JsonOutcome);
      break;
    case 'check': {
      const { violations } = parseJson(job.body);
      sendBytes({ body: job.body, violations }, job.body);
      break;
    }
    case 'write': {
      const written = new TextEncoder().encode(JSON.stringify(job.value));
      sendBytes(written, written);
      break;
    }
  }
}

function sendBytes(value: unknown, { buffer }: Uint8Array): void {
  port.postMessage({ value } satisfies JsonOutcome, buffer instanceof ArrayBuffer ? [buffer] : []);
}

function outcomeOf(error: unknown): JsonOutcome {
  if (!(error instanceof DomainError)) return { failed: error instanceof Error ? error.message : String(error) };
  const { code, reason, message, violations } = error;
  return { refused: { code, reason, message, violations } };
}
