import { expect, vi } from 'vitest';

/** Waits until the service at a URL is ready. */
export async function untilReady(url: string): Promise<void> {
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), {
    timeout: 30_000,
    interval: 20,
  });
}
