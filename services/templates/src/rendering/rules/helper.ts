/** A helper that templates may use. docs/templates.md is generated from these. */
export interface TemplateHelper {
  name: string;
  /** Its arguments as authors write them, for example `date days`. */
  usage: string;
  /** How many arguments it takes at least, and at most. */
  arity: readonly [number, number];
  /** Whether it returns true or false, and so may also be written as a block. */
  isCondition: boolean;
  /** Describes the helper to authors. */
  meaning: string;
  /** Templates with their results, for authors; tests render them. */
  examples: readonly (readonly [template: string, result: string])[];
  /** The allowed texts of one argument, which must be written in the template. */
  keywords?: { position: number; texts: readonly string[] };
  call(...values: readonly unknown[]): string | boolean;
}
