import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { System } from './harness.ts';

/** The mails that have left a system, whose mail transport is a folder; lines of their texts are not broken. */
export function sentMails({ identity }: System): string[] {
  const folder = join(identity.keys.dataDir, 'mail');
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.eml')) : [];
  return files.map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('=\r\n', ''));
}
