import { analyse } from '../../services/intents/src/detection/analyse-text.ts';
import { detectLanguage } from '../../services/intents/src/detection/language.ts';
import { emptyModel } from '../../services/intents/src/learning/model.ts';
import type { TicketText } from '../../services/intents/src/learning/ticket-text.ts';
import { formatTable } from './format-table.ts';
import { openLanguageJudges } from './judge-languages.ts';
import type { LabelledTicket } from './labelled-tickets.ts';
import { type Claim, calibrationError, mostFrequent } from './measures.ts';

/** Shorter texts are not measured. */
const minChars = 20;
/** The measurement is repeated with the beginnings of texts. */
const shortLengths = [80, 40];

/** Measures the language on tickets whose label two other libraries do not both contradict. Returns a text. */
export async function evaluateLanguage(tickets: readonly LabelledTicket[]): Promise<string> {
  const long = tickets.filter(({ text }) => wholeText(text).length >= minChars);
  const { accepted, contradicted } = await judge(long);
  const frequent = mostFrequent(accepted.map(({ language }) => language));
  const baseline = accepted.filter(({ language }) => language === frequent).length / Math.max(1, accepted.length);
  const toRow = (name: string, claims: readonly Claim[]) => [
    name,
    String(claims.length),
    claims.filter(({ isRight }) => isRight).length / Math.max(1, claims.length),
    calibrationError(claims),
  ];
  const rows = [
    toRow('the analysis', toClaims(accepted)),
    ...shortLengths.map((length) => toRow(`first ${length} characters`, toClaims(accepted, length))),
    ['always the most frequent', String(accepted.length), baseline, null],
  ];
  return [
    `Language: ${long.length} tickets of ${minChars} characters or more; ${contradicted} left out, because franc-min and cld3 both contradict their label`,
    '',
    formatTable(['', 'tickets', 'accuracy', 'calibration error'], rows),
  ].join('\n');
}

async function judge(
  tickets: readonly LabelledTicket[],
): Promise<{ accepted: LabelledTicket[]; contradicted: number }> {
  const judges = await openLanguageJudges();
  const accepted = tickets.filter(({ text, language }) => judges.opinions(wholeText(text)).includes(language));
  judges.close();
  return { accepted, contradicted: tickets.length - accepted.length };
}

/** The languages that the analysis finds in tickets, or in the first `length` characters of each. */
function toClaims(tickets: readonly LabelledTicket[], length?: number): Claim[] {
  const nothing = emptyModel();
  return tickets.map(({ text, language }) => {
    const found =
      length === undefined
        ? analyse(text, nothing).language
        : detectLanguage((text.body || text.subject || '').slice(0, length));
    return { confidence: found?.confidence ?? 0, isRight: found?.code === language };
  });
}

function wholeText({ subject, body }: TicketText): string {
  return `${subject}\n${body}`.trim();
}
