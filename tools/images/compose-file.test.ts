import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { consumedTopics, services, variableName } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { nodeFlags, processEnvironment } from '../dev/services.ts';
import { findOwnConfig } from '../k8s/own-config.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy');
const read = (path: string) => readFileSync(join(folder, path), 'utf8');

interface Process {
  image: string;
  environment: Record<string, string>;
  ports?: string[];
  secrets: string[];
  command?: string[];
  depends_on?: Record<string, { condition: string }>;
  [key: string]: unknown;
}
interface ComposeFile {
  services: Record<string, Process>;
  secrets: Record<string, { file: string }>;
}

/** A compose file whose variables have these values, or else their defaults. */
function compose(variables: Record<string, string> = { ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }) {
  const text = read('compose/compose.yaml').replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind: string | undefined, value: string | undefined) => {
      const given = variables[name] ?? (kind === '-' ? value : undefined);
      if (given === undefined) throw new Error(`${name} is not set.`);
      return given;
    },
  );
  return parse(text, { merge: true }) as ComposeFile;
}

const file = compose();
const findProcesses = (service: string) =>
  Object.entries(file.services).filter(([, { image }]) => image === `localhost/ticketing/${service}:dev`);
const rolesVariable = (service: string) => variableName(service, 'ROLES');

test('every service that needs no other image is one of the system', () => {
  const images = Object.values(file.services).map(({ image }) => image);
  const own = images.filter((image) => image.startsWith('localhost/ticketing/'));
  expect(new Set(own)).toEqual(new Set(services.map(({ name }) => `localhost/ticketing/${name}:dev`)));
  expect(images.filter((image) => !own.includes(image))).toHaveLength(3);
});

test.each(services)('each role of $name runs in exactly one process', ({ name, roles }) => {
  const running = findProcesses(name).filter(([, { command }]) => command === undefined);
  const given = running.map(([, { environment }]) => environment[rolesVariable(name)]);
  if (roles.length === 1) expect(given).toEqual([undefined]);
  else expect(given.flatMap((one) => one?.split(',') ?? []).sort()).toEqual([...roles].sort());
});

test.each(services)('each process of $name has the variables that it requires, and no unknown one', (entry) => {
  for (const [, { environment }] of findProcesses(entry.name)) {
    expect(() => readServiceConfig(entry, environment, findOwnConfig(entry.name))).not.toThrow();
  }
});

test.each(services)('$name calls services under their names, at their ports', ({ name, calls, ports }) => {
  for (const [, { environment }] of findProcesses(name)) {
    for (const called of calls) {
      const entry = services.find((one) => one.name === called);
      const [variable, address] =
        ports.grpc === undefined
          ? ['URL', `http://${called}:${entry?.ports.http}`]
          : ['TARGET', `${called}:${entry?.ports.grpc}`];
      expect(environment[variableName(name, `${called.toUpperCase()}_${variable}`)]).toBe(address);
    }
  }
  expect(findProcesses(name)[0]?.[0]).toBe(name);
});

test.each(services.filter(({ hasStore }) => hasStore))('$name starts when its set-up is done', (entry) => {
  const [setUp = ''] = findProcesses(entry.name).find(([, { command }]) => command?.[0] === 'set-up') ?? [];
  expect(consumedTopics(entry).length + entry.publishes.length).toBeGreaterThan(0);
  expect(Object.keys(file.services[setUp]?.depends_on ?? {})).toEqual(['mongo', 'kafka']);
  for (const [name, { depends_on }] of findProcesses(entry.name).filter(([key]) => key !== setUp)) {
    expect({ name, depends_on }).toEqual({
      name,
      depends_on: { [setUp]: { condition: 'service_completed_successfully' } },
    });
  }
});

// asvs: 13.2.2
test.each(services)('the processes of $name have no more rights than they need', ({ name }) => {
  for (const [, process] of findProcesses(name)) {
    expect(process).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(process.user ?? process.privileged ?? process.volumes ?? process.tmpfs).toBeUndefined();
    // Each has its own private key, and no other's.
    expect(process.secrets.filter((secret) => secret.endsWith('-key'))).toEqual([`${name}-key`]);
    for (const secret of process.secrets) expect(Object.keys(file.secrets)).toContain(secret);
    for (const port of process.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

// asvs: 6.3.2, 13.2.3
test('no secret has a default', () => {
  expect(() => compose({})).toThrow('ENCRYPTION_KEY is not set.');
});

test('images run Node as npm start -- --split does', () => {
  const dockerfile = read('images/Dockerfile');
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(entrypoint)).toEqual(['/usr/local/bin/node', ...nodeFlags, '/app/main.mjs']);
  const [, environment = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
  expect(Object.fromEntries(environment.split(' ').map((one) => one.split('=')))).toEqual(processEnvironment);
  expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
});
