import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanMarkdown } from '@ticketing/html/clean-markdown.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import { UsageError } from '../cli/command.ts';
import type { ApiClient } from '../import/api-client.ts';
import type { ApiResponse } from '../import/http-transport.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '../import/json.ts';

/** The fields of a source. Without `text`, an existing source keeps its text. */
export interface SourceFields {
  source: string;
  name: string;
  title: string;
  text: string | undefined;
  parent: number | null;
}

/** The effect of a write on a source. */
export type Outcome = 'created' | 'updated' | 'unchanged' | 'refused';

/** The result of a write: the id of the source, or the response with which it was refused. */
export interface Written {
  outcome: Outcome;
  id?: number;
  response?: ApiResponse;
}

const maxNameLength = 320;
const waitMs = 250;
const maxWaits = 120;

/** Writes sources, which are identified by `source`: an existing one is changed if it differs. */
export class SourceWriter {
  readonly #client: Pick<ApiClient, 'send'>;

  constructor(client: Pick<ApiClient, 'send'>) {
    this.#client = client;
  }

  /** Creates or changes a source. `type` is that of a new one. Errors: UsageError. */
  async write(given: SourceFields, type: string): Promise<Written> {
    const fields = { ...given, name: cutChars(given.name, maxNameLength) };
    const known = (await this.#find(fields.source, 'active')) ?? (await this.#find(fields.source, 'archived'));
    if (!known) return this.#create(fields, type);
    if (isSame(known, fields)) return { outcome: 'unchanged', id: Number(known.id) };
    return this.#change(known, fields);
  }

  async #find(source: string, status: string): Promise<JsonObject | undefined> {
    const query = new URLSearchParams({ source, status });
    const response = await this.#client.send({ method: 'GET', path: `/knowledgeSource?${query}`, wantsBody: true });
    if (response.status !== 200) throw new UsageError(`The sources cannot be read: ${response.status}.`);
    const found = objectsIn(parseJson(response.text), 'knowledgeSources');
    // The first that was created, if there are several.
    return found.sort((left, right) => Number(left.id) - Number(right.id))[0];
  }

  async #create({ text = '', ...fields }: SourceFields, type: string): Promise<Written> {
    const body = JSON.stringify({ ...fields, text, type });
    // The key is the same for every attempt in every run: a request of a killed run may still be in flight.
    const key = createHash('sha256').update(body).digest('hex');
    for (let [deletions, waits] = [0, 0]; ; ) {
      const headers = { 'idempotency-key': deletions === 0 ? key : `${key}-${deletions}` };
      const request = { method: 'POST', path: '/knowledgeSource', body, headers, wantsBody: true, mayBeMissing: true };
      const response = await this.#client.send(request);
      const parsed = parseJson(response.text);
      // The source was created before, and then deleted.
      if (response.status === 404) deletions += 1;
      // Another run has sent the same request at the same time.
      else if (isObject(parsed) && parsed.code === 'idempotency_key_running' && waits++ < maxWaits) await sleep(waitMs);
      else if (response.status >= 300) return { outcome: 'refused', response };
      else return { outcome: 'created', id: idIn(parsed) };
    }
  }

  async #change(known: JsonObject, fields: SourceFields): Promise<Written> {
    const { name, title, text, parent } = fields;
    const body = JSON.stringify({ name, title, parent, ...(text === undefined ? {} : { text }) });
    const path = `/knowledgeSource/${known.id}`;
    const response = await this.#client.send({ method: 'PATCH', path, body, wantsBody: true, mayBeMissing: true });
    if (response.status >= 300) return { outcome: 'refused', response };
    const parsed = parseJson(response.text);
    const after = isObject(parsed) && isObject(parsed.knowledgeSource) ? parsed.knowledgeSource : {};
    // Only the system can compare a text that the token may not read.
    const outcome = isBlocked(known) && after.modifiedAt === known.modifiedAt ? 'unchanged' : 'updated';
    return { outcome, id: Number(known.id) };
  }
}

function isSame(known: JsonObject, { name, title, text, parent }: SourceFields): boolean {
  const isTextSame = text === undefined || (!isBlocked(known) && known.text === cleanMarkdown(text));
  return known.name === name.trim() && known.title === title.trim() && known.parent === parent && isTextSame;
}

function isBlocked({ access }: JsonObject): boolean {
  return isObject(access) && access.blocked === true;
}

function idIn(body: unknown): number {
  if (isObject(body) && typeof body.id === 'number') return body.id;
  throw new UsageError('The server responds with a source that this command does not understand.');
}
