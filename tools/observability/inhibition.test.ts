import { expect, test } from 'vitest';
import { readInhibitRules, readRules } from './observability-files.ts';

const { alerts } = readRules();
const inhibitRules = readInhibitRules();

/** The names of alerts that a matcher selects, and the labels that it reads besides. */
function readMatchers(matchers: readonly string[]): { names: string[]; labels: string[] } {
  const parsed = matchers.map((matcher) => /^(\w+)(?:=~?|!=)"([^"]+)"$/.exec(matcher));
  const names = parsed.flatMap((match) => (match?.[1] === 'alertname' ? (match[2] ?? '').split('|') : []));
  return { names, labels: parsed.flatMap((match) => (match && match[1] !== 'alertname' ? [match[1] ?? ''] : [])) };
}

/** The labels of an alert: those by which its query groups, those of `absent`, of the targets, and of the rule. */
function listLabels(name: string): string[] {
  const alert = alerts.find((one) => one.alert === name);
  const grouped = [...(alert?.expr.matchAll(/\bby \(([^)]+)\)/g) ?? [])].map(([, list = '']) => list.split(', '));
  const common = grouped.length === 0 ? [] : grouped.reduce((left, right) => left.filter((one) => right.includes(one)));
  const fixed = [...(alert?.expr.matchAll(/(?:absent\([\w]+|up)\{(\w+)=/g) ?? [])].map(([, label = '']) => label);
  const ofTarget = alert?.expr.startsWith('up{') ? ['service', 'role', 'process'] : [];
  return [...common, ...fixed, ...ofTarget, ...Object.keys(alert?.labels ?? {})];
}

test.each(inhibitRules)(
  'the rule of $source_matchers for $target_matchers names alerts, and labels that they have',
  (rule) => {
    const source = readMatchers(rule.source_matchers);
    const target = readMatchers(rule.target_matchers);
    const known = alerts.map(({ alert }) => alert);
    expect([source.names.length, target.names.length]).not.toContain(0);
    expect([...source.names, ...target.names].filter((name) => !known.includes(name))).toEqual([]);
    expect(source.names.filter((name) => target.names.includes(name))).toEqual([]);
    for (const label of source.labels) for (const name of source.names) expect(listLabels(name), name).toContain(label);
    for (const label of target.labels) for (const name of target.names) expect(listLabels(name), name).toContain(label);
    // Two alerts that both lack a label count as equal, so that one would hide all others.
    for (const label of rule.equal ?? [])
      for (const name of [...source.names, ...target.names]) expect(listLabels(name), name).toContain(label);
  },
);

test('no inhibited alert inhibits an alert that would then show nowhere', () => {
  const names = (matchers: readonly string[]) => readMatchers(matchers).names;
  const pairs = inhibitRules.flatMap((rule) =>
    names(rule.source_matchers).flatMap((source) => names(rule.target_matchers).map((target) => [source, target])),
  );
  const hasCycle = (from: string, seen: readonly string[]): boolean =>
    seen.includes(from) || pairs.some(([source, target]) => source === from && hasCycle(target ?? '', [...seen, from]));
  expect(pairs.map(([source]) => source).filter((source) => hasCycle(source ?? '', []))).toEqual([]);
});
