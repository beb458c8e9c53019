import { setTimeout as wait } from 'node:timers/promises';

const pauseMs = 20;
const deadlineMs = 60_000;

/** Waits until `/readyz` of every service responds with 200. Errors: throws if that takes longer than a minute. */
export async function waitUntilReady(urls: readonly string[]): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (const url of urls) {
    while (!(await isReady(url))) {
      if (Date.now() > deadline) throw new Error(`${url} was not ready within a minute.`);
      await wait(pauseMs);
    }
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
