/** The expected outcome of a hostile template. */
export type HostileOutcome =
  /** It is refused when it is saved, with this code. */
  | { refused: string }
  /** It is stopped while it is rendered, with one of these codes; which one depends on the speed of the machine. */
  | { stopped: readonly string[] }
  /** It does no harm and has this result; a text without tags becomes a paragraph. */
  | { rendered: string };

/** A template that somebody could write to harm the system or to read data outside its variables. */
export interface HostileTemplate {
  name: string;
  template: string;
  variables: Record<string, unknown>;
  outcome: HostileOutcome;
}

const MiB = 1024 * 1024;
const list = Array.from({ length: 1_000 }, (_, index) => index);

function hostile(
  name: string,
  template: string,
  outcome: HostileOutcome,
  variables: HostileTemplate['variables'] = {},
): HostileTemplate {
  return { name, template, variables: { ticket: { id: 1, subject: 'Hello' }, in: { list }, ...variables }, outcome };
}

const notAllowedName = { refused: 'name_not_allowed' };
const notAllowedSyntax = { refused: 'syntax_not_allowed' };
const unknown = { refused: 'unknown_helper' };
const tooDeep = { refused: 'template_too_deep' };
const tooLarge = { refused: 'template_too_large' };
/** Its time ends first on a slow machine, its memory on a fast one. */
const tooMuchWork = { stopped: ['template_too_slow', 'template_too_much_memory'] };
/** Loops over the same list inside each other. */
function loops(depth: number, body: string): string {
  const open = Array.from({ length: depth }, (_, level) => `{{#each ${'../'.repeat(level + 1)}in.list}}`).join('');
  return `${open}${body}${'{{/each}}'.repeat(depth)}`;
}

const prototypes = [
  hostile('reads the constructor', '{{constructor}}', notAllowedName),
  hostile('reads the constructor of a value', '{{ticket.constructor.constructor}}', notAllowedName),
  hostile('reads the constructor in brackets', '{{ticket.[constructor]}}', notAllowedName),
  hostile('reads the constructor by a slash', '{{ticket/constructor}}', notAllowedName),
  hostile('reads the prototype', '{{ticket.__proto__.polluted}}', notAllowedName),
  hostile("reads a text's prototype", '{{ticket.subject.__proto__}}', notAllowedName),
  hostile('reads a getter of the prototype', '{{ticket.__lookupGetter__}}', notAllowedName),
  hostile('reads prototype', '{{ticket.prototype}}', notAllowedName),
  hostile('reads toString', '{{ticket.toString}}', notAllowedName),
  hostile('calls toString', '{{ticket.toString 1}}', unknown),
  hostile('reads the constructor in a helper', '{{upper ticket.constructor}}', notAllowedName),
  hostile('reads the constructor in a condition', '{{#if ticket.constructor}}x{{/if}}', notAllowedName),
  hostile('reads the constructor in a loop', '{{#each constructor}}x{{/each}}', notAllowedName),
  hostile('names a loop value __proto__', '{{#each in.list as |__proto__|}}x{{/each}}', notAllowedName),
  hostile('names a loop value like a helper', '{{#each in.list as |upper|}}{{upper "x"}}{{/each}}', notAllowedName),
  hostile('is the known attack by with and sub', knownAttack(), unknown),
  hostile('calls the constructor as a block', '{{#constructor}}x{{/constructor}}', unknown),
  hostile('calls a value of a text by a name', '{{"constructor"}}', notAllowedSyntax),
  hostile('calls __defineGetter__', '{{__defineGetter__ "x" y}}', unknown),
  hostile(
    'reads an own key named __proto__',
    '{{ticket.[__proto__]}}',
    notAllowedName,
    JSON.parse('{"__proto__":{"a":1}}'),
  ),
  hostile('reads what every text has', '{{ticket.subject.link}}{{ticket.subject.repeat}}', { rendered: '' }),
  hostile('reads what every list has', '{{in.list.map}}{{in.list.constructed}}', { rendered: '' }),
];

/** How templates of Handlebars before 4.3 ran code. */
function knownAttack(): string {
  return '{{#with "s" as |string|}}{{#with "e"}}{{#with (string.sub.constructor "x")}}{{this}}{{/with}}{{/with}}{{/with}}';
}

const syntax = [
  hostile('uses a partial', '{{> header}}', notAllowedSyntax),
  hostile('uses a partial by a value', '{{> (upper "x")}}', notAllowedSyntax),
  hostile('uses a partial block', '{{#> header}}x{{/header}}', notAllowedSyntax),
  hostile('uses the block of a partial', '{{> @partial-block}}', notAllowedSyntax),
  hostile('defines a partial', '{{#*inline "x"}}y{{/inline}}', notAllowedSyntax),
  hostile('uses a decorator', '{{* decorate}}', notAllowedSyntax),
  hostile('uses a raw block', '{{{{raw}}}}{{x}}{{{{/raw}}}}', notAllowedSyntax),
  hostile('hides a raw block in a comment', '{{!-- --}}{{{{raw}}}}x{{{{/raw}}}}', notAllowedSyntax),
  hostile('passes named arguments', '{{upper "x" y=1}}', notAllowedSyntax),
  hostile('passes named arguments to if', '{{#if 0 includeZero=true}}x{{/if}}', notAllowedSyntax),
  hostile('names a value in a condition', '{{#if 1 as |x|}}{{x}}{{/if}}', notAllowedSyntax),
  hostile('reads the root', '{{@root.ticket.id}}', notAllowedName),
  hostile('reads the level of the log', '{{@level}}', notAllowedName),
  hostile('reads a value of a loop variable', '{{#each in.list}}{{@index.constructor}}{{/each}}', notAllowedName),
  hostile('ends a comment twice', '{{!-- {{/if}} --}}x{{! --}}y', { rendered: 'xy' }),
  hostile('hides a block in a comment', '{{!-- {{#each in.list}} --}}x{{!-- {{/each}} --}}', { rendered: 'x' }),
];

const helperAbuse = [
  hostile('uses lookup', '{{lookup ticket "constructor"}}', unknown),
  hostile('uses lookup as an argument', '{{#with (lookup ticket "id")}}x{{/with}}', unknown),
  hostile('reads lookup as a value', '{{lookup}}', notAllowedName),
  hostile('uses log', '{{log "x"}}', unknown),
  hostile('calls what Handlebars calls for missing helpers', '{{helperMissing}}', notAllowedName),
  hostile(
    'calls what Handlebars calls for missing helpers as a block',
    '{{#blockHelperMissing "x"}}y{{/blockHelperMissing}}',
    unknown,
  ),
  hostile('calls a helper that does not exist', '{{exec "ls"}}', unknown),
  hostile('calls a helper of a value', '{{contains.call "x" "y"}}', unknown),
  hostile('calls a helper of this', '{{this.contains "x" "y"}}', unknown),
  hostile('calls too few arguments', '{{contains "x"}}', { refused: 'wrong_argument_count' }),
  hostile('calls too many arguments', '{{upper "x" "y"}}', { refused: 'wrong_argument_count' }),
  hostile('calls without arguments', '{{contains}}', { refused: 'wrong_argument_count' }),
  hostile('compares by an operator that is code', '{{compare 1 "||process.exit()||" 2}}', {
    refused: 'wrong_argument',
  }),
  hostile('compares by an operator of the prototype', '{{compare 1 "constructor" 2}}', { refused: 'wrong_argument' }),
  hostile('compares by an operator of the variables', '{{compare 1 in.operator 2}}', { refused: 'wrong_argument' }),
  hostile('adds days until no date is left', '{{addDays "9999-12-31" 9999999}}{{addDays "2026-01-01" "1e309"}}', {
    rendered: '9999-12-312026-01-01',
  }),
  hostile(
    'formats numbers that are none',
    '{{formatNumberDE in.huge 6}}{{formatNumberDE "1e308"}}',
    { rendered: '1e308' },
    {
      in: { huge: null },
    },
  ),
  hostile(
    'shows an object that cannot be a text',
    '{{in}}',
    { stopped: ['template_failed'] },
    {
      in: { toString: 1, valueOf: 1 },
    },
  ),
  hostile(
    'shows a value with a function of Handlebars',
    '{{in}}',
    { rendered: '[object Object]' },
    { in: { toHTML: 1 } },
  ),
];

const nesting = [
  hostile('nests blocks', `${'{{#if 1}}'.repeat(900)}x${'{{/if}}'.repeat(900)}`, tooDeep),
  hostile('nests helpers', `{{upper ${'(upper '.repeat(1_000)}"x"${')'.repeat(1_000)}}}`, tooDeep),
  hostile('chains conditions', `{{#if 0}}x${'{{else if 0}}x'.repeat(1_500)}{{/if}}`, tooDeep),
  hostile('reads far up', `{{${'../'.repeat(100)}x}}`, tooDeep),
  hostile('reads far down', `{{x${'.x'.repeat(100)}}}`, tooDeep),
  hostile('opens blocks and closes none', '{{#if 1}}'.repeat(30), { refused: 'template_syntax' }),
  hostile('opens many blocks and closes none', '{{#if 1}}'.repeat(1_999), tooDeep),
  hostile('closes blocks in escaped tags', `${'{{#if 1}}\\{{/if}}'.repeat(40)}${'{{/if}}'.repeat(40)}`, tooDeep),
  hostile('closes blocks in comments', `${'{{#if 1}}{{!-- }}{{/if}} --}}'.repeat(40)}${'{{/if}}'.repeat(40)}`, tooDeep),
  hostile('closes blocks that are not open', '{{/if}}', { refused: 'template_syntax' }),
  hostile('closes another block', '{{#if 1}}x{{/each}}', { refused: 'template_syntax' }),
  hostile('has an unknown character', '{{a % b}}', { refused: 'template_syntax' }),
  hostile('has no end', '{{a', { refused: 'template_syntax' }),
];

const size = [
  hostile('has many tags', '{{a}}'.repeat(2_001), tooLarge),
  hostile('has braces only', '{{'.repeat(MiB / 2), { refused: 'syntax_not_allowed' }),
  hostile('has tags without end', '{{ '.repeat(MiB / 3), tooLarge),
  hostile('has a long tag', `{{upper ${'('.repeat(40_000)}`, tooLarge),
  hostile('has a long literal', `{{upper "${'x'.repeat(4_097)}"}}`, tooLarge),
  hostile('has a long comment', `{{!-- ${'x'.repeat(40_000)} --}}`, tooLarge),
  hostile('has many arguments', `{{and${' a'.repeat(1_000)}}}`, { refused: 'wrong_argument_count' }),
  hostile('has many parts', `${`{{and${' a'.repeat(10)}}}`.repeat(600)}`, tooLarge),
  hostile('is too long', 'x'.repeat(MiB + 1), tooLarge),
];

const runTime = [
  hostile('loops in loops', `{{#each in.list}}${loops(6, 'x')}{{/each}}`, tooMuchWork),
  hostile('loops in loops without output', `{{#each in.list}}${loops(6, '')}{{/each}}`, tooMuchWork),
  hostile(
    'loops in loops with a helper',
    `{{#each in.list}}${loops(6, '{{formatDateDE "2026-01-01"}}')}{{/each}}`,
    tooMuchWork,
  ),
  hostile('writes more than a megabyte', `{{#each in.list}}${'x'.repeat(1_100)}{{/each}}`, {
    stopped: ['template_output_too_large'],
  }),
  hostile('writes a megabyte of letters that become longer', `{{#each in.list}}${'ß'.repeat(600)}{{/each}}`, {
    stopped: ['template_output_too_large'],
  }),
  hostile('searches long texts', '{{#each in.list}}{{contains ../in.long ../in.other}}{{/each}}', tooMuchWork, {
    in: { list: Array(20).fill(list).flat(), long: `${'a'.repeat(500_000)}`, other: `${'a'.repeat(250_000)}b` },
  }),
  hostile(
    'converts long texts again and again',
    '{{#each in.list}}{{#if (eq (upper ../in.long) "x")}}y{{/if}}{{/each}}',
    tooMuchWork,
    { in: { list: Array(20).fill(list).flat(), long: 'ß'.repeat(500_000) } },
  ),
];

const output = [
  hostile(
    'writes hundreds of megabytes',
    '{{#each in.list}}{{{../in.long}}}{{/each}}',
    { stopped: ['template_output_too_large'] },
    { in: { list, long: 'x'.repeat(300_000) } },
  ),
  hostile(
    'writes gigabytes',
    '{{#each in.list}}{{{../in.long}}}{{{../in.long}}}{{/each}}',
    { stopped: ['template_output_too_large'] },
    { in: { list, long: 'x'.repeat(300_000) } },
  ),
  hostile(
    'keeps much in memory',
    '{{#each in.list}}{{../in.long}}{{/each}}',
    { stopped: ['template_too_much_memory'] },
    { in: { list, long: `&${'x'.repeat(500_000)}` } },
  ),
];

const expressions = [
  hostile(
    'has a date that backtracks',
    '{{formatDateDE in.date}}',
    { rendered: '1'.repeat(50_000) },
    { in: { date: '1'.repeat(50_000) } },
  ),
  hostile(
    'has a number that backtracks',
    '{{formatNumberDE in.number}}',
    { rendered: `${'1'.repeat(50_000)}.` },
    {
      in: { number: `${'1'.repeat(50_000)}.` },
    },
  ),
  hostile(
    'has a name that backtracks',
    '{{extractFirstName in.name}}',
    { rendered: '' },
    { in: { name: ' '.repeat(50_000) } },
  ),
  hostile(
    'has digits that are far away',
    '{{last4digits in.text}}',
    { rendered: '1' },
    { in: { text: `1${'x'.repeat(500_000)}` } },
  ),
];

const html = [
  hostile('has a script', '<p>a</p><script>alert(1)</script>', { rendered: '<p>a</p>' }),
  hostile('writes a script around a value', '<p>a</p><scr{{x}}ipt>alert(1)</scr{{x}}ipt>', { rendered: '<p>a</p>' }),
  hostile(
    'writes a script by a value',
    '<p>{{{in.script}}}</p>',
    { rendered: '<p></p>' },
    {
      in: { script: '<script>alert(1)</script>' },
    },
  ),
  hostile('has a handler', '<p onclick="alert(1)">a</p>', { rendered: '<p>a</p>' }),
  hostile('has a link to code', '<p><a href="java{{x}}script:alert(1)">a</a></p>', { rendered: '<p><a>a</a></p>' }),
  // 256 elements are shown inside each other; the text of the others stays.
  hostile('nests elements', `${'<div>'.repeat(2_000)}x`, {
    rendered: `${'<div>'.repeat(256)}${' '.repeat(1_744)}x${'</div>'.repeat(256)}`,
  }),
];

/** Hostile templates, each with its expected outcome. */
export const hostileTemplates: readonly HostileTemplate[] = [
  ...prototypes,
  ...syntax,
  ...helperAbuse,
  ...nesting,
  ...size,
  ...runTime,
  ...output,
  ...expressions,
  ...html,
];

/** The hostile templates that end at their limit of time, if the machine is slow enough. */
export const takesLong: readonly HostileTemplate[] = hostileTemplates.filter(
  ({ outcome }) => 'stopped' in outcome && outcome.stopped.includes('template_too_slow'),
);
