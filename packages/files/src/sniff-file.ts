import { fileTypeFromBuffer } from 'file-type';
import { BMP } from 'image-size/types/bmp';
import { GIF } from 'image-size/types/gif';
import { JPG } from 'image-size/types/jpg';
import { PNG } from 'image-size/types/png';
import { WEBP } from 'image-size/types/webp';

/** The properties of a file that follow from its content. */
export interface SniffedFile {
  contentType: string;
  /** The usual ending of files of this type; null if the type is not known. */
  ending: string | null;
  /** In pixels; null if it is no picture, or no valid one. */
  width: number | null;
  height: number | null;
}

/** How many bytes at the start of a file are inspected. It bounds the time that a hostile file takes. */
export const sniffedBytes = 128 * 1024;

const pictures = new Map([
  ['image/bmp', BMP],
  ['image/gif', GIF],
  ['image/jpeg', JPG],
  ['image/png', PNG],
  ['image/webp', WEBP],
]);

/**
 * Detects the type of a file from its content, whatever its name says. A text has the type text/plain, also if it is HTML
 * or a script.
 */
export async function sniffFile(start: Uint8Array, isWhole: boolean): Promise<SniffedFile> {
  const head = start.subarray(0, sniffedBytes);
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found) return { contentType: found.mime, ending: found.ext, ...pictureSize(found.mime, head) };
  const isText = head.length > 0 && isPlainText(head, isWhole && head.length === start.length);
  const contentType = isText ? 'text/plain' : 'application/octet-stream';
  return { contentType, ending: isText ? 'txt' : null, width: null, height: null };
}

function pictureSize(contentType: string, head: Uint8Array): Pick<SniffedFile, 'width' | 'height'> {
  const none = { width: null, height: null };
  try {
    // A copy, because the library reads on in the memory behind bytes that end too early.
    const { width, height } = pictures.get(contentType)?.calculate(new Uint8Array(head)) ?? none;
    return isPixels(width) && isPixels(height) ? { width, height } : none;
  } catch {
    // The file ends too early, or only its beginning looks like a picture.
    return none;
  }
}

function isPixels(value: number | null): value is number {
  return value !== null && Number.isInteger(value) && value > 0 && value < 2 ** 31;
}

/** Whether bytes are UTF-8 without control characters. A start may end in the middle of a character. */
function isPlainText(bytes: Uint8Array, isWhole: boolean): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a text does not contain
    return !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
  } catch {
    return false;
  }
}
