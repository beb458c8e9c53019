import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { AiProcess } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { expect, test } from 'vitest';
import { type Analysable, type AnalysisMode, partsToAnalyse } from './analysis-mode.ts';

const { UNPROCESSED, BOT } = AiSupportLevel;
const partNames = ['text', 'tags', 'spam', 'intents'] as const;

function parts(modes: AnalysisMode[], ticket: Partial<Analysable> = {}): string {
  const found = partsToAnalyse(modes, { isSpam: false, process: AiProcess.BATCH, aiSupportLevel: BOT, ...ticket });
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
