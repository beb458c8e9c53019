import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** The configuration that only this service has. */
export interface TemplatesConfig {
  /** How long a template may be checked or rendered, in ms. */
  renderTimeoutMs: number;
}

/** Reads the configuration that only this service has. Source: docs/services/templates.md, Configuration. */
export function readTemplatesConfig(from: ConfigReader): TemplatesConfig {
  return { renderTimeoutMs: from.integer('RENDER_TIMEOUT_MS', { default: 500, min: 100, max: 10_000 }) };
}
