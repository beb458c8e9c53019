import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const engineFile = 'libembedded_mongodb_native.so';
const newestVersion = 'GLIBC_2.38';
/** The oldest symbol version of glibc for each architecture. Every glibc still exports it. */
const baseVersions = new Map([
  ['x64', 'GLIBC_2.2.5'],
  ['arm64', 'GLIBC_2.17'],
]);
const c23Prefix = '__isoc23_';

// Names and sizes as in elf.h, for 64-bit little-endian files.
const [SHT_DYNSYM, SHT_GNU_VERNEED, SHT_GNU_VERSYM] = [11, 0x6ffffffe, 0x6fffffff];
const [SECTION_HEADER_BYTES, SYMBOL_BYTES] = [64, 24];
const VER_FLG_WEAK = 2;

/**
 * Copies the addon and the engine library in the same folder, and patches the copies so that glibc 2.36 and 2.37 can
 * load them.
 *
 * Shape: the path of the copied addon in `targetDir`. The folder is created completely or not at all, even if several
 * processes do so at once; an existing one is used as it is. The published binaries were linked on glibc 2.38 and
 * therefore require `__isoc23_strtol`, similar functions and a newer `fmod`. The functions of the same name that every
 * glibc has are equivalent.
 */
export function patchForOlderGlibc(addonPath: string, targetDir: string, arch: string = process.arch): string {
  const patchedAddon = join(targetDir, basename(addonPath));
  if (existsSync(patchedAddon)) return patchedAddon;
  mkdirSync(dirname(targetDir), { recursive: true, mode: 0o700 });
  const scratchDir = mkdtempSync(`${targetDir}.`);
  try {
    for (const name of [basename(addonPath), engineFile]) {
      copyFileSync(join(dirname(addonPath), name), join(scratchDir, name));
      patchFile(join(scratchDir, name), baseVersions.get(arch) ?? '');
    }
    renameSync(scratchDir, targetDir);
  } catch (error) {
    rmSync(scratchDir, { recursive: true, force: true });
    if (!existsSync(patchedAddon)) throw error; // otherwise another process has created it
  }
  return patchedAddon;
}

function patchFile(path: string, baseVersion: string): void {
  const file = openSync(path, 'r+');
  try {
    const { symbols, names, versions, requirements } = readSections(file);
    const replacements = weakenRequirements(requirements.bytes, names.bytes, baseVersion);
    for (let index = 0; index < symbols.bytes.length / SYMBOL_BYTES; index += 1) {
      const replacement = replacements.get(versions.bytes.readUInt16LE(index * 2));
      if (replacement === undefined) continue;
      versions.bytes.writeUInt16LE(replacement, index * 2);
      // A name may start inside another name of the string table: `strtol` is the end of `__isoc23_strtol`.
      const nameAt = symbols.bytes.readUInt32LE(index * SYMBOL_BYTES);
      const isC23 = textAt(names.bytes, nameAt).startsWith(c23Prefix);
      symbols.bytes.writeUInt32LE(nameAt + (isC23 ? c23Prefix.length : 0), index * SYMBOL_BYTES);
    }
    for (const { bytes, offset } of [symbols, versions, requirements]) writeSync(file, bytes, 0, bytes.length, offset);
    fsyncSync(file); // a rename may reach the disk before the data does, and an existing copy is not checked again
  } finally {
    closeSync(file);
  }
}

/** Marks the newest version that each library requires as weak. Returns which version index replaces which. */
function weakenRequirements(requirements: Buffer, names: Buffer, baseVersion: string): Map<number, number> {
  const replacements = new Map<number, number>();
  for (let library = 0, step = -1; step !== 0; library += step) {
    const indexes = new Map<string, number>();
    let entry = library + requirements.readUInt32LE(library + 8);
    for (let left = requirements.readUInt16LE(library + 2); left > 0; left -= 1) {
      const version = textAt(names, requirements.readUInt32LE(entry + 8));
      indexes.set(version, requirements.readUInt16LE(entry + 6));
      if (version === newestVersion) requirements.writeUInt16LE(VER_FLG_WEAK, entry + 4);
      entry += requirements.readUInt32LE(entry + 12);
    }
    const [newest, base] = [indexes.get(newestVersion), indexes.get(baseVersion)];
    if (newest !== undefined) {
      if (base === undefined) throw new Error(`The engine's binaries name no version ${baseVersion}.`);
      replacements.set(newest, base);
    }
    step = requirements.readUInt32LE(library + 12);
  }
  return replacements;
}

function readSections(file: number) {
  const read = (offset: number, length: number) => {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, offset);
    return { bytes, offset };
  };
  const elfHeader = read(0, 64).bytes;
  const headers = read(Number(elfHeader.readBigUInt64LE(40)), elfHeader.readUInt16LE(60) * SECTION_HEADER_BYTES).bytes;
  const section = (header: number) =>
    read(Number(headers.readBigUInt64LE(header + 24)), Number(headers.readBigUInt64LE(header + 32)));
  const findHeader = (type: number) => {
    for (let header = 0; header < headers.length; header += SECTION_HEADER_BYTES) {
      if (headers.readUInt32LE(header + 4) === type) return header;
    }
    throw new Error(`The engine's binaries have no section of type ${type}.`);
  };
  const symbolHeader = findHeader(SHT_DYNSYM);
  return {
    symbols: section(symbolHeader),
    names: section(headers.readUInt32LE(symbolHeader + 40) * SECTION_HEADER_BYTES),
    versions: section(findHeader(SHT_GNU_VERSYM)),
    requirements: section(findHeader(SHT_GNU_VERNEED)),
  };
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start, bytes.indexOf(0, start));
}
