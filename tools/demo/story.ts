import { setTimeout } from 'node:timers/promises';

/** The JSON object in the body of a response. */
export type ResponseBody = Record<string, unknown>;

interface StoryRequest {
  method: string;
  path: string;
  body: object | undefined;
  headers: Record<string, string>;
}

interface StoryResponse {
  status: number;
  statusText: string;
  body: ResponseBody;
}

/** Sends requests, and prints each with its response for a person to read. */
export class Story {
  readonly #url: string;
  readonly #token: string;
  #chapters = 0;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  chapter(title: string): void {
    this.#chapters += 1;
    process.stdout.write(`\n${this.#chapters}. ${title}\n`);
  }

  /** Prints a text that is no request. */
  print(text: string): void {
    process.stdout.write(`\n${text.replaceAll('\r', '').replace(/^/gm, '   ')}\n`);
  }

  /** Sends a request, and prints it with its response. */
  async request(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<ResponseBody> {
    return this.#print({ method, path, body, headers }, await this.#send({ method, path, body, headers }));
  }

  /**
   * Repeats a request until it succeeds, and prints it once. Things that it refers to may become known a moment later,
   * because services keep copies of settings. Errors: none has succeeded within 15 seconds.
   */
  async requestWhenKnown(method: string, path: string, body: object): Promise<ResponseBody> {
    const request = { method, path, body, headers: {} };
    const response = await eventually(async () => {
      const attempt = await this.#send(request);
      return attempt.status < 300 ? attempt : undefined;
    });
    return this.#print(request, response);
  }

  async #send({ method, path, body, headers }: StoryRequest): Promise<StoryResponse> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const { status, statusText } = response;
    return { status, statusText, body: (await response.json()) as ResponseBody };
  }

  #print({ method, path, body, headers }: StoryRequest, response: StoryResponse): ResponseBody {
    const headerLines = Object.entries(headers).map(([name, value]) => `   ${name}: ${value}\n`);
    process.stdout.write(`\n   ${method} ${path}\n${headerLines.join('')}${body ? indented(body) : ''}`);
    process.stdout.write(`   → ${response.status} ${response.statusText}\n${indented(response.body)}`);
    return response.body;
  }
}

/** Repeats an action until it finds something. Errors: it has found nothing within 15 seconds. */
export async function eventually<Result>(
  find: () => Result | undefined | Promise<Result | undefined>,
): Promise<Result> {
  const until = Date.now() + 15_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error('It did not happen within 15 seconds.');
    await setTimeout(100);
  }
}

function indented(value: object): string {
  return `${JSON.stringify(value, null, 2).replace(/^/gm, '   ')}\n`;
}
