import { UsageError } from '../cli/command.ts';
import type { ApiClient } from './api-client.ts';
import type { CommandContext } from './command-context.ts';
import type { CsvRow } from './csv-rows.ts';
import { addRow, type CustomerMapping, type MappedCustomer, mapCustomer, planCustomers } from './customer-row.ts';
import { describeWait, renderTable } from './import-count.ts';
import { openFile, runSession, type SessionCount, type SessionOptions } from './import-session.ts';
import { isObject, objectsIn, parseJson } from './json.ts';
import type { RejectFile } from './rejects.ts';
import { InterruptedError } from './row-errors.ts';
import { toRpcProblem } from './rpc-problem.ts';

/** The options of `npm run import:customers`. */
interface CustomerOptions extends SessionOptions {
  /** Columns by field. */
  columns: ReadonlyMap<string, string>;
  isDryRun: boolean;
}

interface CustomerCount extends SessionCount {
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
}

/** A customer with its rows. */
interface PendingCustomer {
  customer: MappedCustomer['customer'];
  rows: CsvRow[];
}

const rowsAtOnce = 500;
const tagsAtOnce = 1000;

/**
 * Imports a CSV file of customers.
 *
 * Shape: the exit code: 0 all rows are imported, 2 some were rejected, 130 interrupted.
 * Errors: UsageError.
 */
export async function importCustomers(options: CustomerOptions, context: CommandContext): Promise<number> {
  const { header, rows, doneFractionAt } = await openFile(options);
  const mapping = planCustomers(header, options.columns);
  if (mapping.unused.length > 0) context.print(`Columns that are not imported: ${mapping.unused.join(', ')}.`);
  if (options.isDryRun) return (await dryRun(rows, mapping, options.limit, context.print)) > 0 ? 2 : 0;

  const startedMs = Date.now();
  const count: CustomerCount = {
    ...{ rows: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 },
    ...{ doneFraction: 0, waiting: { untilMs: 0, reason: '' } },
  };
  return runSession(options, context, {
    header,
    count,
    rejectsName: 'Rejected rows',
    right: 'updateClientSettings',
    async run({ client, rejects, stop }) {
      const needsTags = mapping.fields.some(({ field }) => field === 'tags');
      const tags = needsTags ? await loadTags(client) : new Map<string, number>();
      const parts = { client, rejects, count };
      for await (const batch of toBatches(rows, options.limit)) {
        if (stop.signal.aborted) throw new InterruptedError('interrupted');
        await send(parts, group(parts, mapping, tags, batch));
        count.rows += batch.length;
        const last = batch.at(-1);
        if (last) count.doneFraction = doneFractionAt(last);
      }
    },
    progressLine: () => [...renderProgress(count), ...describeWait(count, Date.now())].join(', '),
    summary: () => (count.rows > 0 ? renderSummary(count, (Date.now() - startedMs) / 1000) : undefined),
  });
}

function renderProgress({ doneFraction, rows, created, updated, unchanged, rejected }: CustomerCount): string[] {
  const customers = `customers: ${created} created, ${updated} updated, ${unchanged} unchanged`;
  return [`${Math.floor(doneFraction * 100)} %`, `${rows} rows`, customers, `${rejected} rows rejected`];
}

/** A customer whose rows are far apart is counted several times. */
function renderSummary({ rows, created, updated, unchanged, rejected }: CustomerCount, seconds: number): string {
  const numbers = { rows, created, updated, unchanged, rejected };
  return renderTable([
    ...Object.entries(numbers).map(([name, value]): [string, string] => [name, String(value)]),
    ['seconds', seconds.toFixed(1)],
  ]);
}

async function* toBatches(rows: AsyncGenerator<CsvRow>, limit: number): AsyncGenerator<CsvRow[]> {
  let batch: CsvRow[] = [];
  for await (const row of rows) {
    if (row.row > limit) break;
    batch.push(row);
    if (batch.length < rowsAtOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

interface SendParts {
  client: ApiClient;
  rejects: RejectFile;
  count: CustomerCount;
}

/** Makes one customer of all rows of a batch with the same id; rows with problems are rejected. */
function group(
  parts: SendParts,
  mapping: CustomerMapping,
  tags: ReadonlyMap<string, number>,
  batch: readonly CsvRow[],
): PendingCustomer[] {
  const pending = new Map<string, PendingCustomer>();
  for (const row of batch) {
    const { customer, tagNames, problems } = mapCustomer(mapping, row.cells);
    const unknown = tagNames.filter((name) => !tags.has(name.toLowerCase()));
    const reasons =
      row.problem === undefined ? [...problems, ...unknown.map((name) => `there is no tag "${name}"`)] : [row.problem];
    if (reasons.length > 0) {
      reject(parts, [row], reasons);
      continue;
    }
    const named = tagNames.flatMap((name) => tags.get(name.toLowerCase()) ?? []);
    if (named.length > 0) customer.tagIds = [...new Set([...((customer.tagIds as number[]) ?? []), ...named])];
    const known = pending.get(customer.id);
    if (known) {
      addRow(known.customer, customer);
      known.rows.push(row);
    } else pending.set(customer.id, { customer, rows: [row] });
  }
  return [...pending.values()];
}

/** Sends customers. Refused customers are rejected, and the others sent again. */
async function send(parts: SendParts, pending: readonly PendingCustomer[]): Promise<void> {
  if (pending.length === 0) return;
  const response = await call(parts.client, 'CustomerService/ImportCustomers', {
    customers: pending.map(({ customer }) => customer),
  });
  if (response.status < 300) {
    const outcome = parseJson(response.text);
    const numbers: Record<string, unknown> = isObject(outcome) ? outcome : {};
    for (const name of ['created', 'updated', 'unchanged'] as const) parts.count[name] += Number(numbers[name] ?? 0);
    return;
  }
  const { message, violations } = toRpcProblem(response);
  if (response.status >= 500) throw new UsageError(`The server failed: ${message}; see its log.`);
  const reasons = new Map<number, string[]>();
  for (const { pointer, detail } of violations) {
    const [, index, rest = ''] = /^#\/customers\/(\d+)(.*)$/.exec(pointer) ?? [];
    if (index !== undefined) reasons.set(Number(index), [...(reasons.get(Number(index)) ?? []), `#${rest}: ${detail}`]);
  }
  if (reasons.size > 0) {
    for (const [index, texts] of reasons) reject(parts, pending[index]?.rows ?? [], texts);
    await send(
      parts,
      pending.filter((_, index) => !reasons.has(index)),
    );
  } else if (pending.length === 1) {
    reject(parts, pending[0]?.rows ?? [], [message]);
  } else {
    // The message does not say which of them is wrong.
    const half = Math.ceil(pending.length / 2);
    await send(parts, pending.slice(0, half));
    await send(parts, pending.slice(half));
  }
}

function reject({ rejects, count }: SendParts, rows: readonly CsvRow[], reasons: readonly string[]): void {
  for (const row of rows) rejects.add(row, reasons);
  count.rejected += rows.length;
}

function call(client: ApiClient, method: string, request: object) {
  const path = `/ticketing.tickets.v1.${method}`;
  return client.send({ method: 'POST', path, body: JSON.stringify(request), wantsBody: true });
}

/** The ids of tags by their full names, and by those names that only one tag has. */
async function loadTags(client: ApiClient): Promise<Map<string, number>> {
  const byName = new Map<string, number[]>();
  const byFullName = new Map<string, number>();
  for (let offset = 0; ; offset += tagsAtOnce) {
    const response = await call(client, 'TagService/ListTags', { limit: tagsAtOnce, offset });
    if (response.status >= 300) throw new UsageError(`The tags cannot be listed: ${toRpcProblem(response).message}.`);
    const tags = objectsIn(parseJson(response.text), 'tags');
    for (const tag of tags) {
      const name = String(tag.name).toLowerCase();
      byName.set(name, [...(byName.get(name) ?? []), Number(tag.id)]);
      byFullName.set(String(tag.fullName).toLowerCase(), Number(tag.id));
    }
    if (tags.length < tagsAtOnce) break;
  }
  const unique = [...byName].flatMap(([name, [id, ...others]]): [string, number][] =>
    id === undefined || others.length > 0 ? [] : [[name, id]],
  );
  return new Map([...unique, ...byFullName]);
}

/** Maps every row without sending anything, and prints the problems, the first customer and a summary. */
async function dryRun(
  rows: AsyncGenerator<CsvRow>,
  mapping: CustomerMapping,
  limit: number,
  print: (text: string) => void,
): Promise<number> {
  const ids = new Set<string>();
  let count = 0;
  let rejected = 0;
  for await (const row of rows) {
    if (row.row > limit) break;
    count += 1;
    const { customer, tagNames, problems } = mapCustomer(mapping, row.cells);
    const reasons = row.problem === undefined ? problems : [row.problem];
    if (reasons.length > 0) {
      rejected += 1;
      if (rejected <= 10) print(`Line ${row.line}, row ${row.row}: ${reasons.join('; ')}`);
      continue;
    }
    if (ids.size === 0) print(`Row ${row.row}:\n${JSON.stringify({ ...customer, tags: tagNames }, undefined, 2)}`);
    ids.add(customer.id);
  }
  if (rejected > 10) print(`... and ${rejected - 10} more rows with problems.`);
  print(`${count} rows, ${ids.size} customers, ${rejected} rows with problems. Nothing was sent.`);
  return rejected;
}
