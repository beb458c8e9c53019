import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { withVariables } from '../images/compose-variables.ts';
import { declareCommand, print } from './command.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy', 'compose');
const usage = `Makes what deploy/compose/compose.yaml needs, unless it exists: the keys of an issuer and of all services, and the
file .env with the key that encrypts secrets:

  npm run compose:init

  --dir DIR  the folder in which keys/ and .env are made (deploy/compose)
`;

const options = { dir: { type: 'string', default: folder } } as const;

export const command = declareCommand({ usage, options }, (values) => {
  const dir = resolve(values.dir);
  mkdirSync(dir, { recursive: true });
  const keys = developmentKeys(dir);
  // A container reads these files as another user. On this machine the folder keeps other users out.
  const read = [keys.issuerJwksFile, keys.internalJwksFile, ...services.map(({ name }) => keys.signingKeyFile(name))];
  for (const file of read) chmodSync(file, 0o644);
  const file = join(dir, '.env');
  const existing = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const text = withVariables(existing, { KEYS_DIR: join(dir, 'keys'), ENCRYPTION_KEY: keys.encryptionKey });
  if (text !== existing) writeFileSync(file, text, { mode: 0o600 });
  print(`${file}\n${join(dir, 'keys')}`);
});
