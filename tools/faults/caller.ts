import { setTimeout as sleep } from 'node:timers/promises';
import { HttpTransport } from '../import/http-transport.ts';
import { isObject, type JsonObject, parseJson } from '../import/json.ts';

/** Sends requests to the gateway, and repeats those that a fault has disturbed. */
export interface Caller {
  /** Returns the JSON of the response. Errors: throws on a response that no fault explains, or after two minutes. */
  request(method: string, path: string, content?: object): Promise<JsonObject>;
  close(): void;
}

const deadlineMs = 120_000;
const timeoutMs = 15_000;
const pauseMs = 200;
const retryableStatuses = new Set([429, 502, 503, 504]);

/** Opens connections to the gateway. After `signal` has aborted no request is repeated. */
export function openCaller(url: URL, token: string, signal: AbortSignal): Caller {
  const transport = new HttpTransport(url, token, 4, timeoutMs);
  return {
    async request(method, path, content) {
      const body = content ? { body: JSON.stringify(content) } : {};
      for (const deadline = Date.now() + deadlineMs; ; ) {
        const response = await transport.send({ method, path, ...body, wantsBody: true }).catch(() => undefined);
        const parsed = response && parseJson(response.text);
        if (response && response.status < 300 && isObject(parsed)) return parsed;
        const isRetryable = response === undefined || retryableStatuses.has(response.status);
        if (!isRetryable || signal.aborted || Date.now() > deadline) {
          const what = response ? `${response.status}: ${response.text.slice(0, 300)}` : 'nothing';
          throw new Error(`${method} ${path} responds with ${what}`);
        }
        await sleep(pauseMs);
      }
    },
    close: () => transport.close(),
  };
}
