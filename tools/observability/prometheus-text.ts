/** The type of a metric, as Prometheus names it. */
type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

/** One value of a metric. */
export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** The metrics that a process exposes, including metrics without a value, and the values. */
export interface Exposition {
  metrics: readonly { name: string; type: MetricType; help: string }[];
  samples: readonly Sample[];
}

const types: readonly MetricType[] = ['counter', 'gauge', 'histogram', 'summary'];

/** Reads the text format of Prometheus. Errors: an Error with a line that is none of it. */
export function readExposition(text: string): Exposition {
  const helps = new Map<string, string>();
  const metrics: Exposition['metrics'][number][] = [];
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line);
    if (comment) {
      const [, kind, name = '', rest = ''] = comment;
      const type = types.find((one) => one === rest);
      if (kind === 'HELP') helps.set(name, rest);
      else if (type) metrics.push({ name, type, help: helps.get(name) ?? '' });
      continue;
    }
    if (!line.startsWith('#')) samples.push(readSample(line));
  }
  return { metrics, samples };
}

function readSample(line: string): Sample {
  const match = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(line);
  const value = Number(match?.[3]?.replace(/^([+-]?)Inf$/, '$1Infinity'));
  if (!match || (Number.isNaN(value) && match[3] !== 'NaN' && match[3] !== 'Nan')) {
    throw new Error(`This is no metric: ${line.slice(0, 200)}`);
  }
  return { name: match[1] ?? '', labels: readLabels(match[2] ?? ''), value };
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  const unescaped = (value: string) => value.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, unescaped(value)]));
}
