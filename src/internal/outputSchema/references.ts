/**
 * What a `$ref` leads to: JSON Schema 2020-12, core, sections 8 and 9. Nothing is fetched: a reference leads to a place in
 * its own schema, or nowhere.
 */
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../../schema/Json.ts"
import { inner } from "../schemaKeywords.ts"

/**
 * A schema with a URI of its own, and what can be named in it.
 */
export interface Resource {
  readonly uri: string
  readonly root: JsonObject
  readonly anchors: Map<string, JsonObject>
  /**
   * Names whose meaning the outermost resource decides on the way to them. The root has none.
   */
  readonly dynamicAnchors: Map<string, JsonObject>
}

/**
 * The resources on the way to a schema, innermost first.
 */
export interface Scope {
  readonly resource: Resource
  readonly outer: Scope | undefined
}

/**
 * Whatever can be referred to in one schema.
 */
export interface References {
  readonly scope: Scope
  /**
   * The scope within a schema that is entered from another scope.
   */
  readonly enter: (schema: JsonObject, from: Scope) => Scope
  /**
   * What a reference of a schema leads to; `undefined` where that is nothing.
   */
  readonly resolve: (reference: string, from: Resource) => unknown
  /**
   * As `resolve`, for a `$dynamicRef` or `$recursiveRef`.
   */
  readonly resolveDynamic: (reference: string, scope: Scope) => unknown
}

/**
 * Larger schemas than anybody writes: subschemas, and what stands in them.
 */
const maxSchemas = 2 ** 14
const maxMembers = 2 ** 16
const maxResources = 2 ** 10
const maxReference = 2048

/**
 * Of a schema that has none: relative references can be resolved against it, and it is nobody's.
 */
const ownUri = "mcp://schema/"

/**
 * The one name that `$recursiveAnchor` gives (2019-09). No `$dynamicAnchor` can be called so.
 */
const recursive = "#"

/**
 * What a draft says of references that another does not.
 */
export interface Dialect {
  readonly id: "$id" | "id"
  /**
   * Whether nothing beside a `$ref` counts.
   */
  readonly refStandsAlone: boolean
}

const idOf = (schema: JsonObject, dialect: Dialect): string | undefined => {
  const id = schema[dialect.id]
  const counts = !(dialect.refStandsAlone && typeof schema["$ref"] === "string")
  return counts && typeof id === "string" && id !== "" && id.length <= maxReference ? id : undefined
}

const resource = (uri: string, root: JsonObject): Resource => ({
  uri,
  root,
  anchors: new Map(),
  dynamicAnchors: new Map()
})

/**
 * Keeps the names of a schema. Up to draft-07, a name was an id that is a mere fragment.
 */
const name = (schema: JsonObject, id: string | undefined, { anchors, dynamicAnchors, root }: Resource): void => {
  const { $anchor, $dynamicAnchor } = schema
  if (typeof $anchor === "string") anchors.set($anchor, schema)
  if (id?.startsWith("#") === true) anchors.set(id.slice(1), schema)
  if (typeof $dynamicAnchor === "string") {
    anchors.set($dynamicAnchor, schema)
    dynamicAnchors.set($dynamicAnchor, schema)
  }
  if (schema === root && schema["$recursiveAnchor"] === true) dynamicAnchors.set(recursive, schema)
}

const decode = (fragment: string): string | undefined => {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

/**
 * RFC 6901.
 */
const atPointer = (root: unknown, pointer: string): unknown =>
  pointer.split("/").slice(1).reduce((at: unknown, segment) => {
    const key = segment.replaceAll("~1", "/").replaceAll("~0", "~")
    return typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined
  }, root)

/**
 * Looks through a schema for what can be referred to. One visit a subschema, without recursion: a schema may be as deep
 * as it likes. The failure says what the schema has.
 */
export const make = (schema: JsonObject, dialect: Dialect): Result.Result<References, string> => {
  const byUri = new Map<string, Resource>()
  const resourceOf = new Map<object, Resource>()
  const schemas: Array<object> = [schema]
  const around: Array<Resource> = [resource(ownUri, schema)]
  let visited = 0
  let members = 0
  while (schemas.length > 0) {
    if (++visited > maxSchemas) return Result.fail(`has more than ${maxSchemas} schemas in it`)
    const next = schemas.pop()!
    members += Object.keys(next).length
    if (members > maxMembers) return Result.fail(`has more than ${maxMembers} keywords in it`)
    let own = around.pop()!
    const visit = (value: object): void => {
      schemas.push(value)
      around.push(own)
    }
    if (!isJsonObject(next)) {
      for (const element of next as ReadonlyArray<unknown>) {
        if (typeof element === "object" && element !== null) visit(element)
      }
      continue
    }
    const id = idOf(next, dialect)
    const uri = id === undefined || id.startsWith("#") ? null : URL.parse(id, own.uri)
    if (uri !== null) {
      uri.hash = ""
      own = resource(uri.href, next)
    }
    if (own.root === next && !byUri.has(own.uri)) byUri.set(own.uri, own)
    if (byUri.size > maxResources) {
      return Result.fail(`has more than ${maxResources} schemas of a URI of their own in it`)
    }
    resourceOf.set(next, own)
    name(next, id, own)
    inner(next, visit)
  }
  const root = resourceOf.get(schema)!

  const resolve: References["resolve"] = (reference, from) => {
    if (reference.length > maxReference) return undefined
    const url = reference.startsWith("#") ? undefined : URL.parse(reference, from.uri)
    if (url === null) return undefined
    const fragment = decode(url === undefined ? reference.slice(1) : url.hash.slice(1))
    if (url !== undefined) url.hash = ""
    const target = url === undefined ? from : byUri.get(url.href)
    if (target === undefined || fragment === undefined) return undefined
    if (fragment === "") return target.root
    return fragment.startsWith("/") ? atPointer(target.root, fragment) : target.anchors.get(fragment)
  }

  return Result.succeed({
    scope: { resource: root, outer: undefined },
    enter: (entered, from) => {
      const own = resourceOf.get(entered) ?? from.resource
      return own === from.resource ? from : { resource: own, outer: from }
    },
    resolve,
    resolveDynamic: (reference, scope) => {
      const target = resolve(reference, scope.resource)
      const own = isJsonObject(target) ? resourceOf.get(target) : undefined
      const anchor = reference === "#" ? recursive : reference.slice(reference.indexOf("#") + 1)
      if (own?.dynamicAnchors.get(anchor) !== target) return target
      let outermost = target
      for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
        outermost = at.resource.dynamicAnchors.get(anchor) ?? outermost
      }
      return outermost
    }
  })
}
