/**
 * This client, with loopback allowed.
 */
import * as Effect from "effect/Effect"
import { EgressGuard, McpPolicy } from "../../../src/index.ts"
import { NodeMcp } from "../../../src/node.ts"
import { type Open, resultValue, toolsValue } from "./client.ts"
import { openScoped } from "./effects.ts"

export const open: Open = ({ budget, deadline, url }) => {
  const policy = deadline === undefined
    ? McpPolicy.make({})
    : McpPolicy.make({ requestTimeout: deadline, operationTimeout: deadline })
  const connect = NodeMcp.connectHttp({
    url,
    policy,
    guard: EgressGuard.allowLoopback,
    ...(budget === undefined ? {} : { budget: { limit: budget } })
  })
  return openScoped(connect, (connection) => ({
    list: Effect.map(connection.listTools(), toolsValue),
    call: Effect.map(connection.callTool("t"), resultValue)
  }))
}
