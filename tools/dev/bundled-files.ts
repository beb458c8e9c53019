import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/** An import of this is resolved to a module with the folder in which a bundle has the files of Swagger UI. */
const swaggerUiFolder = 'swagger-ui-folder';
/** exceljs reads workbooks with this, which no service does. It depends on a package that names no licence. */
const workbookReader = 'unzipper';

/** The modules that are made here, by the names by which others import them. */
const ownModules: Record<string, string> = {
  [swaggerUiFolder]: `export const folder = import.meta.dirname + '/swagger-ui';`,
  [workbookReader]: 'export {};',
};

/**
 * Puts the files that a program reads beside its bundle, so that a folder of the build needs no `node_modules`: the
 * contract, and the pages of Swagger UI.
 */
export const bundledFiles: Plugin = {
  name: 'bundled-files',
  // The filters spare a call for each of the other modules.
  resolveId: { filter: { id: /^(swagger-ui-folder|unzipper)$/ }, handler: (id) => `\0${id}.js` },
  load: {
    filter: { id: /^\0(swagger-ui-folder|unzipper)\.js$/ },
    handler: (id) => ownModules[id.slice(1, -'.js'.length)] ?? null,
  },
  transform(code, id) {
    if (code.includes("import.meta.resolve('@ticketing/contracts/contract.binpb')")) {
      const source = readFileSync(new URL(import.meta.resolve('@ticketing/contracts/contract.binpb')));
      const file = this.emitFile({ type: 'asset', fileName: 'contract.binpb', source });
      return code.replace(
        "import.meta.resolve('@ticketing/contracts/contract.binpb')",
        `import.meta.ROLLUP_FILE_URL_${file}`,
      );
    }
    // CommonJS modules have no import.meta, and their `__dirname` would be a folder of `node_modules`.
    const [library] = /^.*\/@fastify\/swagger-ui(?=\/)/.exec(id) ?? [];
    if (library === undefined || !code.includes('__dirname')) return null;
    const folder = join(library, 'static');
    for (const name of readdirSync(folder).filter((one) => !one.endsWith('.map'))) {
      this.emitFile({ type: 'asset', fileName: `swagger-ui/${name}`, source: readFileSync(join(folder, name)) });
    }
    const changed = code
      .replace("path.join(__dirname, '..', 'static')", `require('${swaggerUiFolder}').folder`)
      .replace("path.join(__dirname, './static/logo.svg')", `require('${swaggerUiFolder}').folder + '/logo.svg'`);
    if (changed.includes('__dirname')) throw new Error(`${id} finds its files in a way that the build does not know.`);
    return changed;
  },
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const missing = chunk.imports.find((id) => !(id in bundle) && !isBuiltin(id));
      if (missing !== undefined) throw new Error(`${chunk.fileName} imports ${missing}, which is not in the bundle.`);
    }
  },
};
