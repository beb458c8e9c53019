import type { TemplateHelper } from './helper.ts';
import { isTrue, toText } from './value.ts';

const comparisons: Readonly<Record<string, (left: string, right: string) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

function comparison(name: string, operator: string, meaning: string, examples: TemplateHelper['examples']) {
  return {
    name,
    usage: 'a b',
    arity: [2, 2],
    isCondition: true,
    meaning,
    examples,
    call: (left, right) => comparisons[operator]?.(toText(left), toText(right)) ?? false,
  } satisfies TemplateHelper;
}

/** Helpers that are true or false. Source: docs/reference/api.md, Templates. */
export const conditionHelpers: readonly TemplateHelper[] = [
  {
    name: 'contains',
    usage: 'a b',
    arity: [2, 2],
    isCondition: true,
    meaning:
      'Whether one value contains the other, whichever comes first: a text a part, a list an element. Two lists must have ' +
      'an element in common. Case counts. Nothing is contained in, or contains, an empty text.',
    examples: [
      ['{{contains "Strom und Gas" "Gas"}}', 'true'],
      ['{{contains "Gas" "Strom und Gas"}}', 'true'],
      ['{{#contains "Strom" "Gas"}}yes{{else}}no{{/contains}}', 'no'],
    ],
    call: contains,
  },
  {
    name: 'compare',
    usage: 'a "op" b',
    arity: [3, 3],
    isCondition: true,
    meaning: 'Compares as texts, by the operator `==`, `!=`, `<`, `<=`, `>` or `>=`.',
    examples: [
      ['{{compare "7" "==" 7}}', 'true'],
      ['{{compare "9" ">" "10"}}', 'true'],
      ['{{#compare "a" "!=" "a"}}other{{else}}same{{/compare}}', 'same'],
    ],
    keywords: { position: 1, texts: Object.keys(comparisons) },
    call: (left, operator, right) => comparisons[toText(operator)]?.(toText(left), toText(right)) ?? false,
  },
  comparison('gt', '>', 'Whether the first text comes after the second. "9" comes after "10".', [
    ['{{gt "9" "10"}}', 'true'],
    ['{{gt "10" "9"}}', 'false'],
  ]),
  comparison('lt', '<', 'Whether the first text comes before the second. "10" comes before "9".', [
    ['{{lt "10" "9"}}', 'true'],
    ['{{lt "a" "a"}}', 'false'],
  ]),
  comparison('eq', '==', 'Whether two values are the same text.', [
    ['{{eq 12 "12"}}', 'true'],
    ['{{#if (eq "a" "b")}}same{{else}}different{{/if}}', 'different'],
  ]),
  comparison('ne', '!=', 'Whether two values are different texts.', [['{{ne "a" "b"}}', 'true']]),
  {
    name: 'and',
    usage: 'a b …',
    arity: [2, 10],
    isCondition: true,
    meaning: 'Whether all values are true. Unset, false, 0, an empty text and an empty list are not.',
    examples: [
      ['{{and true "x"}}', 'true'],
      ['{{and true ""}}', 'false'],
    ],
    call: (...values) => values.every(isTrue),
  },
  {
    name: 'or',
    usage: 'a b …',
    arity: [2, 10],
    isCondition: true,
    meaning: 'Whether one of the values is true.',
    examples: [
      ['{{or false "x"}}', 'true'],
      ['{{or false 0}}', 'false'],
    ],
    call: (...values) => values.some(isTrue),
  },
  {
    name: 'not',
    usage: 'a',
    arity: [1, 1],
    isCondition: true,
    meaning: 'Whether the value is not true.',
    examples: [['{{#not ""}}empty{{/not}}', 'empty']],
    call: (value) => !isTrue(value),
  },
];

function contains(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) || Array.isArray(right)) {
    const [a, b] = [left, right].map((value) => new Set((Array.isArray(value) ? value : [value]).map(toText)));
    return [...(a ?? [])].some((text) => text !== '' && b?.has(text));
  }
  const [a, b] = [toText(left), toText(right)];
  return a !== '' && b !== '' && (a.includes(b) || b.includes(a));
}
