/**
 * An MCP client for Effect applications: typed errors, an egress guard, a byte budget, and every loop bounded.
 *
 * @since 0.1.0
 */
export * as McpError from "./errors/McpError.ts"
export * as Capabilities from "./schema/Capabilities.ts"
export * as Completion from "./schema/Completion.ts"
export * as Content from "./schema/Content.ts"
export * as Elicitation from "./schema/Elicitation.ts"
export * as JsonText from "./schema/Json.ts"
export * as Notification from "./schema/Notification.ts"
export * as Prompt from "./schema/Prompt.ts"
export * as ProtocolVersion from "./schema/ProtocolVersion.ts"
export * as Resource from "./schema/Resource.ts"
export * as Root from "./schema/Root.ts"
export * as Sampling from "./schema/Sampling.ts"
export * as Tool from "./schema/Tool.ts"
export * as ByteBudget from "./services/ByteBudget.ts"
export * as ClientFeatures from "./services/ClientFeatures.ts"
export * as Credentials from "./services/Credentials.ts"
export * as EgressGuard from "./services/EgressGuard.ts"
export * as HttpExchange from "./services/HttpExchange.ts"
export * as McpCache from "./services/McpCache.ts"
export * as McpConnection from "./services/McpConnection.ts"
export * as McpPolicy from "./services/McpPolicy.ts"
export * as StreamableHttp from "./services/StreamableHttp.ts"
export * as Transport from "./services/Transport.ts"
