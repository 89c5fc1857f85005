/**
 * A certificate for 127.0.0.1, signed by itself, and its key.
 */
import { readFileSync } from "node:fs"

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8")

export const certificate = { cert: fixture("tls-cert.pem"), key: fixture("tls-key.pem") }
