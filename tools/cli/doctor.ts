import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { describeServer } from '@ticketing/store/connection/store-config.ts';
import { services, variableName } from '@ticketing/system/services.ts';
import { environmentFile } from '../dev/environment-file.ts';
import { diagnose, type Finding } from '../doctor/diagnose.ts';
import { type ObservedProcess, observeProcess } from '../doctor/observe-process.ts';
import { validateStore } from '../doctor/validate-store.ts';
import { declareCommand, UsageError } from './command.ts';

const usage = `Says in plain words what is wrong with a running system, and where its repair is described:

  npm run doctor                     a system that npm start runs, by its data folder (--data DIR, ./data)
  npm run doctor -- URL URL …        any system, by the URLs of the internal ports of its processes,
                                     for example http://tickets:10081; with --all every service must be among them
  npm run doctor -- --validate       the files of the store of a system that is stopped, by its data folder, or of the
                                     server that MONGODB_URI names: it names those that are damaged

It reads /readyz and /metrics, and changes nothing. The exit code is 1 if anything is wrong.
`;

const root = join(import.meta.dirname, '..', '..');

const options = {
  data: { type: 'string', default: './data' },
  all: { type: 'boolean', default: false },
  validate: { type: 'boolean', default: false },
} as const;

export const command = declareCommand(
  { usage, options, words: 'any', runsInProduction: true },
  async (values, urls, { env, print }) => {
    if (values.validate) return Math.min(1, await validateStore(resolve(values.data), env.MONGODB_URI, print));
    const isLocal = urls.length === 0;
    const environment = isLocal ? readEnvironment(resolve(values.data)) : undefined;
    const observed = await (environment
      ? observeLocal(environment)
      : Promise.all(urls.map((url) => observeProcess(readOrigin(url)))));
    const expected = isLocal || values.all ? services.map(({ name }) => name) : [];
    const findings = diagnose(observed, { services: expected, addresses: environment && sharedAddresses(environment) });
    const forClients = observed.filter(({ isPublic }) => isPublic);
    printFindings(observed, findings, print);
    for (const { url } of forClients) print(`\n${explainClientAddress(url)}`);
    return findings.length + forClients.length === 0 ? 0 : 1;
  },
);

function readOrigin(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new UsageError(`${text} is no URL (--help shows the use).`);
  return new URL(text).origin;
}

/** Asks the processes of a system that `npm start` runs, whose ports are in a file of its data folder. */
function observeLocal(environment: Environment): Promise<ObservedProcess[]> {
  return Promise.all(
    services.map(({ name }) => {
      const port = environment[variableName(name, 'INTERNAL_PORT')];
      return observeProcess(`http://127.0.0.1:${port}`, name);
    }),
  );
}

/** The addresses of the servers that all services use, without credentials. */
function sharedAddresses(environment: Environment): Record<string, string | undefined> {
  const listValues = (name: string) => services.flatMap((entry) => environment[variableName(entry.name, name)] ?? []);
  const only = (addresses: readonly string[]) => (new Set(addresses).size === 1 ? addresses[0] : undefined);
  return { mongodb: only(listValues('MONGODB_URI').map(describeServer)), bus: only(listValues('KAFKA_BROKERS')) };
}

function readEnvironment(dataDir: string): Environment {
  try {
    return JSON.parse(readFileSync(environmentFile(dataDir), 'utf8')) as Environment;
  } catch (error) {
    const message = `No system is running on ${dataDir}; name its folder by --data, or the URLs of its processes.`;
    throw new UsageError(message, { cause: error });
  }
}

function printFindings(
  observed: readonly ObservedProcess[],
  findings: readonly Finding[],
  print: (line: string) => void,
): void {
  const responding = observed.filter(({ problem }) => problem === undefined);
  const names = [...new Set(responding.flatMap(({ service }) => service ?? []))];
  print(
    `${responding.length} of ${observed.length} processes respond${names.length > 0 ? `: ${names.join(', ')}` : ''}`,
  );
  if (findings.length === 0) {
    print(observed.some(({ isPublic }) => isPublic) ? 'nothing wrong was found' : 'nothing is wrong');
  }
  for (const [index, { what, runbook }] of findings.entries()) {
    const page = `docs/operations/runbooks/${runbook}.md`;
    print(`\n${index + 1}. ${what}\n   ${meaningIn(page)}\n   What to do: ${page}`);
  }
}

function explainClientAddress(url: string): string {
  return [
    `${url} is an address for clients. Metrics are not served there, so that only readiness and clock were checked.`,
    'Name the internal port of each process instead (TICKETING_<SERVICE>_INTERNAL_PORT, in deploy/k8s the port called',
    'internal), from a machine of the internal network: docs/operations/observability.md, The doctor.',
  ].join('\n');
}

/** The meaning of a problem, in the words of its page. */
function meaningIn(page: string): string {
  return /^## What it means\n\n(.+)$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1] ?? '';
}
