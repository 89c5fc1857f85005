/**
 * `NodeMcp`: everything wired for Node.
 *
 * @since 0.1.0
 */
export * as NodeMcp from "./services/NodeMcp.ts"
