/** The error for an environment that does not fit a service. Its message lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Which texts a variable may hold, and how a problem describes them: "must be …". */
export interface TextRule {
  pattern?: RegExp;
  accepts?: (text: string) => boolean;
  meaning?: string;
}

/** The service whose variables are read, and the names of all services: a variable of any other service is a mistake. */
export interface ConfigScope {
  service: string;
  services: readonly string[];
}

/**
 * Reads the variables `TICKETING_<SERVICE>_<NAME>` of one service; `read` declares each with its type, default and bounds.
 *
 * Errors: a ConfigError with every missing, malformed and unknown variable at once.
 */
export function readConfig<Config>(
  environment: Environment,
  scope: ConfigScope,
  read: (from: ConfigReader) => Config,
): Config {
  const reader = new ConfigReader(environment, scope);
  const config = read(reader);
  const problems = [...reader.problems, ...reader.undeclared()];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Reads single variables and collects the problems that it finds. `readConfig` makes it. */
export class ConfigReader {
  readonly problems: string[] = [];
  readonly #environment: Environment;
  readonly #prefix: string;
  readonly #known: readonly string[];
  readonly #declared = new Set<string>();

  constructor(environment: Environment, { service, services }: ConfigScope) {
    this.#environment = environment;
    this.#prefix = `TICKETING_${service.toUpperCase()}_`;
    // `TICKETING_TEST_…` are variables of the tests.
    this.#known = [...services, 'test'].map((name) => name.toUpperCase());
  }

  /** Reads a text; required if there is no default. */
  text(name: string, options: TextRule & { default?: string } = {}): string {
    const value = this.optionalText(name, options) ?? options.default;
    if (value === undefined) this.#add(name, 'is required');
    return value ?? '';
  }

  /** Reads a text that may be missing. */
  optionalText(name: string, { pattern, accepts, meaning }: TextRule = {}): string | undefined {
    this.#declared.add(this.#prefix + name);
    const value = this.#environment[this.#prefix + name]?.trim();
    if (value === undefined || value === '') return undefined;
    if (pattern?.test(value) === false || accepts?.(value) === false) {
      this.#add(name, `must be ${meaning ?? `like ${pattern?.source}`}`);
    }
    return value;
  }

  /**
   * Reads a text that may be missing, of a variable without the prefix of the system: one of a standard that other
   * programs follow too.
   */
  standardText(name: string, { pattern, accepts, meaning }: TextRule = {}): string | undefined {
    const value = this.#environment[name]?.trim();
    if (value === undefined || value === '') return undefined;
    if (pattern?.test(value) === false || accepts?.(value) === false) {
      this.refuse(`${name} must be ${meaning ?? `like ${pattern?.source}`}`);
    }
    return value;
  }

  /** Reads a whole number within bounds. */
  integer(name: string, options: { default: number; min: number; max: number }): number {
    const text = this.optionalText(name);
    if (text === undefined) return options.default;
    const value = Number(text);
    if (!/^-?\d{1,15}$/.test(text) || value < options.min || value > options.max) {
      this.#add(name, `must be a whole number from ${options.min} to ${options.max}`);
      return options.default;
    }
    return value;
  }

  /** Reads a TCP port; 0 means any free port. */
  port(name: string, fallback: number): number {
    return this.integer(name, { default: fallback, min: 0, max: 65_535 });
  }

  /** true or false. */
  flag(name: string, fallback: boolean): boolean {
    return this.choice(name, ['true', 'false'], fallback ? 'true' : 'false') === 'true';
  }

  /** Reads one of a list of words. */
  choice<Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const text = this.optionalText(name);
    const word = text === undefined ? fallback : words.find((candidate) => candidate === text);
    if (word === undefined) this.#add(name, `must be one of: ${words.join(', ')}`);
    return word ?? fallback;
  }

  /** Reads some of a list of words, separated by commas; all of them by default. */
  choices<Word extends string>(name: string, words: readonly Word[]): readonly Word[] {
    const text = this.optionalText(name);
    if (text === undefined) return words;
    const chosen = text.split(',').map((part) => part.trim());
    const unknown = chosen.filter((part) => !words.some((word) => word === part));
    if (unknown.length > 0) this.#add(name, `may hold ${words.join(', ')}, not ${unknown.join(', ')}`);
    return words.filter((word) => chosen.includes(word));
  }

  /** Reads an absolute URL with one of the given protocols. */
  url(name: string, protocols: readonly string[], fallback?: string): string {
    const text = this.text(name, fallback === undefined ? {} : { default: fallback });
    if (text !== '' && !protocols.includes(URL.canParse(text) ? new URL(text).protocol : '')) {
      this.#add(name, `must be a URL that starts with ${protocols.join(' or ')}`);
    }
    return text;
  }

  /** Adds a problem that concerns several variables, for example two that exclude each other. */
  refuse(problem: string): void {
    this.problems.push(problem);
  }

  /**
   * Returns the problems with variables of this service that were not read, and with variables that belong to no
   * service.
   */
  undeclared(): string[] {
    return Object.keys(this.#environment)
      .filter((name) => name.startsWith('TICKETING_') && !this.#declared.has(name))
      .filter((name) => name.startsWith(this.#prefix) || !this.#known.includes(name.split('_')[1] ?? ''))
      .map((name) => `${name} is not a variable of this system`);
  }

  #add(name: string, problem: string): void {
    this.problems.push(`${this.#prefix}${name} ${problem}`);
  }
}
