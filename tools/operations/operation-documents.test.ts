import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  hasOperation,
  operationNames,
  operations,
  operationsOfCommand,
} from '@ticketing/service-kit/operations/operations.ts';
import { serviceNamed, services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readManifests } from '../k8s/read-manifests.ts';
import { operationsDocument, withOperationParts } from './operation-parts.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const documents = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.md'], { cwd: root });
const runbooks = globSync('docs/operations/runbooks/*.md', { cwd: root });
const names: readonly string[] = operationNames();
const withStore = services.flatMap(({ name, hasStore }) => (hasStore ? [name] : []));

/** A command in a document that calls an operation; `target` is the service of compose, or the Deployment. */
interface Command {
  system: 'npm start' | 'compose' | 'Kubernetes';
  operation: string;
  target: string;
}

function commandsIn(document: string): Command[] {
  const text = read(document);
  const find = (system: Command['system'], pattern: RegExp) =>
    [...text.matchAll(pattern)].map(({ groups = {} }) => {
      return { system, operation: groups.operation ?? '', target: groups.target ?? '' };
    });
  return [
    ...find('npm start', /npm run events -- (?<operation>[a-z][a-z-]*)/g),
    ...find('compose', /exec -T (?<target>\S+) \S+ main\.mjs (?<operation>[a-z][a-z-]*)/g),
    ...find('compose', /run --rm -T (?<target>\S+) (?<operation>[a-z][a-z-]*)/g),
    ...find('Kubernetes', /deploy\/(?<target>[^\s"]+)"? -- \S+ main\.mjs (?<operation>[a-z][a-z-]*)/g),
  ];
}

test('the page of operations has the table; npm run generate writes it', () => {
  expect(withOperationParts(read(operationsDocument))).toBe(read(operationsDocument));
});

test('every operation that a document names exists', () => {
  const called = documents.flatMap((document) => {
    const programs = [...read(document).matchAll(/main\.mjs ([a-z][a-z-]*)/g)].map(([, name]) => name ?? '');
    return [...programs, ...commandsIn(document).map(({ operation }) => operation)].map((name) => ({ document, name }));
  });
  expect(called.length).toBeGreaterThan(40);
  expect(called.filter(({ name }) => !names.includes(name))).toEqual([]);
});

test('what a document calls by npm run events is carried out by it', () => {
  const ofEvents: readonly string[] = operationsOfCommand('npm run events -- ');
  const called = documents.flatMap(commandsIn).filter(({ system }) => system === 'npm start');
  expect(called.filter(({ operation }) => !ofEvents.includes(operation))).toEqual([]);
  expect(ofEvents).toContain('encrypt-secrets');
});

test('every command of npm in the table is one of package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const name of operationNames()) {
    const [, script = 'none'] = /^npm (?:run )?(\S+)/.exec(operations[name].npm) ?? [];
    expect(scripts[script], operations[name].npm).toBeDefined();
  }
});

test.each(runbooks)('%s has each of its commands for npm start, compose and Kubernetes', (runbook) => {
  const commands = commandsIn(runbook);
  const of = (system: string) => commands.filter((one) => one.system === system).map(({ operation }) => operation);
  // A start of the system by npm sets it up.
  const expected =
    of('npm start').length > 0 ? of('npm start') : ['set-up'].filter((name) => of('compose').includes(name));
  expect({ compose: of('compose'), kubernetes: of('Kubernetes') }).toEqual({ compose: expected, kubernetes: expected });
  if (commands.length > 0) expect(read(runbook)).toContain('](../operations.md');
});

test('the services and Deployments of all commands exist, and have the operation', () => {
  const compose = parse(read('deploy/compose/compose.yaml'), { merge: true }) as { services: Record<string, object> };
  const deployments = readManifests('deploy/k8s/base/!(kustomization|pod|job).yaml')
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata }) => metadata.name);
  const called = documents.flatMap(commandsIn).filter(({ target }) => target !== '');
  const each = called.flatMap(({ target, ...command }) =>
    // A loop over the services, or any of them.
    /\$service|\{service\}/.test(target)
      ? withStore.map((service) => ({ ...command, target: target.replace(/\$service|\{service\}/, service) }))
      : [{ ...command, target }],
  );
  expect(each.length).toBeGreaterThan(30);
  for (const { system, operation, target } of each) {
    const known = system === 'compose' ? Object.keys(compose.services) : deployments;
    expect(known).toContain(target);
    const name = operationNames().find((one) => one === operation) ?? expect.fail(operation);
    const service = target.replace(/-(background|set-up|scheduler)$/, '');
    expect(hasOperation(serviceNamed(service), name), `${operation} of ${target}`).toBe(true);
  }
});

test('the loops over services and the internal ports in the documents name all services', () => {
  const loops = documents.flatMap((document) =>
    [...read(document).matchAll(/(?:for service in |services=')([a-z ]+)(?:; do|')/g)].map(([, names = '']) =>
      names.split(' ').filter((name) => name !== 'gateway'),
    ),
  );
  expect(loops.length).toBeGreaterThan(8);
  for (const names of loops) expect(names.toSorted()).toEqual(withStore.toSorted());
  for (const { ports } of services) expect(read(operationsDocument)).toContain(` ${ports.http + 2000} |`);
});
