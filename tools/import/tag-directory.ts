import type { ApiClient } from './api-client.ts';
import type { ApiAnswer } from './http-transport.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from './json.ts';
import { reasonsOf } from './problem.ts';
import { RejectedError, StopError } from './stop-error.ts';

const pageSize = 1000;

/**
 * Knows the id of every tag by its full name, and creates what is missing at the top level.
 *
 * Names are compared without case and surrounding space. Each is created once, however many rows ask for it at a time.
 */
export class TagDirectory {
  readonly #client: ApiClient;
  readonly #type: string;
  readonly #ids = new Map<string, Promise<number>>();
  #created = 0;

  constructor(client: ApiClient, type: string) {
    this.#client = client;
    this.#type = type;
  }

  get created(): number {
    return this.#created;
  }

  /** Reads all tags of the system, page by page. */
  async load(): Promise<void> {
    for (let offset = 0; ; offset += pageSize) {
      const answer = await this.#list(`limit=${pageSize}&offset=${offset}`);
      for (const { key, id } of answer.tags) this.#ids.set(key, Promise.resolve(id));
      if (answer.tags.length === 0 || offset + pageSize >= answer.total) return;
    }
  }

  /** Errors: RejectedError when the server does not take the name, for every row that has it. */
  idOf(name: string): Promise<number> {
    const key = keyOf(name);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const creation = this.#create(name.trim(), key);
    this.#ids.set(key, creation);
    return creation;
  }

  async #create(name: string, key: string): Promise<number> {
    const body = JSON.stringify({ name, type: this.#type });
    const answer = await this.#client.send({ method: 'POST', path: '/tag', body, wantsBody: true });
    if (answer.status === 409) return this.#lookUp(name, key, answer);
    if (answer.status >= 300) throw rejection(name, answer);
    const created = parseJson(answer.text);
    if (!isObject(created) || typeof created.id !== 'number') throw new StopError('POST /tag answers without an id.');
    this.#created += 1;
    return created.id;
  }

  async #lookUp(name: string, key: string, conflict: ApiAnswer): Promise<number> {
    const { tags } = await this.#list(`q=${encodeURIComponent(name)}&limit=${pageSize}&offset=0`);
    const found = tags.find((tag) => tag.key === key);
    if (found === undefined) throw rejection(name, conflict);
    return found.id;
  }

  async #list(query: string): Promise<{ tags: { key: string; id: number }[]; total: number }> {
    const answer = await this.#client.send({
      method: 'GET',
      path: `/tag?includeDisabled=true&${query}`,
      wantsBody: true,
    });
    if (answer.status >= 300) throw new StopError(`GET /tag is refused: ${reasonsOf(answer).join('; ')}`);
    const page = parseJson(answer.text);
    const total = isObject(page) && typeof page.total === 'number' ? page.total : 0;
    return { tags: objectsIn(page, 'tags').flatMap(readTag), total };
  }
}

function readTag(tag: JsonObject): { key: string; id: number }[] {
  const name = tag.fullName ?? tag.name;
  return typeof name === 'string' && typeof tag.id === 'number' ? [{ key: keyOf(name), id: tag.id }] : [];
}

function keyOf(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

function rejection(name: string, answer: ApiAnswer): RejectedError {
  return new RejectedError([`tag "${name.slice(0, 80)}": ${reasonsOf(answer).join(', ')}`]);
}
