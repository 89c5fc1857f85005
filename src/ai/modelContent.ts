/**
 * The result of a tool as a model can read it: texts, and pictures of the kinds that providers take.
 *
 * A picture that a provider refuses, or an empty text, would have it refuse the request and every later one that has the
 * result in its history. So a server's word for what a picture is counts for nothing, and its bytes decide.
 */
import { printable } from "../errors/Printable.ts"
import type { Content } from "../schema/Content.ts"
import { stringify } from "../schema/Json.ts"
import type { CallResult } from "../schema/Tool.ts"

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp"

export interface ModelText {
  readonly type: "text"
  readonly text: string
}

export interface ModelImage {
  readonly type: "image"
  readonly mediaType: ImageType
  readonly data: Uint8Array
}

export type ModelContent = ModelText | ModelImage

/**
 * 5 MiB of base64, which is where Anthropic's limit lies.
 */
const maxImageBytes = 3_932_160

/**
 * Past twenty pictures in a request, providers take smaller ones only.
 */
const maxImages = 20

/**
 * Of a block that nobody knows how to read.
 */
const maxUnknownLength = 8192

const signatures: ReadonlyArray<readonly [type: ImageType, isStart: (start: string) => boolean]> = [
  ["image/png", (start) => start.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (start) => start.startsWith("\xff\xd8\xff")],
  ["image/gif", (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a")],
  ["image/webp", (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8)]
]

const imageType = (data: Uint8Array): ImageType | undefined => {
  const start = String.fromCharCode(...data.subarray(0, 12))
  return signatures.find(([, isStart]) => isStart(start))?.[0]
}

const textOf = (text: string): ModelText => ({ type: "text", text: text.toWellFormed() })

const omitted = (what: string, mimeType: string | undefined, data: Uint8Array | undefined): ModelText =>
  textOf(
    `[${what}${mimeType === undefined ? "" : `, ${printable(mimeType, 100)}`}, ${data?.length ?? 0} bytes: not shown]`
  )

const bytes = (what: string, mimeType: string | undefined, data: Uint8Array | undefined): ModelContent => {
  const mediaType = data === undefined || data.length > maxImageBytes ? undefined : imageType(data)
  return mediaType === undefined ? omitted(what, mimeType, data) : { type: "image", mediaType, data: data! }
}

const unknown = (raw: unknown): string => {
  const json = stringify(raw) ?? ""
  return json.length > maxUnknownLength ? `${json.slice(0, maxUnknownLength)}…` : json
}

const read = (block: Content): ModelContent => {
  switch (block.type) {
    case "text":
      return textOf(block.text)
    case "image":
      return bytes("image", block.mimeType, block.data)
    case "audio":
      return omitted("audio", block.mimeType, block.data)
    case "resource": {
      const { blob, mimeType, text, uri } = block.resource
      return text === undefined ? bytes(`resource ${uri}`, mimeType, blob) : textOf(`[resource ${uri}]\n${text}`)
    }
    case "resource_link": {
      const { description, name, title, uri } = block
      return textOf(`[resource link ${uri}] ${title ?? name}${description === undefined ? "" : `: ${description}`}`)
    }
    case "unknown":
      return textOf(`[content of an unknown type] ${unknown(block.raw)}`)
  }
}

/**
 * Never empty, and no text in it is: a result without anything to read says so, or is the JSON of its
 * `structuredContent`. Pictures are PNG, JPEG, GIF or WebP by their bytes, up to 3.75 MiB each and twenty in all; what
 * is no such picture, and all else that is not text, is described in text.
 */
export const modelContent = ({ content, structuredContent }: CallResult): ReadonlyArray<ModelContent> => {
  let images = 0
  const parts = content.map(read).map((part) =>
    part.type === "image" && ++images > maxImages ? omitted("image", part.mediaType, part.data) : part
  ).filter((part) => part.type === "image" || part.text.trim() !== "")
  if (parts.length > 0) return parts
  return [textOf(structuredContent === undefined ? "(no content)" : stringify(structuredContent) ?? "(no content)")]
}

/**
 * As `modelContent`, for where only text can be: pictures are described as well.
 */
export const modelTexts = (result: CallResult): ReadonlyArray<ModelText> =>
  modelContent(result).map((part) => part.type === "image" ? omitted("image", part.mediaType, part.data) : part)
