/**
 * Listing resources and reading them: revision 2026-07-28, server/resources.
 */
import * as Resource from "../schema/Resource.ts"
import type { Service } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import * as Ask from "./ask.ts"
import type { Requester } from "./requester.ts"

const kind = { method: "resources/list", entries: "resources", fromWire: Resource.fromWire, key: "uri" }

const templateKind = {
  method: "resources/templates/list",
  entries: "resourceTemplates",
  fromWire: Resource.templateFromWire,
  key: "uriTemplate"
}

/**
 * The part of a connection that is about resources.
 */
export const make = (
  requester: Requester,
  policy: McpPolicy
): Pick<Service, "listResources" | "listResourceTemplates" | "readResource"> => {
  const ask = Ask.make(requester, policy)
  return {
    listResources: (options) => ask.list(kind, "resources", options),
    listResourceTemplates: (options) => ask.list(templateKind, "resources", options),
    readResource: (uri, options) =>
      ask.one({
        // What stands in a URI may be secret.
        title: "resources/read",
        capability: "resources",
        method: "resources/read",
        name: uri,
        members: `"uri":${JSON.stringify(uri)}`,
        attributes: {},
        read: Resource.readResultFromWire
      }, options)
  }
}
