import { dirname, join } from 'node:path';
import { type ServiceEntry, services, variableName } from '@ticketing/system/services.ts';
import { type Plugin, rolldown } from 'rolldown';
import { billOfMaterials } from './bill-of-materials.ts';
import { bundledFiles } from './bundled-files.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * Escapes all characters beyond ASCII in bundles, because a single one makes Node keep the whole file in memory with
 * two bytes per character.
 */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      if (/String\.raw`[^`]*[^\0-\x7f]/.test(chunk.code))
        throw new Error('A String.raw template holds a character beyond ASCII, which cannot be escaped there.');
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

/**
 * Makes a separate program of each module that is named as `new URL('./x.worker.ts', import.meta.url)`, because a worker
 * of a sandbox is a process (docs/decisions/0023), and a thread starts with a file too.
 */
const workerPrograms: Plugin = {
  name: 'worker-programs',
  transform(code, importer) {
    if (!code.includes(".worker.ts', import.meta.url)")) return null;
    return code.replace(/new URL\('(\.[^']*\.worker\.ts)', import\.meta\.url\)/g, (_, path: string) => {
      const id = this.emitFile({ type: 'chunk', id: join(dirname(importer), path) });
      return `new URL(import.meta.ROLLUP_FILE_URL_${id})`;
    });
  },
};

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The name of the module from which the program `health.mjs` of a service is made. */
const healthModule = 'health-program';

/** Makes the program that asks a process of the service whether it is ready, without loading the service. */
function healthProgram({ name, ports }: ServiceEntry): Plugin {
  const probe = join(root, 'packages', 'service-kit', 'src', 'observability', 'probe-health.ts');
  const call = `probeHealth('${variableName(name, '')}', ${ports.http + 2000}, process.env)`;
  return {
    name: healthModule,
    resolveId: { filter: { id: /^health-program$/ }, handler: () => `\0${healthModule}.js` },
    load: {
      filter: { id: /^\0health-program\.js$/ },
      handler: () => `import { probeHealth } from '${probe}';\nprocess.exitCode = (await ${call}) ? 0 : 1;`,
    },
  };
}

/** Bundles the program of a service into a folder, where `build` describes what it contains. */
async function bundleService(entry: ServiceEntry, folder: string): Promise<void> {
  const sources = join(root, 'services', entry.name, 'src');
  const bundle = await rolldown({
    input: { main: join(sources, 'main.ts'), health: healthModule },
    platform: 'node',
    plugins: [workerPrograms, bundledFiles, healthProgram(entry), billOfMaterials(entry.name), asciiOnly],
    logLevel: 'warn',
  });
  // Node treats .mjs as a module whatever package.json is nearest.
  const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
  await bundle.write({ dir: join(folder, entry.name), format: 'esm', comments: false, ...names });
  await bundle.close();
}

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('Name the folder of the bundles.');
const exit = () => process.exit(1);
process.once('disconnect', exit);
await Promise.all(services.map((entry) => bundleService(entry, folder)));
process.off('disconnect', exit);
