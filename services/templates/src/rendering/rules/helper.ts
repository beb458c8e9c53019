/** A helper that templates may use. docs/templates.md is generated from these. */
export interface TemplateHelper {
  name: string;
  /** Its arguments as authors write them, for example `date days`. */
  usage: string;
  /** How many arguments it takes at least, and at most. */
  arity: readonly [number, number];
  /** Whether it returns true or false, and so may also be written as a block. */
  isCondition: boolean;
  /** What it does, for authors. */
  meaning: string;
  /** Templates with what they become, for authors; tests render them. */
  examples: readonly (readonly [template: string, result: string])[];
  /** The texts that one of its arguments may be, which must be written in the template. */
  keywords?: { position: number; texts: readonly string[] };
  call(...values: readonly unknown[]): string | boolean;
}
