import { readFileSync } from 'node:fs';
import { readStores, userCommands } from '../k8s/database-users.ts';
import { makeSecrets, makeSigningKeys, type Secret } from '../k8s/secrets.ts';
import { declareCommand, print, UsageError } from './command.ts';

const usage = `Prints the Secrets of an installation on Kubernetes, with new keys:

  MONGODB_URI=URI npm run --silent secrets | kubectl create -n ticketing -f -

  MONGODB_URI          the database server, with its credentials; every service has a database of its own on it
  TICKETING_<SERVICE>_MONGODB_URI
                       the same for one service, with credentials of its own
  --issuer-keys FILE   the public keys of the issuer (a JWKS), if they are not read from a URL
  --signing-keys       prints only new signing keys and their public keys, for \`kubectl replace\` in a pause of all services
                       (docs/operations/key-rotation.md)
  --print-users        prints, instead of Secrets, the commands for mongosh that create the users of these URIs: each may
                       read and write the database of its service and no other (ticketing_<service>, or what
                       TICKETING_<SERVICE>_MONGODB_DATABASE says)

Nothing is written to files. Use \`kubectl create\`, not \`apply\`: it refuses to replace keys, which would make stored
secrets unreadable.
`;

const options = {
  'issuer-keys': { type: 'string' },
  'signing-keys': { type: 'boolean', default: false },
  'print-users': { type: 'boolean', default: false },
} as const;

export const command = declareCommand({ usage, options }, (values) => {
  if (values['signing-keys']) return printList(makeSigningKeys());
  const stores = readStores(process.env);
  if (values['print-users']) {
    for (const command of userCommands(stores)) print(command);
    return;
  }
  const file = values['issuer-keys'];
  printList(makeSecrets({ stores, issuerKeys: file === undefined ? undefined : readPublicKeys(file) }));
});

function printList(items: readonly Secret[]): void {
  print(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));
}

/** Reads a JWKS. Errors: UsageError if the file is no JWKS, or has a private key. */
function readPublicKeys(file: string): string {
  const text = readFileSync(file, 'utf8');
  const { keys } = JSON.parse(text) as { keys?: Record<string, unknown>[] };
  if (!Array.isArray(keys) || keys.length === 0) throw new UsageError(`${file} is no JWKS.`);
  if (keys.some((key) => 'd' in key || 'k' in key)) throw new UsageError(`${file} has private keys.`);
  return text;
}
