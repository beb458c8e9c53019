/** The JSON object of an answer. */
export type Answer = Record<string, unknown>;

/** Makes requests, and prints them and their answers so that a person can follow. */
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

  async request(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const said = Object.entries(headers).map(([name, value]) => `   ${name}: ${value}\n`);
    process.stdout.write(`\n   ${method} ${path}\n${said.join('')}${body ? indented(body) : ''}`);
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = (await response.json()) as Answer;
    process.stdout.write(`   → ${response.status} ${response.statusText}\n${indented(answer)}`);
    return answer;
  }
}

function indented(value: object): string {
  return `${JSON.stringify(value, null, 2).replace(/^/gm, '   ')}\n`;
}
