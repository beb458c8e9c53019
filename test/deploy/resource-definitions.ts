import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The definitions of the resources that the components use, in the Go modules of their projects. */
const modules = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.1',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    files: ['scaledobjects', 'triggerauthentications'].map((kind) => `config/crd/bases/keda.sh_${kind}.yaml`),
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml'],
  },
];

/**
 * The files with the definitions. The modules are downloaded into the module cache of Go if they are not there.
 *
 * Errors: Go is not installed, or a module cannot be downloaded.
 */
export async function resourceDefinitionFiles(): Promise<string[]> {
  const found = await Promise.all(
    modules.map(async ({ module, files }) => {
      // The command runs in a folder without a go.mod.
      const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: tmpdir() });
      const { Dir } = JSON.parse(stdout) as { Dir: string };
      return files.map((file) => join(Dir, file));
    }),
  );
  return found.flat();
}
