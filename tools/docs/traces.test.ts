import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { asvsLevels, requirementsIn } from './asvs-levels.ts';
import { conformanceDocument, findMarks, findTraceProblems, readRequirements, withDeviations } from './traces.ts';

const requirements = readRequirements('.');

test('finds the marks above a test, above a row of a table of tests, and below each other', () => {
  const text = [
    '  // spec: 1.1, 1.2',
    '  // asvs: 6.3.1',
    "  it('creates a ticket', () => {});",
    '  it.each([',
    '    // guarantee: E7',
    `    [404, "is the customer's"],`,
    '    // guarantee: E8',
    "  ])('responds with %i', () => {});",
    '  // guarantee: E9',
    '  test(',
    "    'a long title', () => {});",
    '  // spec: 1.3',
  ].join('\n');
  expect(findMarks('a.test.ts', text).map(({ kind, id, line, title }) => [kind, id, line, title])).toEqual([
    ['spec', '1.1', 1, 'creates a ticket'],
    ['spec', '1.2', 1, 'creates a ticket'],
    ['asvs', '6.3.1', 2, 'creates a ticket'],
    ['guarantee', 'E7', 5, "is the customer's"],
    ['guarantee', 'E8', 7, 'responds with %i'],
    ['guarantee', 'E9', 9, 'a long title'],
    ['spec', '1.3', 12, ''],
  ]);
});

test('finds unknown ids, marks without a test, ids that are listed twice, and requirements without a test', () => {
  const lists = {
    spec: [
      { id: '1', text: 'General' },
      { id: '1.1', text: 'a' },
      { id: '1.1', text: 'again' },
    ],
    guarantee: [
      { id: 'E1', text: 'b' },
      { id: 'E2', text: 'c (`npm run faults`)' },
    ],
    asvs: [
      { id: '1.1.1', state: 'met', text: 'd', note: 'docs/there.md#part' },
      { id: '1.1.2', state: 'met', text: 'e', note: 'docs/missing.md' },
      { id: '1.2.1', state: 'open', text: 'f' },
    ],
  };
  const marks = findMarks('a.test.ts', "// spec: 1.1, 9.9\ntest('x', () => {});\n// guarantee: E2");
  expect(findTraceProblems(lists, marks, (document) => document === 'docs/there.md')).toEqual([
    'a.test.ts:1: no spec 9.9',
    'spec 1.1 twice',
    'a.test.ts:3: a mark without a test',
    'guarantee E1 has no test: b',
    'asvs 1.1.2 has no test: e',
  ]);
});

test('the lists are read: the specification with its sections, and the guarantees', () => {
  expect(requirements.spec).toContainEqual({ id: '6', text: 'Ticket' });
  expect(requirements.spec.length).toBeGreaterThan(400);
  expect(requirements.guarantee.length).toBeGreaterThan(150);
});

test('the deviations of their page are those of the list; npm run generate writes them', () => {
  const text = readFileSync(conformanceDocument, 'utf8');
  expect(withDeviations(text, requirements.spec)).toBe(text);
});

test('ASVS has 345 requirements: 70 of level 1, 183 of level 2, 92 of level 3', () => {
  const count = (level: string) => [...asvsLevels.values()].filter((one) => one === level).length;
  expect([count('1'), count('2'), count('3')]).toEqual([70, 183, 92]);
});

test('the list of ASVS has every requirement of levels 1 and 2 once, and of level 3 only those that are met', () => {
  const listed = requirements.asvs.flatMap(({ id }) => requirementsIn(id));
  const required = [...asvsLevels].filter(([, level]) => level !== '3').map(([number]) => number);
  expect(listed.filter((number, index) => listed.indexOf(number) !== index)).toEqual([]);
  expect(required.filter((number) => !listed.includes(number))).toEqual([]);
  expect(listed.filter((number) => !asvsLevels.has(number))).toEqual([]);
  const third = requirements.asvs.filter(({ id }) =>
    requirementsIn(id).some((number) => asvsLevels.get(number) === '3'),
  );
  expect(third.filter(({ state }) => state !== 'met')).toEqual([]);
});

test('each requirement of ASVS has a subject and a state, and a reason unless it is met', () => {
  const isComplete = ({ text, state = '', note }: (typeof requirements.asvs)[number]) =>
    text !== '' && (state === 'met' || (['n/a', 'open'].includes(state) && note !== undefined));
  expect(requirements.asvs.filter((row) => !isComplete(row))).toEqual([]);
});

test('the commands that docs/security.md names exist, among them the audit of dependencies', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const commands = [...readFileSync('docs/security.md', 'utf8').matchAll(/npm run ([\w:]+)/g)].map(
    ([, name = '']) => name,
  );
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  expect(commands).toContain('audit:dependencies');
  expect(scripts['audit:dependencies']).toMatch(/^npm audit\b/);
});
