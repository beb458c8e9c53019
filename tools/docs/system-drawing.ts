import { consumedTopics, services } from '@ticketing/system/services.ts';
import { withGeneratedParts } from '../dev/generated-parts.ts';

/** The document with the drawing of all services, their calls and their events. */
export const architectureDocument = 'docs/reference/architecture.md';

/** Writes the drawing of the system into the text of the document. Errors: those of `withGeneratedParts`. */
export function withSystemDrawing(document: string): string {
  const names = services.map(({ name }) => name);
  const calls = services.map(({ name, calls: called }) => `  ${name} --> ${called.join(' & ')}`);
  const events = services.flatMap(({ name, publishes }) =>
    publishes.map((topic) => {
      const consumers = services.filter((entry) => consumedTopics(entry).includes(topic));
      return `  ${name} -. "${topic.name}" .-> ${consumers.map((entry) => entry.name).join(' & ')}`;
    }),
  );
  const lines = [
    '```mermaid',
    'flowchart LR',
    '  clients([REST clients]) --> gateway',
    `  teams([internal teams]) --> ${names.filter((name) => name !== 'gateway').join(' & ')}`,
    ...calls.toSorted((one, other) => Number(other.startsWith('  gateway')) - Number(one.startsWith('  gateway'))),
    ...events,
    '  settings -- signed webhooks --> receivers([other systems])',
    '  tickets -- mail, ERP --> mail([mail servers, ERP])',
    '  intents -- executions --> backends([backend systems, models])',
    '```',
  ];
  return withGeneratedParts(document, { drawing: lines.join('\n') });
}
