/**
 * `MockServer`: an MCP server as a layer, for tests of applications.
 *
 * @since 0.1.0
 */
export * as MockServer from "./testing/MockServer.ts"
