import { readFileSync } from 'node:fs';
import { print, runScript, UsageError } from '../tools/dev/run-script.ts';
import { makeSecrets } from '../tools/k8s/secrets.ts';

const usage = `Prints the Secrets of an installation on Kubernetes, with new keys:

  MONGODB_URI=URI npm run --silent secrets | kubectl create -n ticketing -f -

  MONGODB_URI          the database server, with its credentials; every service has a database of its own on it
  --issuer-keys FILE   the public keys of the issuer (a JWKS), if they are not read from a URL

Nothing is written to files. Use \`kubectl create\`, not \`apply\`: it refuses to replace keys, which would make stored
secrets unreadable.
`;

const options = { 'issuer-keys': { type: 'string' } } as const;

await runScript({ usage, options }, (values) => {
  const mongodbUri = process.env.MONGODB_URI;
  if (!mongodbUri) throw new UsageError('MONGODB_URI is not set; --help explains it.');
  const file = values['issuer-keys'];
  const items = makeSecrets({ mongodbUri, issuerKeys: file === undefined ? undefined : readPublicKeys(file) });
  print(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));
});

/** Reads a JWKS. Errors: UsageError if it is none, or if it has the private part of a key. */
function readPublicKeys(file: string): string {
  const text = readFileSync(file, 'utf8');
  const { keys } = JSON.parse(text) as { keys?: Record<string, unknown>[] };
  if (!Array.isArray(keys) || keys.length === 0) throw new UsageError(`${file} is no JWKS.`);
  if (keys.some((key) => 'd' in key || 'k' in key)) throw new UsageError(`${file} has private keys.`);
  return text;
}
