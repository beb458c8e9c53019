import { setImmediate } from 'node:timers/promises';

/** Waits for some turns of the event loop. Work that waits for fewer of them goes on before. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}
