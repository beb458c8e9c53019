import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable, withGeneratedParts } from '../dev/generated-parts.ts';
import { levelsIn } from './asvs-levels.ts';

/** The lists of requirements. A mark above a test begins with one of these words. */
export const traceKinds = ['spec', 'guarantee', 'asvs'] as const;
export type TraceKind = (typeof traceKinds)[number];

/** A statement that tests show, or the heading of a section, whose id has no statement. */
export interface Requirement {
  id: string;
  text: string;
  /** ASVS only: met, n/a or open. */
  state?: string;
  /** How the system differs from the statement, how it meets it, or why it does not apply. */
  note?: string;
}

/** A test with a mark above it: `// spec: 6.10, 6.11`. */
export interface Mark {
  kind: TraceKind;
  id: string;
  file: string;
  line: number;
  title: string;
}

const markLine = new RegExp(`^\\s*// (${traceKinds.join('|')}): (.*)$`);

/**
 * Finds the marks in the text of a file. The title of a test is the first text in quotes below its marks: a mark stands above
 * the title, or above the row of a table of tests.
 */
export function findMarks(file: string, text: string): Mark[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [, kind, ids = ''] = markLine.exec(line) ?? [];
    if (!kind) return [];
    const below = lines.slice(index + 1, index + 6).filter((next) => !markLine.test(next));
    const [, , title = ''] = /(['"`])((?:\\.|(?!\1).)+)\1/.exec(below.slice(0, 3).join('\n')) ?? [];
    return ids.split(', ').map((id) => ({ kind: kind as TraceKind, id, file, line: index + 1, title }));
  });
}

/** Reads the marks of all tests. */
export function readMarks(root: string): Mark[] {
  const files = globSync('{packages,services,test,tools}/**/*{.test,-contract}.ts', {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist)(\/|$)/.test(name),
  });
  return files.sort().flatMap((file) => findMarks(file, readFileSync(join(root, file), 'utf8')));
}

/** Reads the lists: the specification and ASVS in docs/traces, the guarantees in their page. */
export function readRequirements(root: string): Record<TraceKind, Requirement[]> {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const rows = (file: string) =>
    read(file)
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
  return {
    spec: rows('docs/traces/specification.tsv').map(([id = '', text = '', note]) => ({
      id,
      text,
      ...(note && { note }),
    })),
    guarantee: [...read('docs/reference/guarantees.md').matchAll(/^- \*\*([A-Z]\d+)\*\* (.+)$/gm)].map(
      ([, id = '', text = '']) => ({ id, text }),
    ),
    asvs: rows('docs/traces/asvs.tsv').map(([id = '', state = '', text = '', note]) => ({
      ...{ id, state, text },
      ...(note && { note }),
    })),
  };
}

/** Finds marks with an unknown id or without a test, ids that are listed twice, and requirements that nothing shows. */
export function findTraceProblems(
  requirements: Readonly<Record<TraceKind, readonly Requirement[]>>,
  marks: readonly Mark[],
  exists: (document: string) => boolean = existsSync,
): string[] {
  return traceKinds.flatMap((kind) => {
    const list = requirements[kind];
    const ids = new Set(list.map(({ id }) => id));
    const ofKind = marks.filter((mark) => mark.kind === kind);
    const marked = new Set(ofKind.map(({ id }) => id));
    return [
      ...ofKind.filter(({ id }) => !ids.has(id)).map(({ file, line, id }) => `${file}:${line}: no ${kind} ${id}`),
      ...ofKind.filter(({ title }) => title === '').map(({ file, line }) => `${file}:${line}: a mark without a test`),
      ...list
        .filter(({ id }, index) => list.findIndex((other) => other.id === id) < index)
        .map(({ id }) => `${kind} ${id} twice`),
      ...list
        .filter((requirement) => needsTest(kind, requirement, exists) && !marked.has(requirement.id))
        .map(({ id, text }) => `${kind} ${id} has no test: ${text}`),
    ];
  });
}

/** A section, what does not apply or is open, and what a document or a run of faults shows, need no test. */
function needsTest(
  kind: TraceKind,
  { id, text, state, note = '' }: Requirement,
  exists: (document: string) => boolean,
) {
  if (kind === 'spec') return id.includes('.');
  if (kind === 'guarantee') return !text.includes('`npm run faults');
  const [document] = /docs\/[\w/-]+\.md/.exec(note) ?? [];
  return state === 'met' && !(document && exists(document));
}

/** Renders a list with its tests as a table in Markdown. */
export function renderTraces(kind: TraceKind, requirements: readonly Requirement[], marks: readonly Mark[]): string {
  const rows = requirements.map(({ id, text, state, note = '' }) => {
    const tests = marks.filter((mark) => mark.kind === kind && mark.id === id);
    const shown = tests
      .map(({ file, line, title }) => `\`${file}:${line}\` ${title.replaceAll('|', '\\|')}`)
      .join('<br>');
    return kind === 'asvs' ? [id, levelsIn(id), text, state ?? '', note, shown] : [id, text, note, shown];
  });
  const head =
    kind === 'asvs' ? ['#', 'Level', 'Asks for', 'State', 'Note', 'Tests'] : ['#', 'Statement', 'Note', 'Tests'];
  return `${markdownTable(head, rows)}\n`;
}

/** The page with the deviations from the specification. */
export const conformanceDocument = 'docs/conformance.md';

/** Writes the deviations of the list into the text of their page. */
export function withDeviations(document: string, requirements: readonly Requirement[]): string {
  const deviations = requirements.flatMap(({ id, text, note }) => (note ? [`- ${id} “${text}”: ${note}`] : []));
  return withGeneratedParts(document, { deviations: deviations.join('\n') });
}
