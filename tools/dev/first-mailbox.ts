import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The address of the mailbox that a new system has. Its domain is for examples only (RFC 2606). */
const firstMailbox = 'support@example.org';

/**
 * Gives a new system a mailbox, once, so that its first reply leaves before anything is set. One that has a subchannel or
 * tickets gets none. A file in the data folder says that this was done.
 *
 * Errors: the gateway refuses a request.
 */
export async function openFirstMailbox(dataDir: string, gatewayUrl: string, token: string): Promise<void> {
  const doneFile = join(dataDir, 'first-mailbox');
  if (existsSync(doneFile)) return;
  await openMailbox((path, body) => request(gatewayUrl + path, token, body));
  writeFileSync(doneFile, '');
}

type Send = (path: string, body?: object) => Promise<Record<string, unknown>>;

async function openMailbox(send: Send): Promise<void> {
  const { subchannels } = await send('/settings/subchannel');
  const { total } = await send('/ticket/search', { limit: 1 });
  if (!Array.isArray(subchannels) || subchannels.length > 0 || total !== 0) return;
  const mailbox = { channel: 'email', name: 'Support', interface: 'smtp', isDefault: true };
  await send('/settings/subchannel', { ...mailbox, data: { address: firstMailbox } });
}

async function request(url: string, token: string, body?: object): Promise<Record<string, unknown>> {
  const options = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { ...options, headers });
  if (!response.ok) throw new Error(`The first mailbox was refused: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}
