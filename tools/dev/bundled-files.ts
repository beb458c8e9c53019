import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';

/**
 * Puts the files that a program reads beside its bundle, so that a folder of the build needs no `node_modules`: the
 * contract, and Swagger UI.
 */
export const bundledFiles: Plugin = {
  name: 'bundled-files',
  // exceljs reads workbooks with this, which no service does. It depends on a package that names no licence.
  resolveId: { filter: { id: /^unzipper$/ }, handler: (id) => `\0${id}.js` },
  load: { filter: { id: /^\0unzipper\.js$/ }, handler: () => 'export {};' },
  transform(code) {
    if (!code.includes('import.meta.resolve(')) return null;
    return code.replaceAll(/import\.meta\.resolve\('([^']+\.(?:binpb|css|js))'\)/g, (_, name: string) => {
      const originalFileName = fileURLToPath(import.meta.resolve(name, import.meta.url));
      const source = readFileSync(originalFileName);
      const file = this.emitFile({ type: 'asset', fileName: basename(name), originalFileName, source });
      return `import.meta.ROLLUP_FILE_URL_${file}`;
    });
  },
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const missing = chunk.imports.find((id) => !(id in bundle) && !isBuiltin(id));
      if (missing !== undefined) throw new Error(`${chunk.fileName} imports ${missing}, which is not in the bundle.`);
    }
  },
};
