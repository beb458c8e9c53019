import { UsageError } from '../cli/command.ts';
import type { ApiClient } from './api-client.ts';
import type { ApiResponse } from './http-transport.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from './json.ts';
import { listReasons } from './problem.ts';
import { RejectedError } from './row-errors.ts';

const pageSize = 1000;

/**
 * Finds the ids of tags by their full names, and creates missing tags at the top level.
 *
 * Names are compared without case and surrounding spaces. Each tag is created once, however many rows need it at a time.
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
      const response = await this.#list(`limit=${pageSize}&offset=${offset}`);
      for (const { key, id } of response.tags) this.#ids.set(key, Promise.resolve(id));
      if (response.tags.length === 0 || offset + pageSize >= response.total) return;
    }
  }

  /** Returns the id of a tag, which is created if it is missing. Errors: RejectedError if the server refuses the name. */
  toId(name: string): Promise<number> {
    const key = toKey(name);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const creation = this.#create(name.trim(), key);
    this.#ids.set(key, creation);
    return creation;
  }

  async #create(name: string, key: string): Promise<number> {
    const body = JSON.stringify({ name, type: this.#type });
    const response = await this.#client.send({ method: 'POST', path: '/tag', body, wantsBody: true });
    if (response.status === 409) return this.#lookUp(name, key, response);
    if (response.status >= 300) throw rejection(name, response);
    const created = parseJson(response.text);
    if (!isObject(created) || typeof created.id !== 'number')
      throw new UsageError('The response of POST /tag has no id.');
    this.#created += 1;
    return created.id;
  }

  async #lookUp(name: string, key: string, conflict: ApiResponse): Promise<number> {
    const { tags } = await this.#list(`q=${encodeURIComponent(name)}&limit=${pageSize}&offset=0`);
    const found = tags.find((tag) => tag.key === key);
    if (found === undefined) throw rejection(name, conflict);
    return found.id;
  }

  async #list(query: string): Promise<{ tags: { key: string; id: number }[]; total: number }> {
    const response = await this.#client.send({
      method: 'GET',
      path: `/tag?includeDisabled=true&${query}`,
      wantsBody: true,
    });
    if (response.status >= 300) throw new UsageError(`GET /tag was refused: ${listReasons(response).join('; ')}`);
    const page = parseJson(response.text);
    const total = isObject(page) && typeof page.total === 'number' ? page.total : 0;
    return { tags: objectsIn(page, 'tags').flatMap(readTag), total };
  }
}

function readTag(tag: JsonObject): { key: string; id: number }[] {
  const name = tag.fullName ?? tag.name;
  return typeof name === 'string' && typeof tag.id === 'number' ? [{ key: toKey(name), id: tag.id }] : [];
}

function toKey(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

function rejection(name: string, response: ApiResponse): RejectedError {
  return new RejectedError([`tag "${name.slice(0, 80)}": ${listReasons(response).join(', ')}`]);
}
