/** The JSON object in the body of a response. */
export type ResponseBody = Record<string, unknown>;

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

  async request(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<ResponseBody> {
    const headerLines = Object.entries(headers).map(([name, value]) => `   ${name}: ${value}\n`);
    process.stdout.write(`\n   ${method} ${path}\n${headerLines.join('')}${body ? indented(body) : ''}`);
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const responseBody = (await response.json()) as ResponseBody;
    process.stdout.write(`   → ${response.status} ${response.statusText}\n${indented(responseBody)}`);
    return responseBody;
  }
}

function indented(value: object): string {
  return `${JSON.stringify(value, null, 2).replace(/^/gm, '   ')}\n`;
}
