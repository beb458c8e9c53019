import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { JsonJob, JsonOutcome } from './json-thread.ts';
import { parseJson } from './parse-json.ts';

if (!parentPort) throw new Error('This module runs in a thread only.');
const port = parentPort;

/** The size of a text whose garbage is collected at once: the next text would otherwise need twice the memory. */
const collectedBytes = 8 * 1024 * 1024;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

port.on('message', (job: JsonJob) => {
  let bytes = 'body' in job ? job.body.length : 0;
  try {
    bytes = send(job);
  } catch (error) {
    port.postMessage(toOutcome(error));
  }
  if (bytes >= collectedBytes) collectGarbage();
});

/** Sends the result of a job. Returns the bytes of its text. */
function send(job: JsonJob): number {
  switch (job.kind) {
    case 'parse':
      return sendParsed(job.body);
    case 'check':
      return sendBytes({ body: job.body, violations: parseJson(job.body).violations }, job.body);
    case 'write': {
      const written = new TextEncoder().encode(JSON.stringify(job.value));
      return sendBytes(written, written);
    }
  }
}

function sendParsed(body: Uint8Array): number {
  const { buffer, length } = body;
  const value = parseJson(body);
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  // Copying the value needs as much memory again.
  if (length >= collectedBytes) collectGarbage();
  port.postMessage({ value } satisfies JsonOutcome);
  return length;
}

/** Sends a value with bytes in it, which are moved. */
function sendBytes(value: unknown, { buffer, length }: Uint8Array): number {
  port.postMessage({ value } satisfies JsonOutcome, buffer instanceof ArrayBuffer ? [buffer] : []);
  return length;
}

function toOutcome(error: unknown): JsonOutcome {
  if (!(error instanceof DomainError)) return { failed: error instanceof Error ? error.message : String(error) };
  const { code, reason, message, violations } = error;
  return { refused: { code, reason, message, violations } };
}
