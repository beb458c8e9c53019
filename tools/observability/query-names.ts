/** Words of PromQL that are no metrics. */
const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/**
 * The names of the metrics that a query in PromQL reads. Functions, labels and durations are left out.
 *
 * Shape: each name once, in the order of the query.
 */
export function metricNamesIn(query: string): string[] {
  const text = query
    .replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replace(/\boffset\s+\w+/g, ' ');
  const words = text.matchAll(/(?<![\w.:])([A-Za-z_:][\w:]*)\s*(\()?/g);
  const names = [...words].flatMap(([, name = '', call]) => (call || keywords.has(name) ? [] : [name]));
  return [...new Set(names)];
}

/** The name of the metric that a series belongs to: a histogram has several series. */
export function metricOfSeries(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '');
}
