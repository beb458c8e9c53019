import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { consumedTopics, services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';

const document = readFileSync(join(import.meta.dirname, '../../docs/reference/architecture.md'), 'utf8');
const drawing = document.slice(document.indexOf('flowchart LR'), document.indexOf('## The path of a change'));
const names = services.map(({ name }) => name);

/** The arrows between services in the drawing: who, by what, whom. */
function drawnArrows(): string[] {
  const arrows = drawing.matchAll(/^ {2}(\w+) (?:-->|-\. "([\w.]+)" \.->) ([\w &]+)$/gm);
  return [...arrows]
    .filter(([, from = '']) => names.includes(from))
    .flatMap(([, from, topic = 'calls', to = '']) => to.split(' & ').map((target) => `${from} ${topic} ${target}`));
}

test('the drawing of the architecture shows the calls and events of the description', () => {
  const calls = services.flatMap(({ name, calls: called }) => called.map((target) => `${name} calls ${target}`));
  const events = services.flatMap((consumer) =>
    consumedTopics(consumer).map((topic) => {
      const publisher = services.find(({ publishes }) => publishes.includes(topic));
      return `${publisher?.name} ${topic.name} ${consumer.name}`;
    }),
  );
  expect(drawnArrows().toSorted()).toEqual([...calls, ...events].toSorted());
});
