import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { AiProcess } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { expect, test } from 'vitest';
import { type Analysable, type AnalysisMode, partsToAnalyse } from './analysis-mode.ts';

const { UNPROCESSED, BOT } = AiSupportLevel;
const partNames = ['text', 'tags', 'spam', 'intents'] as const;

const day = 24 * 60 * 60;
const ordinary = { isSpam: false, process: AiProcess.BATCH, aiSupportLevel: BOT, createdAt: 0 };

function parts(modes: AnalysisMode[], ticket: Partial<Analysable> = {}): string {
  const found = partsToAnalyse(modes, { ...ordinary, ...ticket }, day);
  if (!found) return 'nothing';
  const flags = [...(found.isRefresh ? ['refresh'] : []), ...(found.restarts ? ['restarts'] : [])];
  return [...partNames.filter((name) => found[name]), ...flags].join(' ');
}

test.each<[AnalysisMode[], Partial<Analysable>, string]>([
  [['full'], {}, 'text tags spam intents refresh restarts'],
  [['summaryAndText'], {}, 'text refresh'],
  [['tags'], {}, 'tags refresh'],
  [['agents'], {}, 'intents refresh'],
  [['tags', 'agents'], {}, 'tags intents refresh'],
  [['created'], {}, 'nothing'],
  [['first'], {}, 'nothing'],
  [['created'], { aiSupportLevel: UNPROCESSED }, 'text tags spam intents'],
  [['created'], { aiSupportLevel: UNPROCESSED, process: AiProcess.FALSE }, 'nothing'],
  [['first'], { aiSupportLevel: UNPROCESSED, process: AiProcess.FALSE }, 'text tags spam intents'],
  [['created'], { aiSupportLevel: UNPROCESSED, process: AiProcess.REALTIME }, 'text tags spam intents'],
  [['created', 'first'], {}, 'nothing'],
  [['created', 'full'], { aiSupportLevel: UNPROCESSED }, 'text tags spam intents restarts'],
  [['full'], { aiSupportLevel: AiSupportLevel.AUTOMATED }, 'text tags spam intents refresh restarts'],
  [['tags'], { aiSupportLevel: UNPROCESSED, process: AiProcess.FALSE }, 'tags refresh'],
  [['full'], { isSpam: true }, 'nothing'],
  [['first'], { isSpam: true, aiSupportLevel: UNPROCESSED }, 'nothing'],
])('%j of a ticket with %j makes: %s', (modes, ticket, expected) => {
  expect(parts(modes, ticket)).toBe(expected);
});

// spec: 10.7
test.each<[AnalysisMode[], number, boolean]>([
  [['created'], 0, true],
  [['first'], 0, true],
  [['created'], -1, false],
  [['first'], -1, false],
  [['created', 'imported'], day, false],
  [['created', 'imported', 'first'], day, false],
  [['created', 'imported', 'full'], -1, true],
])('whether the system executes what %j proposes for a ticket of %i: %j', (modes, createdAt, expected) => {
  const ticket = { ...ordinary, aiSupportLevel: UNPROCESSED, createdAt };
  expect(partsToAnalyse(modes, ticket, day)?.isTimely).toBe(expected);
});

test('the system executes what a refresh of an old ticket proposes', () => {
  expect(partsToAnalyse(['agents'], { ...ordinary, createdAt: -1 }, day)?.isTimely).toBe(true);
});
