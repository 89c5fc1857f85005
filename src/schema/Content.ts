/**
 * Content blocks: revision 2026-07-28, server/tools, "Tool Result".
 *
 * Read by hand, since it is done for every call; base64 is decoded when somebody reads the bytes, and once.
 *
 * @since 0.1.0
 */
import { base64 } from "./base64.ts"
import { isString, optional, optionalMeta, optionalNumber, optionalString } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"
import { contentsFromWire, type ResourceContents } from "./Resource.ts"

interface Annotated {
  /**
   * Audience, priority and modification time, as the server wrote them.
   */
  readonly annotations?: JsonObject | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface TextContent extends Annotated {
  readonly type: "text"
  readonly text: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ImageContent extends Annotated {
  readonly type: "image"
  readonly mimeType: string
  /**
   * The decoded bytes.
   */
  readonly data: Uint8Array
}

/**
 * @category models
 * @since 0.1.0
 */
export interface AudioContent extends Annotated {
  readonly type: "audio"
  readonly mimeType: string
  /**
   * The decoded bytes.
   */
  readonly data: Uint8Array
}

/**
 * A resource that stands in the result itself, as text or as bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface EmbeddedResource extends Annotated {
  readonly type: "resource"
  readonly resource: ResourceContents
}

/**
 * A resource that can be read from the server by its `uri`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceLink extends Annotated {
  readonly type: "resource_link"
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly size?: number | undefined
}

/**
 * A block of a type that no revision we speak defines, or of one that it does define with something missing.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownContent {
  readonly type: "unknown"
  readonly wireType: string | undefined
  readonly raw: unknown
}

/**
 * @category models
 * @since 0.1.0
 */
export type Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink | UnknownContent

const annotated = (block: JsonObject): Annotated => ({
  ...optional("annotations", block["annotations"], isJsonObject),
  ...optionalMeta(block)
})

const binary = <Type extends "image" | "audio">(
  type: Type,
  block: JsonObject
): (Annotated & { readonly type: Type; readonly mimeType: string; readonly data: Uint8Array }) | undefined => {
  const { mimeType } = block
  const decode = base64(block["data"])
  if (!isString(mimeType) || decode === undefined) return undefined
  return {
    type,
    mimeType,
    get data() {
      return decode()
    },
    ...annotated(block)
  }
}

const embedded = (block: JsonObject): EmbeddedResource | undefined => {
  const resource = contentsFromWire(block["resource"])
  return resource === undefined ? undefined : { type: "resource", resource, ...annotated(block) }
}

const link = (block: JsonObject): ResourceLink | undefined => {
  const { name, uri } = block
  return isString(uri) && isString(name)
    ? {
      type: "resource_link",
      uri,
      name,
      ...optionalString("title", block),
      ...optionalString("description", block),
      ...optionalString("mimeType", block),
      ...optionalNumber("size", block),
      ...annotated(block)
    }
    : undefined
}

const known = (block: JsonObject): Content | undefined => {
  switch (block["type"]) {
    case "text": {
      const text = block["text"]
      return isString(text) ? { type: "text", text, ...annotated(block) } : undefined
    }
    case "image":
      return binary("image", block)
    case "audio":
      return binary("audio", block)
    case "resource":
      return embedded(block)
    case "resource_link":
      return link(block)
    default:
      return undefined
  }
}

/**
 * Reads one content block. Never fails: a block that cannot be read is `unknown` and keeps everything.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromWire = (block: unknown): Content => {
  const raw = isJsonObject(block) ? block : undefined
  const type = raw?.["type"]
  return (raw === undefined ? undefined : known(raw)) ??
    { type: "unknown", wireType: isString(type) ? type : undefined, raw: block }
}
