import type { TicketText } from '../../services/intents/src/learning/ticket-text.ts';
import { UsageError } from '../cli/command.ts';
import { openCsv } from '../import/csv-rows.ts';

/** A ticket as people have labelled it. */
export interface LabelledTicket {
  text: TicketText;
  language: string;
  topic: string;
  tags: readonly string[];
}

/** A CSV file of labelled tickets. */
export interface LabelledFile {
  file: string;
  delimiter: string;
  topicColumn: string;
}

/**
 * Reads labelled tickets.
 *
 * Errors: UsageError, if a column is missing or a row is broken.
 */
export async function readLabelledTickets({ file, delimiter, topicColumn }: LabelledFile): Promise<LabelledTicket[]> {
  const { header, rows } = await openCsv(file, delimiter);
  const findColumn = (name: string) => {
    const column = header.indexOf(name);
    if (column === -1) throw new UsageError(`The file has no column "${name}".`);
    return column;
  };
  const [subject, body, language, topic] = ['subject', 'body', 'language', topicColumn].map(findColumn);
  const tags = [...header.keys()].filter((column) => /^tag_\d+$/.test(header[column] ?? ''));
  const tickets: LabelledTicket[] = [];
  for await (const { cells, line, problem } of rows) {
    if (problem !== undefined) throw new UsageError(`Line ${line}: ${problem}.`);
    const cell = (column: number | undefined) => cells[column ?? -1] ?? '';
    tickets.push({
      text: { subject: cell(subject), body: cell(body) },
      language: cell(language),
      topic: cell(topic),
      tags: [...new Set(tags.map(cell).filter((tag) => tag !== ''))],
    });
  }
  return tickets;
}
