import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';

const root = join(import.meta.dirname, '..', '..');

/** How images are built. */
export interface ImageOptions {
  /** The program of the container engine: podman or docker. */
  engine: string;
  /** The text before the name of the service, for example `registry.example/ticketing/`. */
  prefix: string;
  tag: string;
  /** The services whose images are built. */
  names: readonly string[];
}

/** The image of a service. */
export function toImageName({ prefix, tag }: Pick<ImageOptions, 'prefix' | 'tag'>, service: string): string {
  return `${prefix}${service}:${tag}`;
}

/** Finds an engine that works on this machine; undefined if there is none. */
export function findEngine(): string | undefined {
  return ['podman', 'docker'].find((one) => spawnSync(one, ['info'], { stdio: 'ignore' }).status === 0);
}

/**
 * Builds the images of services, one after the other: the first one makes the layers that all share. Returns their
 * names.
 *
 * Errors: an image that the engine cannot build; its standard error is that of this process.
 */
export function buildImages(options: ImageOptions): string[] {
  const { engine, names } = options;
  const revision = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || 'unknown';
  return names.map((service) => {
    const image = toImageName(options, service);
    // The format of OCI has no health checks.
    const format = engine === 'podman' ? ['--format', 'docker'] : [];
    const args = { SERVICE: service, REVISION: revision };
    const buildArgs = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
    const command = ['build', ...format, '-f', 'deploy/images/Dockerfile', ...buildArgs, '-t', image, '.'];
    const { status } = spawnSync(engine, command, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`${engine} could not build ${image}.`);
    return image;
  });
}

/** Pushes images to the registry that their names say. Errors: an image that the engine cannot push. */
export function pushImages(engine: string, images: readonly string[]): void {
  for (const image of images) {
    const { status } = spawnSync(engine, ['push', image], { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`${engine} could not push ${image}.`);
  }
}

/** The names of all services. */
export const imageServices: readonly string[] = services.map(({ name }) => name);
