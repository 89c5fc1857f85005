/**
 * Content blocks: revision 2026-07-28, server/tools, "Tool Result".
 *
 * Read by hand, since it is done for every call; base64 is decoded when somebody reads the bytes, and once.
 *
 * @since 0.1.0
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "./Json.ts"

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
  readonly resource: {
    readonly uri: string
    readonly mimeType?: string | undefined
    readonly text?: string | undefined
    /**
     * The decoded bytes.
     */
    readonly blob?: Uint8Array | undefined
    readonly meta?: JsonObject | undefined
  }
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

const string = (value: unknown): value is string => typeof value === "string"

const annotated = (block: JsonObject): Annotated => {
  const annotations = block["annotations"]
  const meta = block["_meta"]
  return {
    ...(isJsonObject(annotations) ? { annotations } : {}),
    ...(isJsonObject(meta) ? { meta } : {})
  }
}

const optional = <Key extends string, Value>(
  key: Key,
  value: unknown,
  is: (value: unknown) => value is Value
): { readonly [K in Key]?: Value } => (is(value) ? { [key]: value } : {}) as { readonly [K in Key]?: Value }

/**
 * The decoder of a base64 text (standard alphabet, padded or not, line breaks allowed), or `undefined` where it is not
 * one. A look at the characters costs far less than decoding, which is left until somebody asks, and done once.
 */
const base64 = (text: unknown): (() => Uint8Array) | undefined => {
  if (!string(text)) return undefined
  const unfolded = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, "") : text
  const digits = unfolded.length - (unfolded.endsWith("==") ? 2 : unfolded.endsWith("=") ? 1 : 0)
  const padded = unfolded.padEnd(Math.ceil(digits / 4) * 4, "=")
  if (digits % 4 === 1 || padded.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(unfolded.slice(0, digits))) return undefined
  let decoded: Uint8Array | undefined
  return () => decoded ??= Result.getOrElse(Base64.decode(padded), () => new Uint8Array(0))
}

const binary = <Type extends "image" | "audio">(
  type: Type,
  block: JsonObject
): (Annotated & { readonly type: Type; readonly mimeType: string; readonly data: Uint8Array }) | undefined => {
  const { mimeType } = block
  const decode = base64(block["data"])
  if (!string(mimeType) || decode === undefined) return undefined
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
  const resource = block["resource"]
  if (!isJsonObject(resource) || !string(resource["uri"])) return undefined
  const { _meta, mimeType, text, uri } = resource
  const base = { uri, ...optional("mimeType", mimeType, string), ...optional("meta", _meta, isJsonObject) }
  if (string(text)) return { type: "resource", resource: { ...base, text }, ...annotated(block) }
  const decode = base64(resource["blob"])
  if (decode === undefined) return undefined
  return {
    type: "resource",
    resource: {
      ...base,
      get blob() {
        return decode()
      }
    },
    ...annotated(block)
  }
}

const link = (block: JsonObject): ResourceLink | undefined => {
  const { description, mimeType, name, size, title, uri } = block
  return string(uri) && string(name)
    ? {
      type: "resource_link",
      uri,
      name,
      ...optional("title", title, string),
      ...optional("description", description, string),
      ...optional("mimeType", mimeType, string),
      ...optional("size", size, (value): value is number => typeof value === "number"),
      ...annotated(block)
    }
    : undefined
}

const known = (block: JsonObject): Content | undefined => {
  switch (block["type"]) {
    case "text": {
      const text = block["text"]
      return string(text) ? { type: "text", text, ...annotated(block) } : undefined
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
    { type: "unknown", wireType: string(type) ? type : undefined, raw: block }
}
